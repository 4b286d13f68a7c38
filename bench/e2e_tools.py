"""Forty questions in Korean and English over three MCP servers: HR, the npm filesystem server, one with sixty tools.

    .venv/bin/python bench/e2e_tools.py --model qwen2.5-coder-0.5b --ways naru,engine,pydantic-ai [--server hr]
    .venv/bin/python bench/e2e_tools.py --table

`engine` is an ordinary openai loop around the engine with all tools offered, `pydantic-ai` that agent with its own MCP
client on the same engine; the others are Naru, `naru` by its own choice of strategy. A question is right when the
answer holds all its facts, and no tool ran where none is needed. Answers go to `output/e2e_tools.jsonl`; a run that was
stopped (`--seconds`) goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.office_server import KINDS, rows
from bench.question_runs import (
    WAYS,
    Answer,
    Asked,
    Asking,
    Book,
    asker,
    connected,
    looks_like_call,
    started_engine,
    table,
)
from tests.client_environments import node_environment

from naru.connections.own_servers import demo_record
from naru.records import ServerRecord, TransportType

OUTPUT = Path("output/e2e_tools.jsonl")
TWO_CALLS = ("Compare", "부서와")
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


def asked_of(question: Question) -> Asked:
    count = "0" if not question.facts else "2" if any(word in question.text for word in TWO_CALLS) else "1"
    language = "ko" if any("가" <= letter <= "힣" for letter in question.text.replace("할일", "")) else "en"
    return Asked(question.kind, count, language, question.text, facts=question.facts)


def is_right(asked: Asked, answer: Answer) -> bool:
    if looks_like_call(answer.text) or answer.text.startswith("failed:"):
        return False
    if not asked.facts:
        return bool(answer.text.strip()) and not answer.ran
    return all(fact.lower() in answer.text.lower() for fact in asked.facts)


def records(folder: str) -> list[ServerRecord]:
    npm = node_environment({"@modelcontextprotocol/server-filesystem": "2026.8.31"})
    script = npm / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    office = Path(__file__).parent / "office_server.py"
    return [
        demo_record(),
        ServerRecord(
            name="files", transport_type=TransportType.STDIO, config={"command": "node", "args": [str(script), folder]}
        ),
        ServerRecord(
            name="office", transport_type=TransportType.STDIO, config={"command": sys.executable, "args": [str(office)]}
        ),
    ]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--ways", default="naru")
    parser.add_argument("--server", default="", help="hr, files, office or chat: only its questions")
    parser.add_argument("--only", default="", help="questions that hold this text")
    parser.add_argument("--every", type=int, default=1, help="a sample: each question of so many, from the first on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=220)
    parser.add_argument("--quiet", action="store_true", help="nothing else runs on this machine: quote the times")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--remember", action="store_true", help="take answers of the model that are known from before")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print(table(Book(options.output).rows()))
        return
    ends_at = time.monotonic() + options.seconds
    asking = Asking(Book(options.output), options.model, True, options.quiet, options.again, ends_at)
    # A folder that stays the same, since it stands in the questions.
    folder = Path(tempfile.gettempdir(), "naru-bench-files")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    asked = [asked_of(one) for one in check_facts(questions(str(folder)))]
    asked = [one for one in asked if options.only in one.text and options.server in ("", one.server)][:: options.every]
    left = 0
    for way in options.ways.split(","):
        assert way in WAYS, way
        if not asking.open_questions(way, asked):
            continue
        async with started_engine(options.model, options.threads) as engine, connected(records(str(folder))) as hub:
            who = asker(way, engine, hub, records(str(folder)), options.model, remember=options.remember)
            await asking.ask_all(way, who, asked, is_right)
            await who.close()
        left += len(asking.open_questions(way, asked))
    print(f"{left} questions left" if left and not options.again else "done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
