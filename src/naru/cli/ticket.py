"""`naru tool run --ticket …` and `--inline …`: what a Plan B shell block runs (V9, SECURITY S-40 to S-44)."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any, TextIO

import aiohttp

from naru.config import Settings
from naru.dialects import ParsedCall
from naru.errors import ConnectionFailedError, NaruError, UserError
from naru.web.plan_b import read_signed, signing_key

_TIMEOUT_SECONDS = 330.0
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def hub_url(settings: Settings) -> str:
    """Return where this machine's hub listens."""
    host = settings.server.host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - an address to reach, not one to bind
        host = "127.0.0.1"
    return f"http://[{host}]:{settings.server.port}" if ":" in host else f"http://{host}:{settings.server.port}"


def run_ticket(ticket: str, settings: Settings) -> int:
    """Have the hub run a ticket's call; print its result and return the exit code: 0, or 1 when the tool failed.

    Raises:
        UserError: the hub refused the ticket.
        ConnectionFailedError: no hub listens there.
    """
    answer = asyncio.run(_redeem(ticket, settings))
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
    stream.write((_ESCAPES.sub("", text) if stream.isatty() else text).rstrip("\n") + "\n")
    return 1 if is_error else 0


async def _redeem(ticket: str, settings: Settings) -> dict[str, Any]:
    url, key = hub_url(settings), settings.server.api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS), headers=headers) as session,
            session.post(f"{url}/api/tickets/run", json={"ticket": ticket}) as response,
        ):
            answer = await response.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ConnectionFailedError(
            f"No hub answers at {url}: {error or type(error).__name__}.", remedy="Start it with: naru serve"
        ) from error
    if not isinstance(answer, dict):
        raise ConnectionFailedError(f"{url} is no Naru hub.", remedy="Check server.host and server.port.")
    if response.status >= 400:
        said = answer.get("detail") or answer.get("message") or f"status {response.status}"
        raise _refusal(response.status, str(said), str(answer.get("remedy") or ""))
    return answer


def _refusal(status: int, said: str, remedy: str) -> NaruError:
    if status in (401, 403):
        return UserError(said, remedy=remedy or "Set NARU_SERVER__API_KEY to a key of this hub.")
    return UserError(said, remedy=remedy) if status < 500 else NaruError(said, remedy=remedy)
