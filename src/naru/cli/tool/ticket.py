"""`naru tool run --ticket …` and `--inline …`: what a Plan B shell block runs (V9, SECURITY S-40 to S-44)."""

from __future__ import annotations

import sys
from typing import TextIO

from naru.cli.running_hub import RunningHub
from naru.cli.terminal.output import plain
from naru.config import Settings
from naru.dialects import ParsedCall
from naru.web.face.plan_b import read_signed, signing_key

_TIMEOUT_SECONDS = 330.0


def run_ticket(ticket: str, settings: Settings) -> int:
    """Have the hub run a ticket's call; print its result and return the exit code: 0, or 1 when the tool failed.

    Raises:
        UserError: the hub refused the ticket.
        ConnectionFailedError: no hub listens there.
    """
    hub = RunningHub(settings, timeout_seconds=_TIMEOUT_SECONDS)
    answer = hub.ask("/api/tickets/run", method="POST", body={"ticket": ticket})
    return show(str(answer.get("text", "")), is_error=bool(answer.get("is_error")))


def inline_call(payload: str, settings: Settings) -> ParsedCall:
    """Return the call of a signed payload, to be run here.

    Raises:
        PolicyError: this installation has not signed it.
    """
    return read_signed(payload, signing_key(settings.hub.data_dir))


def show(text: str, *, is_error: bool) -> int:
    """Print a tool's text, to stdout or, for a failure, to stderr; a terminal gets no escape sequences of it."""
    stream: TextIO = sys.stderr if is_error else sys.stdout
    stream.write((plain(text) if stream.isatty() else text).rstrip("\n") + "\n")
    return 1 if is_error else 0
