"""Ask questions in several ways and keep what came: an ordinary openai loop, pydantic-ai, Naru's strategies.

Shared by `e2e_tools.py` and `e2e_unseen.py`. Every answer is a line of a JSONL file, so that a stopped run goes on
where it was; `table` prints the file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shelve
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import openai
from bench.tongues.law import Kept, breaches

from naru.agent.events import RunFinished
from naru.agent.loop import run
from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.messages import ChatEvent, ChatRequest, Message
from naru.models.known.families import profile_for
from naru.models.known.profile import Profile, Strategy
from naru.models.local.engine import EngineOptions, LocalEngine
from naru.models.local.weights import locate_model
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from naru.records import ServerRecord
from naru.tools.toolset import CallContext, Toolset

WAYS = ("engine", "pydantic-ai", "naru", "native", "prompted", "guided")
"""`naru` is its own choice of strategy; the three after it are forced, without the help for small models."""
REMEMBERED = Path("output/answers-of-models")
ROUNDS = 5
QUESTION_SECONDS = 240
PEER = Path("~/.cache/naru/bench-agents").expanduser()
PEER_PACKAGES = ("pydantic-ai-slim[mcp,openai]==2.68.0",)


@dataclass(frozen=True)
class Asked:
    """One question as it is asked and judged."""

    server: str
    kind: str
    language: str
    text: str
    part: str = ""
    facts: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One answer with how it came about."""

    text: str
    ran: tuple[str, ...] = ()
    rounds: int = 0


@dataclass(frozen=True)
class Row:
    """A line of the file."""

    model: str
    way: str
    together: bool
    server: str
    part: str
    kind: str
    language: str
    question: str
    right: bool
    answer: str
    ran: tuple[str, ...]
    rounds: int
    seconds: float
    quiet: bool


@asynccontextmanager
async def started_engine(model: str, threads: int) -> AsyncIterator[LocalEngine]:
    options = EngineOptions(threads=threads, parallel=1, context_tokens=16384)
    async with LocalEngine(
        locate_model(model, Path("~/.cache/naru").expanduser()), alias=model, options=options
    ) as engine:
        yield engine


class Served(Protocol):
    """Where an OpenAI-compatible engine listens."""

    @property
    def base_url(self) -> str: ...

    @property
    def api_key(self) -> str: ...


def way_backend(way: str, engine: Served, model: str) -> OpenAIBackend:
    profile = profile_for(model)
    if way != "naru":
        profile = replace(profile, strategy=cast(Strategy, way), small=False)
    return OpenAIBackend(Endpoint(engine.base_url, engine.api_key), profile, model=model)


@asynccontextmanager
async def connected(records: Sequence[ServerRecord]) -> AsyncIterator[Hub]:
    """Connect servers in a hub of their own, as configured by default: tools are chosen by meaning (`closeness`)."""
    with tempfile.TemporaryDirectory() as data:
        settings = Settings.model_validate({"hub": {"store": "memory:", "data_dir": data}})
        backend = way_backend("naru", _Nowhere(), "none")
        async with open_hub(settings, backend=backend) as hub:
            for record in records:
                await hub.manager.register(record)
                assert await hub.manager.connect(record.name), hub.manager.explain(record.name)
            yield hub


class _Nowhere:
    base_url = "http://127.0.0.1:9/v1"
    api_key = ""


class OrdinaryLoop:
    """The engine alone, with the loop that the openai package's guide shows."""

    def __init__(self, engine: LocalEngine, toolset: Toolset, model: str) -> None:
        self._client = openai.AsyncOpenAI(base_url=engine.base_url, api_key=engine.api_key, timeout=300)
        self._toolset = toolset
        self._model = model

    async def ask(self, text: str) -> Answer:
        offered: list[Any] = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.input_schema},
            }
            for one in await self._toolset.tools()
        ]
        messages: list[Any] = [{"role": "user", "content": text}]
        ran: list[str] = []
        for number in range(1, ROUNDS + 1):
            reply = await self._client.chat.completions.create(
                model=self._model, messages=messages, tools=offered, temperature=0, max_tokens=500
            )
            message = reply.choices[0].message
            if not message.tool_calls:
                return Answer(message.content or "", tuple(ran), number)
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls:
                assert call.type == "function", "no other kind is offered"
                ran.append(call.function.name)
                result = await self._toolset.call(
                    call.function.name, json.loads(call.function.arguments), CallContext()
                )
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        return Answer(message.content or "", tuple(ran), ROUNDS)

    async def close(self) -> None:
        await self._client.close()


