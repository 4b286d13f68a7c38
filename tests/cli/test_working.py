"""Signs of life: on a terminal what is waited for is named, in a pipe nothing is (issue 22, line 11)."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.command_table import typed

pytestmark = pytest.mark.slow
NARU = [sys.executable, "-m", "naru.cli.main"]
SLOW = 'sleep 4; exec "$0" -m naru.builtins.hr.server'


def on_a_terminal(folder: Path, values: dict[str, str], *arguments: str) -> tuple[str, str]:
    """Run it with stderr on a terminal; return stdout and what the terminal got."""
    ours, theirs = pty.openpty()
    surroundings = {**os.environ, **values}
    process = subprocess.Popen(
        [*NARU, *arguments], env=surroundings, cwd=folder, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    pieces: list[bytes] = []
    reader = threading.Thread(target=lambda: _read(ours, pieces))
    reader.start()  # beside it: a terminal that nobody reads holds the program up
    out, _ = process.communicate(timeout=120)
    reader.join(60)
    os.close(ours)
    return out.decode(), b"".join(pieces).decode(errors="replace")


def _read(terminal: int, pieces: list[bytes]) -> None:
    with suppress(OSError):  # the end of a terminal
        while piece := os.read(terminal, 65536):
            pieces.append(piece)


def test_servers_that_take_their_time_are_named_on_a_terminal_and_not_in_a_pipe(tmp_path: Path) -> None:
    values = {"HOME": str(tmp_path), "NARU_HUB__DATA_DIR": str(tmp_path / "data"), "NARU_SERVER__PORT": "9"}
    added = typed(["servers", "add", "late", "--", "sh", "-c", SLOW, sys.executable], tmp_path, values)
    assert added.code == 0
    out, shown = on_a_terminal(tmp_path, values, "tools", "list")
    assert "get_employee_info" in out
    assert "connecting servers: 0 of 1, waiting for late" in shown
    piped = typed(["tools", "list"], tmp_path, values)
    assert "get_employee_info" in piped.out
    assert piped.err == ""


def test_indexing_shows_what_is_done_and_left_on_a_terminal_and_not_in_a_pipe(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(
        "\n".join(f"## Part {number}\n\nThe ferry number {number} leaves.\n" for number in range(30)), encoding="utf-8"
    )
    values = {"HOME": str(tmp_path), "NARU_HUB__DATA_DIR": str(tmp_path / "data")}
    _, shown = on_a_terminal(tmp_path, values, "data", "index", "notes.md")
    assert "Indexing notes.md" in shown
    assert "30/30" in shown
    assert typed(["data", "index", "notes.md", "--replace"], tmp_path, values).err == ""
    _, shown = on_a_terminal(tmp_path, values, "data", "search", "ferry")
    assert "looking (the embedding model is loaded first)" in shown or len(shown) == 0, (
        "it may be there within a second"
    )
