"""Approvals reach the person, whoever makes the call (issue 23, line 5): at the terminal, or in `naru approvals`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
