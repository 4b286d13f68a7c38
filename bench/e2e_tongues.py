"""120 questions in ten languages and 20 conversations of three turns on six servers: Naru and the engine alone.

    .venv/bin/python bench/e2e_tongues.py --model qwen2.5-coder-0.5b --ways naru,off,engine --part dev [--only farm]
    .venv/bin/python bench/e2e_tongues.py --set second --part held --ways naru,engine [--talks]
    .venv/bin/python bench/e2e_tongues.py --table

Each server's questions are asked with that server's tools alone, or with all of them (`--together`). A right answer
holds all its facts and no text of a call, from a run that called tools (for a pair, twice); for talk no tool may run;
what is not there must be said without any value that no result holds. The law is asserted over every run: each call
that ran was written by the model in that round. Answers go to `output/e2e_tongues.jsonl`; a stopped run goes on where
it was.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import openai
from bench.question_runs import looks_like_call, started_engine
from bench.tongues.law import Kept, breaches
from bench.tongues.questions import Question, Talk

from naru.agent.closeness import Closeness
from naru.agent.events import RunFinished
from naru.agent.hooks import Hooks
from naru.agent.loop import run
from naru.agent.recall import Recall
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.messages import ChatRequest, Message
from naru.models.known.families import profile_for
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from naru.stores.kept.vectors import VectorShelf
from naru.tools.combined import CombinedToolset
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext
from naru.weighing import Weighing

OUTPUT = Path("output/e2e_tongues.jsonl")
WAYS = ("naru", "off", "engine")
"""Naru with and without the help for small models; an ordinary `openai` loop."""
ROUNDS = 5
CHANGING = (
    "cancel_booking",
    "cancel_membership",
    "sell_animal",
    "change_tariff",
    "remove_exhibit",
    "reject_applicant",
    "cancel_visit",
    "cancel_concert",
    "redirect_parcel",
    "create_reservation",
    "place_hold",
    "renew",
    "refill",
    "subscribe",
    "acknowledgeAlarm",
    "open_ticket",
    "assign",
    "close_ticket",
    "close_dome",
    "place_order",
    "reserveGlider",
    "stop_job",
    "block_pass",
    "report_damage",
    "book_tasting",
    "postponeHearing",
    "scrub_launch",
    "place_bid",
    "withdraw_lot",
    "move_hive",
    "book_lesson",
    "cancel_exam",
    "refund_ticket",
    "reserve_seat",
    "queue_song",
    "join_course",
    "postpone_delivery",
    "charge_damage",
    "reportResult",
    "leave_team",
    "deliver_home",
    "discard",
    "extendStay",
    "clearPitch",
    "change_food",
    "hand_over",
    "extend_rental",
    "drop_repair",
    "let_out",
    "revoke_permit",
)
_NEGATIVE = re.compile(
    r"\bnot?\b|n't|cannot|unable|unknown|none|nobody|없|않|아닙|못|\bno\b|ningún|nicht|kein|unbekannt|pas\b|aucun|inconnu"
    r"|ない|ません|不存在|没有|未|无|找不到|não|nenhum|нет|не\b|non\b|nessun|missing|invalid|没",
    re.IGNORECASE,
)


@dataclass
class Said:
    """An answer with how it came about."""

    text: str
    ran: tuple[str, ...] = ()
    rounds: int = 0
    tokens: int = 0
    breaches: int = 0


@dataclass
class Row:
    """A line of the file."""

    model: str
    way: str
    part: str
    server: str
    kind: str
    language: str
    question: str
    right: bool
    answer: str
    ran: list[str]
    rounds: int
    tokens: int
    seconds: float
    breaches: int
    unasked_changes: int


WEIGHING = Weighing()


class Naru:
    """Naru's own loop."""

    def __init__(self, backend: OpenAIBackend, toolset: CombinedToolset, model: str, closeness: Closeness) -> None:
        self._backend, self._toolset, self._model, self._closeness = backend, toolset, model, closeness
        self._recall = Recall()

    async def ask(self, turns: list[Message]) -> Said:
        kept = Kept()
        of = self._closeness
        hooks = Hooks(rank=of.rank, near=of.near, journal=kept, recall=self._recall, weigh=WEIGHING.weigh)
        end = None
        async with aclosing(
            run(self._backend, self._toolset, ChatRequest(self._model, tuple(turns)), hooks=hooks)
        ) as events:
            async for event in events:
                end = event if isinstance(event, RunFinished) else end
        assert end is not None
        tokens = end.usage.prompt_tokens + end.usage.completion_tokens
        return Said(end.answer, end.calls, end.rounds, tokens, len(breaches(kept.run)))


