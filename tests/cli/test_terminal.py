"""What commands print: no escape sequences where none are wanted, foreign text made harmless."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from naru.cli.terminal.output import plain

TABLE = (
    "from naru.cli.terminal.output import console, print_table\n"
    "print_table(('name', 'what'), [('a', 'x\\x1b[2Jy'), ('b', '두 번째')])\n"
    "console().print('[bold red]loud[/]')"
)


def run_on_terminal(code: str, **variables: str) -> str:
    """Return what a program writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, env=environment, stdin=theirs) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            found += piece
        process.wait(timeout=90)
    os.close(ours)
    return found.decode()


def test_a_table_is_a_heading_and_tabs_when_piped() -> None:
    done = subprocess.run([sys.executable, "-c", TABLE], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "name\twhat\na\txy\nb\t두 번째\nloud\n"


def test_colours_are_for_terminals() -> None:
    assert "\x1b[1;31mloud" in run_on_terminal(TABLE, NO_COLOR="")


def test_no_color_means_no_escape_sequence_at_all() -> None:
    shown = run_on_terminal(TABLE, NO_COLOR="1")
    assert "\x1b" not in shown
    assert "name" in shown


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("a\rb\x08c\x00", "abc"),
        ("line\r\nnext\tcell", "line\nnext\tcell"),
        ("\x9b31mx", "31mx"),
    ],
)
def test_foreign_text_cannot_steer_a_terminal(foreign: str, shown: str) -> None:
    assert plain(foreign) == shown


def test_the_first_column_of_a_table_never_wraps() -> None:
    long = "run_0123456789abcdef0123456789abcdef"
    code = (
        "from naru.cli.terminal.output import print_table\n"
        f"print_table(('run', 'question', 'model'), [('{long}', 'why ' * 40, 'a model of a long name ' * 4)])"
    )
    assert long in run_on_terminal(code, COLUMNS="60", NO_COLOR="1")


def test_rows_stand_one_below_the_other_where_a_table_would_have_no_room() -> None:
    row = "('a__tool_with_a_long_name', 'docs', 'Says what it does, at some length')"
    code = f"from naru.cli.terminal.output import print_table\nprint_table(('tool', 'server', 'what it does'), [{row}])"
    lines = [line.strip() for line in run_on_terminal(code, COLUMNS="40", NO_COLOR="1").splitlines()]
    assert lines[:2] == ["a__tool_with_a_long_name", "server: docs"]
    assert "server  what it does" in run_on_terminal(code, COLUMNS="90", NO_COLOR="1")
