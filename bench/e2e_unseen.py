"""162 questions on fourteen servers: of eleven half are for making rules and half held out; three are `new`.

    .venv/bin/python bench/e2e_unseen.py --model qwen2.5-coder-0.5b --ways naru,engine [--part tune] [--servers library]
    .venv/bin/python bench/e2e_unseen.py --table

Each server's questions are asked with that server's tools alone, or with all servers at once (`--together`). Answers go
to `output/e2e_unseen.jsonl`; a stopped run (`--seconds`) goes on where it was. A question is right when a tool ran, the
answer holds all its facts and no text of a call; where no tool is needed, none may run; what is not there must be said.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
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
from bench.unseen.questions import QUESTIONS
from tests.client_environments import node_environment, python_environment

from naru.records import ServerRecord, TransportType

OUTPUT = Path("output/e2e_unseen.jsonl")
FOREIGN = ("everything", "memory", "time", "git")
MEMORY = """\
{"type":"entity","name":"Mina","entityType":"person","observations":["plays the violin","lives in Busan"]}
{"type":"entity","name":"Jun","entityType":"person","observations":["works as a sailor","prefers tea"]}
{"type":"entity","name":"Harbor Cafe","entityType":"place","observations":["serves coffee from 7 am","is in Busan"]}
{"type":"relation","from":"Mina","to":"Harbor Cafe","relationType":"works at"}
"""
_NEGATIVE = re.compile(
    r"\bnot?\b|n't|cannot|unknown|unable|invalid|error|nobody|none|없|않|아닙|못|유효하지", re.IGNORECASE
)


def is_right(asked: Asked, answer: Answer) -> bool:
    said = answer.text.casefold()
    if not said.strip() or looks_like_call(answer.text) or said.startswith("failed:"):
        return False
    if bool(answer.ran) == (asked.kind == "0"):
        return False
    if asked.kind in ("missing", "error") and not _NEGATIVE.search(answer.text):
        return False
    if asked.kind == "write" and not all(any(name in one for one in answer.ran) for name in asked.calls):
        return False
    return all(any(one.casefold() in said for one in fact.split("|")) for fact in asked.facts)


def own_record(name: str) -> ServerRecord:
    script = Path(__file__).parent / "unseen" / "servers" / f"{name}.py"
    return _stdio(name, sys.executable, str(script))


def _stdio(name: str, command: str, *args: str, **env: str) -> ServerRecord:
    config: dict = {"command": command, "args": list(args)}
    if env:
        config["env"] = env
    return ServerRecord(name=name, transport_type=TransportType.STDIO, config=config)


def foreign_record(name: str, folder: Path) -> ServerRecord:
    """A server from npm or PyPI, with data of ours where it keeps some."""
    if name in ("everything", "memory"):
        package = f"@modelcontextprotocol/server-{name}"
        npm = node_environment({package: "2026.8.31"})
        script = str(npm / "node_modules" / package / "dist" / "index.js")
        if name == "everything":
            return _stdio(name, "node", script)
        (folder / "memory.jsonl").write_text(MEMORY, encoding="utf-8")
        return _stdio(name, "node", script, MEMORY_FILE_PATH=str(folder / "memory.jsonl"))
    python = python_environment("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")
    if name == "time":
        return _stdio(name, str(python), "-m", "mcp_server_time", "--local-timezone", "Asia/Seoul")
    _make_repository(folder / "harbour")
    return _stdio(name, str(python), "-m", "mcp_server_git", "--repository", str(folder / "harbour"))


def _make_repository(folder: Path) -> None:
    folder.mkdir()

    def git(*args: str) -> None:
        who = ("-c", "user.name=Mina", "-c", "user.email=mina@example.org")
        subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)

    git("init", "-b", "main")
    (folder / "timetable.txt").write_text("Boat 7 leaves at 9\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "Add the harbour timetable")
    git("branch", "winter")
    (folder / "timetable.txt").write_text("Boat 8 leaves at 9\n", encoding="utf-8")
    (folder / "notes.txt").write_text("buy rope\n", encoding="utf-8")


def questions_of(server: str, part: str, folder: Path) -> list[Asked]:
    return [
        Asked(
            one.server,
            one.kind,
            one.language,
            one.text.replace("{folder}", str(folder / "harbour")),
            one.part,
            one.facts,
            one.calls,
        )
        for one in QUESTIONS
        if one.server == server and (not part or one.part == part)
    ]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--ways", default="naru")
    parser.add_argument("--servers", default="")
    parser.add_argument("--part", default="")
    parser.add_argument("--only", default="", help="questions that hold this text")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=220)
    parser.add_argument("--quiet", action="store_true", help="nothing else runs on this machine: quote the times")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--remember", action="store_true", help="take answers of the model that are known from before")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print(table(Book(options.output).rows(), part=options.part))
        return
    names = options.servers.split(",") if options.servers else list(dict.fromkeys(one.server for one in QUESTIONS))
    ends_at = time.monotonic() + options.seconds
    asking = Asking(Book(options.output), options.model, options.together, options.quiet, options.again, ends_at)
    # A folder that stays the same, since the repository's path stands in questions.
    folder = Path(tempfile.gettempdir(), "naru-bench-unseen")
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir()
    wanted = {
        name: [one for one in questions_of(name, options.part, folder) if options.only in one.text] for name in names
    }
    for way in options.ways.split(","):
        assert way in WAYS, way
        wanted_now = {name: found for name in names if (found := asking.open_questions(way, wanted[name]))}
        if not wanted_now:
            continue
        async with started_engine(options.model, options.threads) as engine:
            groups = [list(wanted_now)] if options.together else [[name] for name in wanted_now]
            for group in groups:
                if time.monotonic() > ends_at:
                    break
                offered = list(dict.fromkeys(one.server for one in QUESTIONS)) if options.together else group
                records = [foreign_record(one, folder) if one in FOREIGN else own_record(one) for one in offered]
                async with connected(records) as hub:
                    who = asker(way, engine, hub, records, options.model, remember=options.remember)
                    for name in group:
                        await asking.ask_all(way, who, wanted_now[name], is_right)
                    await who.close()
    left = sum(len(asking.open_questions(way, wanted[name])) for way in options.ways.split(",") for name in names)
    print(f"{left} questions left" if left and not options.again else "done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
