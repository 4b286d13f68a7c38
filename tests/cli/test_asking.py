"""Approvals reach the person, whoever makes the call (issue 23, line 5): at the terminal, or in `naru approvals`."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import QuietHandler, answering

pytestmark = pytest.mark.slow

NARU = [sys.executable, "-m", "naru.cli.main"]
CALL = ["tool", "run", "hr__get_all_employees", "{}"]


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(folder),
        "NARU_SERVER__PORT": "1",
        "NARU_APPROVALS__ASK": '["hr/*"]',
        "NARU_APPROVALS__WAIT_SECONDS": "120",
    }


def until_said(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    assert process.stderr is not None
    while line := process.stderr.readline():
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"it never said {pattern!r}")


def started(folder: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*NARU, *CALL], env=environment(folder), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.parametrize(("answer", "code"), [("allow", 0), ("deny", None)])
def test_without_a_terminal_the_command_says_that_it_waits_and_naru_approvals_answers(
    tmp_path: Path, answer: str, code: int | None
) -> None:
    with started(tmp_path) as process:
        waiting = until_said(process, r"naru approvals allow (\S+) ")[1]
        listed = subprocess.run(
            [*NARU, "approvals", "list"], env=environment(tmp_path), capture_output=True, text=True, timeout=120
        )
        assert f"{waiting}  hr/get_all_employees  for local" in listed.stdout
        subprocess.run([*NARU, "approvals", answer, waiting], env=environment(tmp_path), check=True, timeout=120)
        out, error = process.communicate(timeout=120)
    assert (process.returncode == 0) is (code == 0), error
    assert bool(out.strip()) is (code == 0)
    assert ("denied" in error) is (code is None)
    assert list((tmp_path / "waiting").iterdir()) == []


@pytest.mark.parametrize(("typed", "works"), [("once", True), ("x\nd", False)])
def test_on_a_terminal_the_person_is_asked(tmp_path: Path, typed: str, works: bool) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*NARU, *CALL], env=environment(tmp_path), stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    said, deadline = "", time.monotonic() + 120
    while "[d]eny" not in said and time.monotonic() < deadline:
        said += os.read(ours, 4096).decode()
    assert "May hr/get_all_employees be called with" in said
    os.write(ours, f"{typed}\n".encode())
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert (process.returncode == 0) is works
    assert bool(out.strip()) is works


class OneCall(QuietHandler):
    """A model that calls the HR server where it is offered, and answers with what came back."""

    def do_GET(self) -> None:
        self.send_json({"object": "list", "data": [{"id": "m", "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = [turn["content"] for turn in asked["messages"] if turn["role"] == "tool"]
        call = {"id": "c1", "type": "function", "function": {"name": "hr__get_all_employees", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        if results:
            message = {"role": "assistant", "content": f"It said: {results[-1][:60]}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop" if results else "tool_calls"}
        answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        if asked.get("stream"):
            choice = {**choice, "delta": message, "message": None}
            if not results:
                choice["delta"]["tool_calls"][0]["index"] = 0
            chunk = json.dumps({**answer, "object": "chat.completion.chunk", "choices": [choice]})
            self.send_whole(f"data: {chunk}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")
            return
        self.send_json(answer)


@pytest.fixture
def model() -> Iterator[dict[str, str]]:
    """Serve it; gives the variables that name it."""
    with answering(OneCall) as url:
        yield {"NARU_MODEL__BASE_URL": f"{url}/v1", "NARU_MODEL__MODEL": "m", "NARU_MODEL__API": "openai"}


CHAT = [*NARU, "chat", "--demo", "Who works here?"]


@pytest.mark.parametrize(("typed", "said"), [("o", "EMP001"), ("d", "denied")])
def test_a_chat_on_a_terminal_asks_about_the_call_it_holds(
    tmp_path: Path, model: dict[str, str], typed: str, said: str
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        CHAT, env={**environment(tmp_path), **model}, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    seen, deadline = "", time.monotonic() + 120
    while "[d]eny" not in seen and time.monotonic() < deadline:
        seen += os.read(ours, 4096).decode()
    assert "May hr/get_all_employees be called with" in seen
    os.write(ours, f"{typed}\n".encode())
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0
    assert said in out


def test_a_chat_without_a_terminal_says_that_a_call_waits_and_goes_on_when_it_is_answered(
    tmp_path: Path, model: dict[str, str]
) -> None:
    surroundings, pipe = {**environment(tmp_path), **model}, subprocess.PIPE
    with subprocess.Popen(
        CHAT, env=surroundings, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    ) as process:
        waiting = until_said(process, r"naru approvals allow (\S+) ")[1]
        subprocess.run([*NARU, "approvals", "allow", waiting], env=surroundings, check=True, timeout=120)
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert "EMP001" in out
