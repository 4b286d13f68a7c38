"""Plan B (V9): a call as a shell command for clients that can show none; tickets that run once (SECURITY S-40 to S-42).

The arguments stay here. A command carries random characters alone, or a payload that this installation has signed.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naru.config import Settings
from naru.dialects import ParsedCall
from naru.dialects.writers.shell import (
    PROGRAM,
    Shell,
    inline_payload,
    posix_command,
    read_payload,
    read_posix_command,
)
from naru.encoding import encode
from naru.errors import ConflictError, NotFoundError, PolicyError
from naru.messages import JsonObject, ToolDefinition
from naru.stores.secrets.file import secret_of
from naru.tools.supervision.calls import definition_hash
from naru.tools.toolset import CallContext
from naru.web.face.hub import ChatHub
from naru.web.face.reading.body import decode_body
from naru.web.face.tickets import Minting, Tickets
from naru.web.routes import Access, Endpoint

KEY_FILE = "plan_b.key"
_MAC_BYTES = 16


def signing_key(data_dir: Path) -> bytes:
    """Return this installation's key for inline commands. Raises StoreError."""
    return secret_of(data_dir / KEY_FILE)


def sign(payload: str, key: bytes) -> str:
    """Return `PAYLOAD.MAC`."""
    mac = hmac.digest(key, payload.encode("ascii"), "sha256")[:_MAC_BYTES]
    return f"{payload}.{base64.urlsafe_b64encode(mac).decode('ascii').rstrip('=')}"


def read_signed(text: str, key: bytes) -> ParsedCall:
    """Return the call of a signed payload.

    Raises:
        PolicyError: this installation has not signed it.
    """
    payload, _, _ = text.partition(".")
    call = read_payload(payload) if payload.isascii() else None
    if call is None or not hmac.compare_digest(sign(payload, key).encode(), text.encode("utf-8", "replace")):
        raise PolicyError(
            "This command was not written by this Naru; it is not run.", remedy="Ask the model for a new command."
        )
    return call


def shell_writer(
    settings: Settings, tickets: Tickets, minting: Minting, caller: str, tools: Sequence[ToolDefinition]
) -> Shell:
    """Return the writer of shell blocks for one request, in the form that the settings choose. Reads a file."""
    form = settings.chat.plan_b
    if form == "posix":
        return Shell(posix_command, read_posix_command)
    if form == "inline":
        key = signing_key(settings.hub.data_dir)

        def recall_inline(command: str) -> ParsedCall | None:
            return read_payload(command.rpartition(" ")[2].partition(".")[0])

        return Shell(lambda call: f"{PROGRAM} --inline {sign(inline_payload(call), key)}", recall_inline)
    definitions = {tool.name: tool for tool in tools}

    def mint(call: ParsedCall) -> str | None:
        tool = definitions.get(call.name)
        return f"{PROGRAM} --ticket {minting.mint(call, definition_hash(tool))}" if tool else None

    return Shell(mint, lambda command: tickets.call_of(caller, command.rpartition(" ")[2]))


class TicketDesk:
    """POST /api/tickets/run: what `naru tool run --ticket` asks."""

    def __init__(self, hub: ChatHub, tickets: Tickets) -> None:
        self._hub = hub
        self._tickets = tickets

    async def run(self, request: Request) -> Response:
        """Run a ticket's call once and give its result."""
        ticket = decode_body(await request.body()).get("ticket")
        if not isinstance(ticket, str):
            raise NotFoundError("The body names no ticket.")
        caller = caller_of(request.scope.get("state", {}))
        found = await asyncio.to_thread(self._tickets.redeem, caller, ticket)
        toolset = self._hub.tools(None)
        now = next((tool for tool in await toolset.tools() if tool.name == found.call.name), None)
        if now is None or definition_hash(now) != found.definition:
            raise ConflictError(
                f"The tool {found.call.name} is not what it was when this command was written; it was not run.",
                remedy="Ask the model again for a new command.",
            )
        result = await toolset.call(found.call.name, found.call.arguments, CallContext(caller=caller))
        answer: JsonObject = {"tool": found.call.name, "text": result.text, "is_error": result.is_error}
        return Response(encode(answer), media_type="application/json")

    def endpoints(self) -> list[Endpoint]:
        """Return the desk's row."""
        return [Endpoint("/api/tickets/run", ("POST",), self.run, Access.USER)]


def caller_of(state: Any) -> str:
    """Return the verified caller's id, empty where nobody is asked for a key."""
    principal = state.get("principal") if isinstance(state, dict) else None
    return str(getattr(principal, "id", ""))
