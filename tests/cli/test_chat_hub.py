"""`naru chat` beside a running hub: its model, its servers, its approvals; no second engine (issue 22, line 7)."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.command_table import KEY, NOWHERE, Told, hub, typed

from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend

pytestmark = pytest.mark.slow
WANTED = {"name": "hr__get_employee_info", "arguments": {"employee_id": "EMP001"}}
CALL = f"<tool_call>\n{json.dumps(WANTED)}\n</tool_call>"
NARU = [sys.executable, "-m", "naru.cli.main"]


def answer(request: ChatRequest) -> str:
    """Call once, then say what came."""
    last = request.messages[-1]
    return f"It said {last.text[:80]}" if last.role == "tool" else CALL


@contextmanager
def beside_a_hub(folder: Path, **sections: dict[str, object]) -> Iterator[dict[str, str]]:
    """Serve the hub; gives the variables of somebody who works beside it, and has no model of his own."""
    with hub(folder / "hub", ScriptedBackend(answer), **sections) as port:
        yield {
            "HOME": str(folder),
            "NARU_HUB__DATA_DIR": str(folder / "own"),
            "NARU_SERVER__PORT": str(port),
            "NARU_MODEL__BASE_URL": NOWHERE,
        }


def chat(folder: Path, values: dict[str, str], *arguments: str) -> Told:
    return typed(["chat", *arguments], folder, values)


def test_the_running_hub_is_asked_with_its_model_and_servers(tmp_path: Path) -> None:
    with beside_a_hub(tmp_path) as values:
        told = chat(tmp_path, values, "Who is EMP001?")
        assert (told.code, "Kim Minjun" in told.out) == (0, True), told.err
        assert "hr__get_employee_info(employee_id='EMP001')" in told.err
        found = json.loads(chat(tmp_path, values, "Who is EMP001?", "--json").out)
        assert found["ended"] == "answered"
        assert [(one["name"], one["arguments"], one["ran"]) for one in found["calls"]] == [
            ("hr__get_employee_info", {"employee_id": "EMP001"}, True)
        ]
        alone = chat(tmp_path, values, "Who is EMP001?", "--local")
        assert alone.code == 5, "its own model is nowhere"
        assert NOWHERE in alone.err


def test_a_hub_that_asks_for_a_key_is_told_with_both_ways_out(tmp_path: Path) -> None:
    with beside_a_hub(tmp_path, server={"api_key": KEY, "auth": "on"}) as values:
        told = chat(tmp_path, values, "hi")
        assert told.code == 2
        assert "NARU_SERVER__API_KEY" in told.err
        assert "naru chat --local" in told.err
        assert "Bearer" not in told.err, "that is for programs"
        assert chat(tmp_path, {**values, "NARU_SERVER__API_KEY": KEY}, "Who is EMP001?").code == 0


def test_a_call_that_the_hub_holds_is_told_and_answered_from_another_terminal(tmp_path: Path) -> None:
    approvals = {"ask": ["hr/*"]}
    with beside_a_hub(tmp_path, approvals=approvals) as values:
        surroundings, pipe = {**os.environ, **values}, subprocess.PIPE
        with subprocess.Popen(
            [*NARU, "chat", "Who?"], env=surroundings, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        ) as process:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"naru approvals allow (\S+) ", said)):
                said += (line := process.stderr.readline())
                assert line, said
            allowed = typed(["approvals", "allow", found[1]], tmp_path, values)
            assert allowed.code == 0, allowed.err
            out, error = process.communicate(timeout=120)
        assert (process.returncode, "Kim Minjun" in out) == (0, True), error


def test_a_call_that_the_hub_holds_is_asked_about_on_a_terminal(tmp_path: Path) -> None:
    with beside_a_hub(tmp_path, approvals={"ask": ["hr/*"]}) as values:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*NARU, "chat", "Who?"],
            env={**os.environ, **values},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
        )
        os.close(theirs)
        seen, deadline = "", time.monotonic() + 120
        while "[d]eny" not in seen and time.monotonic() < deadline:
            seen += os.read(ours, 4096).decode()
        assert "May hr/get_employee_info be called with" in seen
        os.write(ours, b"o\n")
        out, _ = process.communicate(timeout=120)
        os.close(ours)
        assert "Kim Minjun" in out


def test_a_broken_server_is_told_once_and_anew_when_it_fails_otherwise(tmp_path: Path) -> None:
    values = {"HOME": str(tmp_path), "NARU_HUB__DATA_DIR": str(tmp_path / "own"), "NARU_SERVER__PORT": "9"}
    assert typed(["servers", "add", "lost", "http://127.0.0.1:9/mcp"], tmp_path, values).code == 0
    first, second = (typed(["tools", "list"], tmp_path, values) for _ in range(2))
    assert "warning: lost:" in first.err
    assert "warning" not in second.err
    named = typed(["tools", "list", "--server", "lost"], tmp_path, values)
    assert "warning: lost:" in named.err, "who asks about it is told"
    typed(["servers", "remove", "lost"], tmp_path, values)
    typed(["servers", "add", "lost", "--", "no-such-program"], tmp_path, values)
    assert "warning: lost:" in typed(["tools", "list"], tmp_path, values).err