class Engine:
    """The engine alone, with the loop that the openai package's guide shows."""

    def __init__(self, endpoint: tuple[str, str], toolset: CombinedToolset, model: str) -> None:
        self._client = openai.AsyncOpenAI(base_url=endpoint[0], api_key=endpoint[1], timeout=300)
        self._toolset, self._model = toolset, model

    async def ask(self, turns: list[Message]) -> Said:
        offered = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.input_schema},
            }
            for one in await self._toolset.tools()
        ]
        messages: list = [{"role": turn.role, "content": turn.text} for turn in turns]
        ran: list[str] = []
        tokens = 0
        number = 0
        while number < ROUNDS:
            number += 1
            reply = await self._client.chat.completions.create(
                model=self._model, messages=messages, tools=offered, temperature=0, max_tokens=400
            )
            tokens += reply.usage.total_tokens if reply.usage else 0
            message = reply.choices[0].message
            if not message.tool_calls:
                break
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls:
                ran.append(call.function.name)
                result = await self._toolset.call(
                    call.function.name, json.loads(call.function.arguments), CallContext()
                )
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        return Said(message.content or "", tuple(ran), number, tokens)


def holds(said: str, facts: tuple[str, ...]) -> bool:
    plain = said.casefold()
    return all(any(one.strip().casefold() in plain for one in fact.split("|")) for fact in facts)


def is_right(asked: Question, said: Said) -> bool:
    if not said.text.strip() or looks_like_call(said.text) or said.text.startswith("failed:"):
        return False
    if asked.kind == "0":
        return not said.ran
    if asked.kind == "missing":
        invented = set(re.findall(r"\d+", said.text)) - set(re.findall(r"\d+", asked.text))
        return not invented and _NEGATIVE.search(said.text) is not None
    called = {name.rsplit("__", 1)[-1] for name in said.ran}
    if not called or (asked.kind == "write" and not called.issuperset(asked.calls)):
        return False
    if asked.kind == "pair" and len(said.ran) < len(asked.calls):
        return False
    return holds(said.text, asked.facts)


def changes(said: Said, kind: str) -> int:
    return 0 if kind == "write" else sum(name.endswith(CHANGING) for name in said.ran)