class Remembered:
    """A backend whose answers at temperature 0 are kept on disk: after a change of rules only new prompts cost time.

    For work on the rules; never with `--quiet`.
    """

    def __init__(self, backend: OpenAIBackend, path: Path) -> None:
        self._backend = backend
        path.parent.mkdir(parents=True, exist_ok=True)
        self._kept = shelve.open(str(path))  # noqa: SIM115 - closed by `close`

    @property
    def profile(self) -> Profile:
        return self._backend.profile

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        key = hashlib.sha256(
            repr((self._backend.profile, replace(request, extra=dict(request.extra)))).encode()
        ).hexdigest()
        if request.temperature == 0 and key in self._kept:
            for event in self._kept[key]:
                yield event
            return
        events = []
        async with aclosing(self._backend.stream(request)) as stream:
            async for event in stream:
                events.append(event)
                yield event
        self._kept[key] = events
        self._kept.sync()

    async def models(self) -> Sequence[str]:
        return await self._backend.models()

    async def close(self) -> None:
        self._kept.close()
        await self._backend.close()


class ThroughNaru:
    """Naru's own loop, as its faces run it; a run that breaks the law ends the bench."""

    def __init__(self, way: str, engine: LocalEngine, hub: Hub, model: str, *, remember: bool = False) -> None:
        backend = way_backend(way, engine, model)
        self._backend = Remembered(backend, REMEMBERED) if remember else backend
        self._hub = hub
        self._model = model

    async def ask(self, text: str) -> Answer:
        end, kept = None, Kept()
        hooks = replace(self._hub.hooks, journal=kept, recall=None)
        request = ChatRequest(self._model, (Message("user", text),))
        async with aclosing(run(self._backend, self._hub.tools(), request, hooks=hooks)) as events:
            async for event in events:
                end = event if isinstance(event, RunFinished) else end
        assert end is not None
        if broken := breaches(kept.run):
            raise SystemExit(f"{text!r}: calls that the model did not write: {broken}")
        return Answer(end.answer, tuple(end.calls), end.rounds)

    async def close(self) -> None:
        await self._backend.close()


class Peer:
    """pydantic-ai with its own MCP client on the same engine and servers, in an environment of its own."""

    def __init__(self, engine: LocalEngine, records: Sequence[ServerRecord], model: str) -> None:
        self._setup = {
            "base_url": engine.base_url,
            "api_key": engine.api_key,
            "model": model,
            "rounds": ROUNDS,
            "servers": {record.name: record.config for record in records},
        }
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, text: str) -> Answer:
        if self._process is None:
            worker = Path(__file__).parent / "agent_worker.py"
            self._process = await asyncio.create_subprocess_exec(
                str(peer_environment()), str(worker), stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 24
            )
            await self._say(self._setup)
        await self._say(text)
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise SystemExit("the pydantic-ai worker ended")
        said = json.loads(line)
        return Answer(said["answer"], tuple(said["ran"]), said["rounds"])

    async def _say(self, value: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value).encode() + b"\n")
        await self._process.stdin.drain()

    async def close(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await self._process.wait()
                return
        self._process.kill()
        await self._process.wait()


def peer_environment() -> Path:
    """Return the Python of pydantic-ai's environment, made at the first run."""
    python, stamp = PEER / "bin" / "python", PEER / "packages.json"
    if stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == list(PEER_PACKAGES):
        return python
    uv = str(Path(sys.executable).parent / "uv")
    print(f"making {PEER} with {', '.join(PEER_PACKAGES)} …", file=sys.stderr)
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(PEER)], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *PEER_PACKAGES], check=True)
    stamp.write_text(json.dumps(PEER_PACKAGES), encoding="utf-8")
    return python


def asker(
    way: str,
    engine: LocalEngine,
    hub: Hub,
    records: Sequence[ServerRecord],
    model: str,
    *,
    remember: bool = False,
) -> Any:
    if way == "engine":
        return OrdinaryLoop(engine, hub.tools(), model)
    if way == "pydantic-ai":
        return Peer(engine, records, model)
    return ThroughNaru(way, engine, hub, model, remember=remember)


