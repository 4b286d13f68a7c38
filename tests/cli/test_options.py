"""Options that several commands share."""

from __future__ import annotations

import io

from rich.console import Console

from naru.cli.options import JoinProgress


def test_the_joining_of_a_model_writes_nothing_into_a_pipe() -> None:
    written = io.StringIO()
    progress = JoinProgress(Console(file=written))
    for done in (0, 50, 100):
        progress("joining", done, 100)
    assert written.getvalue() == ""


def test_the_joining_of_a_model_is_shown_on_a_terminal() -> None:
    written = io.StringIO()
    progress = JoinProgress(Console(file=written, force_terminal=True))
    for done in (0, 50, 100):
        progress("joining", done, 100)
    assert "joining" in written.getvalue()
