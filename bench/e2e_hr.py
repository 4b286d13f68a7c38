"""Ten HR questions, twice in one run: the engine alone with an ordinary openai loop, and through Naru with `+tools`.

    .venv/bin/python bench/e2e_hr.py [--model qwen2.5-coder-0.5b]

An answer is correct when it holds the fact read from the database (for the two lists: at least half of the names).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import openai

from naru.builtins.hr.database import HrDatabase, demo_database
from naru.builtins.hr.server import hr_toolset
from naru.messages import ToolDefinition
from naru.models.local.engine import LocalEngine
from naru.models.local.weights import locate_model
from naru.tools.toolset import CallContext

ROUNDS = 5
READY_SECONDS = 60
Check = Callable[[str, list[str]], bool]


@dataclass(frozen=True)
class Question:
    text: str
    correct: Check
    """Gets the answer and the names of the tools that ran."""


def questions(db: HrDatabase) -> list[Question]:
    """Return the questions with their checks, made from the database."""
    names = [row["name"] for row in db.rows("SELECT name FROM employees")]

    def employee(employee_id: str, column: str) -> str:
        return str(db.rows("SELECT * FROM employees WHERE id = ?", (employee_id,))[0][column])

    def left(employee_id: str, year: int) -> str:
        row = db.rows("SELECT total, used FROM vacations WHERE employee_id = ? AND year = ?", (employee_id, year))[0]
        return f"{row['total'] - row['used']:g}"

    def holds(*facts: str) -> Check:
        return lambda answer, ran: any(fact.lower() in answer.lower() for fact in facts)

    def lists(answer: str, ran: list[str]) -> bool:
        return sum(name in answer for name in names) >= len(names) / 2

    travel = _document(db, "travel expense")
    vacation = _document(db, "휴가 규정")
    return [
        Question("who is EMP001?", holds(employee("EMP001", "name"))),
        Question("EMP003's remaining days 2025", _number(left("EMP003", 2025))),
        Question("list all employees", lists),
        Question("find the travel expense rules", holds(*travel)),
        Question("EMP002의 2025년 남은 연차", _number(left("EMP002", 2025))),
        Question("EMP005 직원 정보", holds(employee("EMP005", "name"), employee("EMP005", "department"))),
        Question("휴가 규정 문서를 찾아줘", holds(*vacation)),
        Question("직원 목록 보여줘", lists),
        Question("What is EMP009's department?", holds(employee("EMP009", "department"))),
        Question("tell me a joke", _is_a_joke),
    ]


def _is_a_joke(answer: str, ran: list[str]) -> bool:
    """Text, no tool run, and not a tool call written as text."""
    return bool(answer.strip()) and not ran and '"name"' not in answer


def _number(value: str) -> Check:
    def check(answer: str, ran: list[str]) -> bool:
        words = "".join(character if character.isdigit() or character == "." else " " for character in answer)
        return value in [word.strip(".") for word in words.split()]

    return check


def _document(db: HrDatabase, title: str) -> list[str]:
    """Return phrases of a document's content of which an answer must hold one: its figures with their units."""
    content = db.rows("SELECT content FROM documents WHERE lower(title) LIKE ?", (f"%{title}%",))[0]["content"]
    return [part.strip() for part in content.replace(",", ".").split(".") if len(part.strip()) > 8]


def openai_tools(tools: list[ToolDefinition]) -> list[dict]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in tools
    ]


async def engine_alone(client: openai.OpenAI, model: str, text: str) -> tuple[str, list[str]]:
    """Run the ordinary loop: whatever tool_calls come back are run, five rounds."""
    toolset = hr_toolset()
    offered = openai_tools(list(await toolset.tools()))
    messages: list = [{"role": "user", "content": text}]
    ran: list[str] = []
    answer = ""
    for _ in range(ROUNDS):
        reply = client.chat.completions.create(model=model, messages=messages, tools=offered, temperature=0)
        message = reply.choices[0].message
        answer = message.content or ""
        if not message.tool_calls:
            break
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            ran.append(call.function.name)
            result = await toolset.call(call.function.name, json.loads(call.function.arguments), CallContext())
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
    return answer, ran


async def through_naru(client: openai.OpenAI, model: str, text: str) -> tuple[str, list[str]]:
    reply = client.chat.completions.create(model=f"{model}+tools", messages=[{"role": "user", "content": text}])
    extra = (reply.model_extra or {}).get("naru") or {}
    return reply.choices[0].message.content or "", [str(name) for name in extra.get("calls", [])]


def start_naru(engine: LocalEngine, model: str, data_dir: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start `naru serve` before the same engine on a free port."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "naru.cli.main", "serve", "--demo", "--port", str(port), "--store", "memory:"],
        env={
            **os.environ,
            "NARU_MODEL__MODEL": model,
            "NARU_MODEL__BASE_URL": engine.base_url,
            "NARU_MODEL__API_KEY": engine.api_key,
            "NARU_HUB__DATA_DIR": data_dir,
        },
    )
    return process, f"http://127.0.0.1:{port}/v1"


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def wait_until_ready(client: openai.OpenAI, base_url: str) -> None:
    import urllib.request

    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(base_url.removesuffix("/v1") + "/readyz") as reply:
                if json.loads(reply.read())["status"] == "ready":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"naru serve was not ready within {READY_SECONDS} s")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    model = parser.parse_args().model
    cache = Path("~/.cache/naru").expanduser()
    async with LocalEngine(locate_model(model, cache), alias=model) as engine:
        alone = openai.OpenAI(base_url=engine.base_url, api_key=engine.api_key, timeout=300)
        with tempfile.TemporaryDirectory() as data_dir:
            process, base_url = start_naru(engine, model, data_dir)
            try:
                naru = openai.OpenAI(base_url=base_url, api_key="none", timeout=300)
                wait_until_ready(naru, base_url)
                rows = [await compare(question, alone, naru, model) for question in questions(demo_database())]
            finally:
                process.terminate()
                process.wait(timeout=30)
    print(
        f"\n{model}: engine alone {sum(row[0] for row in rows)} of 10, through Naru {sum(row[1] for row in rows)} of 10"
    )


async def compare(question: Question, alone: openai.OpenAI, naru: openai.OpenAI, model: str) -> tuple[bool, bool]:
    print(f"? {question.text}", flush=True)
    verdicts = []
    for name, ask, client in (("engine", engine_alone, alone), ("naru", through_naru, naru)):
        started = time.monotonic()
        answer, ran = await ask(client, model, question.text)
        verdict = question.correct(answer, ran)
        verdicts.append(verdict)
        shown = " ".join(answer.split())[:110]
        print(f"  {name:7}{'right' if verdict else 'wrong'}  {time.monotonic() - started:5.1f} s  {shown}", flush=True)
    return verdicts[0], verdicts[1]


if __name__ == "__main__":
    asyncio.run(main())
