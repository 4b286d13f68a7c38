"""A call that a command holds: its person is asked at the terminal, or told that it waits (N9). Never a silent wait."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from naru.cli.terminal.lines import Lines
from naru.cli.terminal.output import plain
from naru.tools.supervision.approvals import Approvals, Decision
from naru.tools.supervision.calls import Supervision
from naru.tools.supervision.waiting_room import Waiter

_ANSWERS = {"o": Decision.ONCE, "a": Decision.ALWAYS, "d": Decision.DENY}


@dataclass
class Desk:
    """Asks at this terminal; one question at a time, and by the same lines that the command reads itself."""

    lines: Lines = field(default_factory=Lines)

    async def ask(self, one: Waiter) -> Decision | None:
        """Return what the person says; None where nobody sits here."""
        place = f"{one.server}/{plain(one.tool)}"
        arguments = " ".join(plain(one.arguments).split())
        if not (os.isatty(0) and sys.stderr.isatty()):
            seconds = (one.expires_at - one.asked_at) // 1000
            _say(f"The call of {place} waits for a person's yes, {seconds} s at most: {arguments}")
            _say(f"Answer in the console, or: naru approvals allow {one.id} (deny {one.id}; allow --always {one.id})")
            return None
        while True:
            sys.stderr.write(f"May {place} be called with {arguments}? [o]nce, [a]lways, [d]eny: ")
            sys.stderr.flush()
            line = await self.lines.next()
            if line is None:
                return None
            if (answer := _ANSWERS.get(line.strip().lower()[:1])) is not None:
                return answer


def ask_here(supervision: Supervision, desk: Desk | None = None) -> None:
    """Have the calls that this command holds asked about at its terminal."""
    if isinstance(supervision.gatekeeper, Approvals):
        supervision.gatekeeper.ask_person = (desk or Desk()).ask


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
