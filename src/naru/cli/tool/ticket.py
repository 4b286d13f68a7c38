"""`naru tool run --ticket …` and `--inline …`: what a Plan B shell block runs (V9, SECURITY S-40 to S-44)."""

from __future__ import annotations

from naru.cli.running_hub import RunningHub
from naru.config import Settings
from naru.dialects import ParsedCall
from naru.messages import ToolResult
from naru.web.face.plan_b import read_signed, signing_key

_TIMEOUT_SECONDS = 330.0


def run_ticket(ticket: str, settings: Settings) -> ToolResult:
    """Have the hub run a ticket's call.

    Raises:
        UserError: the hub refused the ticket.
        ConnectionFailedError: no hub listens there.
    """
    hub = RunningHub(settings, timeout_seconds=_TIMEOUT_SECONDS)
    answer = hub.ask("/api/tickets/run", method="POST", body={"ticket": ticket})
    return ToolResult.of_text(str(answer.get("text", "")), is_error=bool(answer.get("is_error")))


def inline_call(payload: str, settings: Settings) -> ParsedCall:
    """Return the call of a signed payload, to be run here.

    Raises:
        PolicyError: this installation has not signed it.
    """
    return read_signed(payload, signing_key(settings.hub.data_dir))