class Book:
    """The file of answers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> list[Row]:
        if not self._path.exists():
            return []
        latest: dict[tuple[object, ...], Row] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            row = Row(**{**(raw := json.loads(line)), "ran": tuple(raw["ran"])})
            latest[row.model, row.way, row.together, row.quiet, row.server, row.question] = row
        return list(latest.values())

    def add(self, row: Row) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")


@dataclass
class Asking:
    """What is the same for all questions of one command."""

    book: Book
    model: str
    together: bool = False
    quiet: bool = False
    again: bool = False
    ends_at: float = float("inf")

    def open_questions(self, way: str, questions: Iterable[Asked]) -> list[Asked]:
        done = {
            (row.server, row.question)
            for row in self.book.rows()
            if (row.model, row.way, row.together, row.quiet) == (self.model, way, self.together, self.quiet)
        }
        return [one for one in questions if self.again or (one.server, one.text) not in done]

    async def ask_all(self, way: str, who: Any, questions: Sequence[Asked], judge: Any) -> int:
        """Ask what is open until the time is up; return how many were asked."""
        asked = 0
        for one in self.open_questions(way, questions):
            if time.monotonic() > self.ends_at:
                break
            started = time.monotonic()
            try:
                async with asyncio.timeout(QUESTION_SECONDS):
                    answer = await who.ask(one.text)
            except Exception as error:  # A way that breaks has given a wrong answer.
                answer = Answer(f"failed: {type(error).__name__}: {error}")
            seconds = time.monotonic() - started
            right = bool(judge(one, answer))
            self.book.add(
                Row(
                    self.model, way, self.together, one.server, one.part, one.kind, one.language, one.text, right,
                    answer.text[:2000], answer.ran, answer.rounds, round(seconds, 2), self.quiet,
                )
            )  # fmt: skip
            asked += 1
            if not right:
                said = " ".join(answer.text.split())[:150]
                print(
                    f"  {way} wrong [{one.server} {one.kind}] {one.text[-80:]} | {','.join(answer.ran)} | {said}",
                    flush=True,
                )
        return asked


def looks_like_call(text: str) -> bool:
    return '"arguments"' in text or "<tool_call>" in text or ('"name"' in text and "{" in text)


def table(rows: Sequence[Row], *, part: str = "") -> str:
    """Return the rows of a file as a table: per model and way, right of asked by server, kind and language."""
    chosen = [row for row in rows if not part or row.part == part]
    lines = []
    for model in dict.fromkeys(row.model for row in chosen):
        for together in (False, True):
            lines += _model_table(
                [row for row in chosen if row.model == model and row.together == together], model, together
            )
    return "\n".join(lines)


def _model_table(rows: list[Row], model: str, together: bool) -> list[str]:
    ways = [way for way in WAYS if any(row.way == way for row in rows)]
    if not ways:
        return []
    lines = [
        f"\n{model}{', all servers at once' if together else ''}",
        f"{'':22}" + "".join(f"{way:>13}" for way in ways),
    ]
    groups: list[tuple[str, Any]] = [("all", lambda row: True)]
    for field in ("kind", "language", "server"):
        for value in dict.fromkeys(getattr(row, field) for row in rows):
            is_of = lambda row, field=field, value=value: getattr(row, field) == value  # noqa: E731 - read in the row below
            groups.append((f"{field} {value}", is_of))
    for name, belongs in groups:
        cells = []
        for way in ways:
            mine = [row for row in rows if row.way == way and belongs(row) and not row.quiet]
            cells.append(f"{sum(row.right for row in mine)}/{len(mine)}" if mine else "-")
        lines.append(f"{name:22}" + "".join(f"{cell:>13}" for cell in cells))
    rounds, quiet = [], []
    for way in ways:
        mine = [row for row in rows if row.way == way]
        rounds.append(f"{statistics.mean(row.rounds for row in mine):.1f}")
        timed = [row.seconds for row in mine if row.quiet]
        quiet.append(f"{statistics.median(timed):.1f} s" if timed else "-")
    lines.append(f"{'model calls each':22}" + "".join(f"{cell:>13}" for cell in rounds))
    lines.append(f"{'median time (quiet)':22}" + "".join(f"{cell:>13}" for cell in quiet))
    return lines