class Book:
    """The file of answers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> list[Row]:
        if not self._path.exists():
            return []
        latest = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            row = Row(**json.loads(line))
            latest[row.model, row.way, row.server, row.question] = row
        return list(latest.values())

    def add(self, row: Row) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")


async def tools_of(server: str) -> Sequence[Callable]:
    """Return a server's functions, of this package's or, where it has none of that name, of those of `bench/unseen`."""
    own = f"bench.tongues.servers.{server}"
    if importlib.util.find_spec(own):
        return importlib.import_module(own).TOOLS
    module = importlib.import_module(f"bench.unseen.servers.{server}")
    return [getattr(module, tool.name) for tool in await module.mcp.list_tools()]


async def say(who, turns: list[Message]) -> Said:
    try:
        async with asyncio.timeout(240):
            return await who.ask(turns)
    except Exception as error:  # A way that breaks has given a wrong answer.
        return Said(f"failed: {type(error).__name__}: {error}")


async def ask_question(who, one: Question, model: str, way: str) -> Row:
    started = time.monotonic()
    said = await say(who, [Message("user", one.text)])
    right = is_right(one, said) and not changes(said, one.kind)
    return Row(
        model, way, one.part, one.server, one.kind, one.language, one.text, right, said.text[:600], list(said.ran),
        said.rounds, said.tokens, round(time.monotonic() - started, 1), said.breaches, changes(said, one.kind),
    )  # fmt: skip


async def ask_talk(who, talk: Talk, model: str, way: str) -> Row:
    started = time.monotonic()
    turns: list[Message] = []
    right, every = 0, []
    total = Said("")
    for text, fact in talk.turns:
        turns.append(Message("user", text))
        said = await say(who, turns)
        turns.append(Message("assistant", said.text))
        fine = not said.ran if fact == "(none)" else holds(said.text, (fact,))
        right += fine
        every.append(f"{'+' if fine else '-'} {said.text[:160]} [{','.join(said.ran)}]")
        total = replace(
            total, ran=total.ran + said.ran, rounds=total.rounds + said.rounds, tokens=total.tokens + said.tokens,
            breaches=total.breaches + said.breaches,
        )  # fmt: skip
    name = " / ".join(text for text, _ in talk.turns)
    return Row(
        model, way, talk.part, talk.server, "talk", talk.language, name, right == len(talk.turns), " | ".join(every),
        list(total.ran), total.rounds, total.tokens, round(time.monotonic() - started, 1), total.breaches,
        changes(total, "talk"),
    )  # fmt: skip


def table(rows: list[Row], part: str) -> str:
    lines = []
    for model in dict.fromkeys(row.model for row in rows):
        mine = [row for row in rows if row.model == model and part in ("", row.part)]
        ways = [way for way in WAYS if any(row.way == way for row in mine)]
        groups = {
            "en, ko": lambda row: row.language in ("en", "ko") and row.kind not in ("0", "talk"),
            "eight others": lambda row: row.language not in ("en", "ko") and row.kind not in ("0", "talk"),
            "small talk": lambda row: row.kind == "0",
            "conversations": lambda row: row.kind == "talk",
        }
        for field in ("kind", "language"):
            for value in dict.fromkeys(getattr(row, field) for row in mine):
                groups[f"{field} {value}"] = lambda row, field=field, value=value: getattr(row, field) == value
        lines += [f"\n{model}", f"{'':18}" + "".join(f"{way:>12}" for way in ways)]
        for name, belongs in groups.items():
            cells = [[row for row in mine if row.way == way and belongs(row)] for way in ways]
            told = [f"{sum(row.right for row in cell)}/{len(cell)}" if cell else "-" for cell in cells]
            lines.append(f"{name:18}" + "".join(f"{one:>12}" for one in told))
        for name in ("tokens", "seconds", "rounds"):
            cells = [[getattr(row, name) for row in mine if row.way == way and row.kind != "talk"] for way in ways]
            means = [f"{sum(cell) / len(cell):.1f}" if cell else "-" for cell in cells]
            lines.append(f"{name + ' each':18}" + "".join(f"{one:>12}" for one in means))
        for name in ("breaches", "unasked_changes"):
            told = [str(sum(getattr(row, name) for row in mine if row.way == way)) for way in ways]
            lines.append(f"{name:18}" + "".join(f"{one:>12}" for one in told))
    return "\n".join(lines)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument(
        "--set",
        choices=("questions", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
        default="questions",
        help="a module of bench/tongues",
    )
    parser.add_argument("--ways", default="naru")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--only", default="", help="only this server, kind, language or text")
    parser.add_argument("--every", type=int, default=1, help="every n-th question only")
    parser.add_argument("--talks", action="store_true", help="the conversations")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3000)
    parser.add_argument("--engine", type=Path, help="a file with base_url and api_key of an engine that runs")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    book = Book(options.output)
    if options.table:
        print(table(book.rows(), options.part if options.part != "all" else ""))
        return
    part = "" if options.part == "all" else options.part
    chosen = importlib.import_module(f"bench.tongues.{options.set}")
    asked: list[Question | Talk] = list(chosen.talks(part) if options.talks else chosen.questions(part))
    asked = [one for one in asked if not options.only or any(options.only in str(v) for v in vars(one).values())]
    asked = asked[:: options.every]
    ends_at = time.monotonic() + options.seconds
    async with AsyncExitStack() as stack:
        if options.engine:
            known = json.loads(options.engine.read_text(encoding="utf-8"))
            endpoint = (known["base_url"], known["api_key"])
        else:
            engine = await stack.enter_async_context(started_engine(options.model, options.threads))
            endpoint = (engine.base_url, engine.api_key)
        toolsets = {name: FunctionToolset(await tools_of(name)) for name in chosen.ROWS}
        encoder = SentenceEncoder()
        closeness = Closeness(encoder.embed, VectorShelf(options.output.parent / "vectors.db"))
        for way in options.ways.split(","):
            profile = replace(profile_for(options.model), small=way == "naru")
            backend = OpenAIBackend(Endpoint(*endpoint), profile, model=options.model)
            stack.push_async_callback(backend.close)
            done = {(row.server, row.question) for row in book.rows() if (row.model, row.way) == (options.model, way)}
            for one in asked:
                name = " / ".join(text for text, _ in one.turns) if isinstance(one, Talk) else one.text
                if time.monotonic() > ends_at or ((one.server, name) in done and not options.again):
                    continue
                toolset = CombinedToolset(toolsets if options.together else {one.server: toolsets[one.server]})
                who = (
                    Engine(endpoint, toolset, options.model)
                    if way == "engine"
                    else Naru(backend, toolset, options.model, closeness)
                )
                asking = ask_talk(who, one, options.model, way) if isinstance(one, Talk) else None
                row = await (asking or ask_question(who, one, options.model, way))
                book.add(row)
                mark = "+" if row.right else "-"
                flat = " ".join(row.answer.split())[:230]
                print(
                    f"{mark} {way} [{row.kind} {row.language}] {name[:90]} | {','.join(row.ran)} | {flat}", flush=True
                )
    print(table(book.rows(), part))


if __name__ == "__main__":
    asyncio.run(main())
