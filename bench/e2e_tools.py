"""Forty questions in Korean and English over three MCP servers: HR, the npm filesystem server, one with sixty tools.

    .venv/bin/python bench/e2e_tools.py [--model NAME] [--ways engine,naru,native,prompted,guided] [--only N]

`engine` is an ordinary openai loop around the engine with all tools offered; the others are Naru, `naru` by its own
choice of strategy. A question is right when the answer holds all its facts, and no tool ran where none is needed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import openai

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.client_environments import node_environment

from naru.agent.events import RunFinished
from naru.agent.loop import run
from naru.config import Settings
from naru.hub import demo_record, open_hub
from naru.messages import ChatRequest, Message
from naru.models.endpoint import Endpoint
from naru.models.families import profile_for
from naru.models.local import LocalEngine
from naru.models.openai_http import OpenAIBackend
from naru.models.weights import locate_model
from naru.records import ServerRecord, TransportType
from naru.tools.toolset import CallContext, Toolset

FILES = {
    "notes.txt": "Buy milk. Call Jiho at 17:30.",
    "report.md": "# Report\nRevenue grew by 12 percent in March.",
    "할일.txt": "금요일까지 계약서를 검토한다.",
    "data/prices.csv": "item,price\nlamp,39\nrope,12\n",
}


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    facts: tuple[str, ...]
    """All of these stand in a right answer; none: no tool may run."""


def questions(folder: str) -> list[Question]:
    hr, fs, office, chat = "hr", "files", "office", "chat"
    return [
        Question(hr, "Who is EMP012?", ("조민서",)),
        Question(hr, "When was EMP003 hired?", ("2019",)),
        Question(hr, "EMP005는 어느 부서예요?", ("개발팀",)),
        Question(hr, "How many vacation days does EMP003 have left in 2025?", ("11",)),
        Question(hr, "EMP002의 2026년 남은 연차는 며칠인가요?", ("13",)),
        Question(hr, "Which department does EMP009 work in?", ("Finance",)),
        Question(hr, "전체 직원 목록을 알려줘", ("James Carter", "이서연")),
        Question(hr, "How many hotel dollars a night do the travel expense rules allow?", ("150",)),
        Question(hr, "휴가 규정에 따르면 연차는 최대 며칠이야?", ("25",)),
        Question(hr, "Compare the departments of EMP003 and EMP009.", ("Sales", "Finance")),
        Question(hr, "EMP004의 부서와 2026년 남은 연차를 알려줘", ("영업팀", "8.5")),
        Question(hr, "Does an employee EMP777 exist?", ("EMP777",)),
        Question(fs, f"What does the file {folder}/notes.txt say?", ("Jiho",)),
        Question(fs, f"Read {folder}/report.md and tell me by how much revenue grew.", ("12",)),
        Question(fs, f"{folder}/할일.txt 파일 내용을 보여줘", ("계약서",)),
        Question(fs, f"Which files are in the directory {folder}?", ("notes.txt", "report.md")),
        Question(fs, f"{folder} 폴더에 어떤 파일이 있어?", ("notes.txt", "report.md")),
        Question(fs, f"What is the price of a lamp in {folder}/data/prices.csv?", ("39",)),
        Question(fs, f"List what is in {folder}/data", ("prices.csv",)),
        Question(fs, f"How big is the file {folder}/notes.txt in bytes?", ("29",)),
        Question(fs, "Which directories may be accessed?", (Path(folder).name,)),
        Question(fs, f"When should Jiho be called, according to {folder}/notes.txt?", ("17:30",)),
        Question(office, "What is the status of project PRJ-102?", ("waiting",)),
        Question(office, "Who owns invoice INV-111?", ("김서준",)),
        Question(office, "티켓 TIC-120의 상태는?", ("waiting",)),
        Question(office, "List all rooms", ("Blue room", "Library")),
        Question(office, "차량 목록을 보여줘", ("White van", "Forklift")),
        Question(office, "What is the amount of contract CON-191?", ("465",)),
        Question(office, "Search the vendors for steel", ("Nordic Steel",)),
        Question(office, "How many orders are approved?", ("1",)),
        Question(office, "Who owns vehicle VEH-203?", ("Ada Kim", "Mina Park", "Tom Reed", "김서준")[1:2]),
        Question(office, "주문 ORD-161의 금액은 얼마야?", ("435",)),
        Question(office, "Find the course about welding and tell me its id", ("CRS-181",)),
        Question(office, "What is device DEV-132 called?", ("Barcode scanner",)),
        Question(office, "행사 EVT-212의 담당자는 누구야?", ("Ada Kim", "Mina Park")[0:1]),
        Question(office, "Compare the status of shipments SHP-170 and SHP-171.", ("open", "closed")),
        Question(office, "What is the name of event EVT-211?", ("Fire drill",)),
        Question(chat, "Tell me a joke.", ()),
        Question(chat, "안녕하세요!", ()),
        Question(chat, "Write one sentence about rivers.", ()),
    ]


def check_facts(asked: list[Question]) -> list[Question]:
    """Take the owners and states from the data itself, so that the list above cannot be wrong."""
    from bench.office_server import KINDS, rows

    known = {row["id"]: row for kind in KINDS for row in rows(kind)}
    fixed = []
    for question in asked:
        words = [word.strip("?.,") for word in question.text.replace("의", " ").split()]
        found = [known[word] for word in words if word in known]
        facts = question.facts
        lowered = question.text.lower()
        if found and ("own" in lowered or "담당" in question.text):
            facts = tuple(row["owner"] for row in found)
        elif found and ("status" in lowered or "상태" in question.text):
            facts = tuple(row["status"] for row in found)
        elif found and ("amount" in lowered or "금액" in question.text):
            facts = tuple(str(row["amount"]) for row in found)
        fixed.append(replace(question, facts=facts))
    return fixed


def is_right(question: Question, answer: str, ran: list[str]) -> bool:
    if not question.facts:
        return bool(answer.strip()) and not ran and '"name"' not in answer
    return all(fact.lower() in answer.lower() for fact in question.facts)


async def engine_alone(engine: LocalEngine, toolset: Toolset, model: str, text: str) -> tuple[str, list[str], int]:
    client = openai.AsyncOpenAI(base_url=engine.base_url, api_key=engine.api_key, timeout=300)
    offered = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
        for t in await toolset.tools()
    ]
    messages: list = [{"role": "user", "content": text}]
    ran: list[str] = []
    answer = ""
    number = 0
    while number < 5:
        number += 1
        reply = await client.chat.completions.create(model=model, messages=messages, tools=offered, temperature=0)
        message = reply.choices[0].message
        answer = message.content or ""
        if not message.tool_calls:
            break
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            ran.append(call.function.name)
            result = await toolset.call(call.function.name, json.loads(call.function.arguments), CallContext())
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
    await client.close()
    return answer, ran, number


async def through_naru(backend: OpenAIBackend, toolset: Toolset, model: str, text: str) -> tuple[str, list[str], int]:
    request = ChatRequest(model, (Message("user", text),))
    end = None
    async with aclosing(run(backend, toolset, request)) as events:
        async for event in events:
            end = event if isinstance(event, RunFinished) else end
    assert end is not None
    return end.answer, list(end.calls), end.rounds


def way_backend(way: str, engine: LocalEngine, model: str) -> OpenAIBackend:
    profile = profile_for(model)
    if way != "naru":
        profile = replace(profile, strategy=way, small=False)
    return OpenAIBackend(Endpoint(engine.base_url, engine.api_key), profile, model=model)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--ways", default="engine,naru,native,prompted,guided")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as data:
        for name, text in FILES.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        settings = Settings.model_validate({"hub": {"store": "memory:", "data_dir": data}})
        async with (
            LocalEngine(locate_model(options.model, Path("~/.cache/naru").expanduser()), alias=options.model) as engine,
            open_hub(settings, backend=way_backend("naru", engine, options.model)) as hub,
        ):
            await connect(hub, folder)
            asked = check_facts(questions(folder))
            if options.only:
                asked = [one for one in asked if options.only in (one.kind, one.text)]
            for way in options.ways.split(","):
                await try_way(way, engine, hub.tools(), options.model, asked)


async def connect(hub, folder: str) -> None:
    npm = node_environment({"@modelcontextprotocol/server-filesystem": "2026.8.31"})
    script = npm / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    office = Path(__file__).parent / "office_server.py"
    records = [
        demo_record(),
        ServerRecord(
            name="files", transport_type=TransportType.STDIO, config={"command": "node", "args": [str(script), folder]}
        ),
        ServerRecord(
            name="office", transport_type=TransportType.STDIO, config={"command": sys.executable, "args": [str(office)]}
        ),
    ]
    for record in records:
        await hub.manager.register(record)
        assert await hub.manager.connect(record.name), hub.manager.explain(record.name)


async def try_way(way: str, engine: LocalEngine, toolset: Toolset, model: str, asked: list[Question]) -> None:
    backend = way_backend(way if way != "engine" else "naru", engine, model)
    right: Counter[str] = Counter()
    rounds = 0
    started = time.monotonic()
    for question in asked:
        try:
            if way == "engine":
                answer, ran, number = await engine_alone(engine, toolset, model, question.text)
            else:
                answer, ran, number = await through_naru(backend, toolset, model, question.text)
        except Exception as error:
            answer, ran, number = f"failed: {error}", [], 0
        verdict = is_right(question, answer, ran)
        right[question.kind] += verdict
        rounds += number
        if not verdict:
            print(
                f"  {way} wrong: {question.text[-70:]} | {','.join(ran)} | {' '.join(answer.split())[:160]}", flush=True
            )
    kinds = ", ".join(
        f"{kind} {right[kind]}/{sum(one.kind == kind for one in asked)}"
        for kind in dict.fromkeys(q.kind for q in asked)
    )
    spent = time.monotonic() - started
    each = f"{rounds / len(asked):.1f} rounds, {spent / len(asked):.1f} s each"
    print(f"{model} {way}: {sum(right.values())} of {len(asked)} right ({kinds}), {each}", flush=True)
    await backend.close()


if __name__ == "__main__":
    asyncio.run(main())
