"""Plan B (V9): a call as a shell command for clients that can show none; tickets that run once (SECURITY S-40 to S-42).

The arguments stay here. A command carries random characters alone, or a payload that this installation has signed.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
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
from naru.errors import ConflictError, NotFoundError, PolicyError
from naru.messages import JsonObject, ToolDefinition
from naru.tools.supervision import definition_hash
from naru.tools.toolset import CallContext
from naru.web.face.hub import ChatHub
from naru.web.face.memory import Recent
from naru.web.face.reading.body import decode_body
from naru.web.routes import Access, Endpoint

TICKET_SECONDS = 300.0
KEY_FILE = "plan_b.key"
_MAC_BYTES = 16


@dataclass(slots=True)
class Ticket:
    """The right to run one call once."""

    caller: str
    call: ParsedCall
    definition: str
    """Hash of the tool as it was offered."""
    until: float
    used: bool = False


class Tickets:
    """Mints tickets and redeems them: once, by the same caller, for the same definition (S-41)."""

    def __init__(self, *, seconds: float = TICKET_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        # Longer than a ticket lives: a used one is a conflict, and a history still says what it stood for.
        self._known: Recent[Ticket] = Recent(seconds=max(seconds * 2, 3600.0), entries=10_000, clock=clock)

    def mint(self, caller: str, call: ParsedCall, definition: str) -> str:
        """Return a new ticket: 128 random bits."""
        ticket = secrets.token_urlsafe(16)
        self._known.put(ticket, Ticket(caller, call, definition, self._clock() + self._seconds))
        return ticket

    def redeem(self, caller: str, ticket: str) -> Ticket:
        """Use a ticket up.

        Raises:
            NotFoundError: it is unknown, too old, or somebody else's.
            ConflictError: it has been used.
        """
        found = self._known.get(ticket)
        if found is None or found.caller != caller:
            raise NotFoundError("There is no such ticket.", remedy="Ask the model again for a new command.")
        if found.used:
            raise ConflictError("This ticket has been used; it runs once.", remedy="Ask the model for a new command.")
        if found.until < self._clock():
            raise NotFoundError(
                f"This ticket is older than {self._seconds:.0f} s.", remedy="Ask the model again for a new command."
            )
        found.used = True
        return found

    def call_of(self, caller: str, ticket: str) -> ParsedCall | None:
        """Return what a ticket stands for, to read a history; nothing is run."""
        found = self._known.get(ticket)
        return found.call if found is not None and found.caller == caller else None


def signing_key(data_dir: Path) -> bytes:
    """Return this installation's key for inline commands; made on first use, readable by its owner alone."""
    path = data_dir.expanduser() / KEY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        key = secrets.token_bytes(32)
        file.write(key)
    return key


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


def shell_writer(settings: Settings, tickets: Tickets, caller: str, tools: Sequence[ToolDefinition]) -> Shell:
    """Return the writer of shell blocks for one request, in the form that the settings choose."""
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
        return f"{PROGRAM} --ticket {tickets.mint(caller, call, definition_hash(tool))}" if tool else None

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
        found = self._tickets.redeem(caller, ticket)
        toolset = self._hub.tools(None)
        now = next((tool for tool in await toolset.tools() if tool.name == found.call.name), None)
        if now is None or definition_hash(now) != found.definition:
            raise ConflictError(
                f"The tool {found.call.name} is not what it was when this command was written; it was not run.",
                remedy="Ask the model again for a new command.",
            )
        result = await toolset.call(found.call.name, found.call.arguments, CallContext(caller=caller))
        answer: JsonObject = {"tool": found.call.name, "text": result.text, "is_error": result.is_error}
        return Response(orjson.dumps(answer), media_type="application/json")

    def endpoints(self) -> list[Endpoint]:
        """Return the desk's row."""
        return [Endpoint("/api/tickets/run", ("POST",), self.run, Access.USER)]


def caller_of(state: Any) -> str:
    """Return the verified caller's id, empty where nobody is asked for a key."""
    principal = state.get("principal") if isinstance(state, dict) else None
    return str(getattr(principal, "id", ""))
