"""The seam between the JSON-RPC session and whatever carries its frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from naru.connections.state.faults import Failure
from naru.connections.wire.protocol import Era
from naru.messages import JsonObject
from naru.stores.secrets.values import SecretValues


@dataclass(slots=True, eq=False)
class Outgoing:
    """One request on its way; the same object is handed back with what arrives on its stream."""

    id: int
    method: str
    body: bytes
    """The encoded request."""
    era: Era = "legacy"
    version: str = ""
    """For `MCP-Protocol-Version`; empty before it is negotiated."""
    name: str = ""
    """For `Mcp-Name`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    context: Any = None
    """Whatever the session needs to find the caller again."""


class Inbox(Protocol):
    """Where a transport puts what is not the answer to a request."""

    def receive(self, message: JsonObject, call: Outgoing | None) -> None:
        """Take a notification or a server's request; `call` is the request on whose own stream it came."""
        ...

    def lost(self, failure: Failure) -> None:
        """Learn that the link is dead. Told at most once, never during `open` or `close`."""
        ...


class LogRing:
    """The last bytes of a child's stderr and of what was wrong on its stdout (R-40)."""

    def __init__(self, max_bytes: int, secrets: SecretValues) -> None:
        self.max_bytes = max_bytes
        self.total_bytes = 0
        self._secrets = secrets
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Append; the oldest bytes give way. Amortised linear: trimmed only when twice full."""
        self.total_bytes += len(data)
        self._kept += data[-self.max_bytes :]
        if len(self._kept) > 2 * self.max_bytes:
            del self._kept[: -self.max_bytes]

    @property
    def text(self) -> str:
        """What is kept, as text, without the secrets that the server was given."""
        kept = bytes(self._kept[-self.max_bytes :])
        if self.total_bytes > self.max_bytes:
            kept = kept.partition(b"\n")[2]  # the half of a line may begin with the half of a secret
        return self._secrets.text(kept.decode("utf-8", errors="replace"))

    def tail(self, lines: int = 5, characters: int = 600) -> str:
        """Return the last lines that are not blank, for messages."""
        kept = [line.rstrip() for line in self.text.splitlines() if line.strip()]
        return "\n".join(kept[-lines:])[-characters:]


@dataclass(slots=True)
class Counters:
    """What a peer did wrong on this link without losing it; exact, for status and metrics."""

    noise_lines: int = 0
    """Lines on stdout that are not JSON-RPC (R-04)."""
    strays: int = 0
    """Answers nobody waits for: late, doubled, or with a wrong id (R-06)."""
    malformed: int = 0
    """Answers with neither or both of result and error (a06)."""
    oversized: int = 0
    """Messages or streams longer than `max_body_bytes`."""


class Transport(Protocol):
    """Carries frames to one server. Not reused: after `close` or `lost` a new one is made."""

    counters: Counters
    logs: LogRing
    secrets: SecretValues
    """What this server was given and must not say to anybody else; what comes from it is cleaned of that as it is read
    (S-34)."""

    @property
    def unfinished_bytes(self) -> int:
        """What has arrived of a message that is not whole."""
        ...

    async def open(self, inbox: Inbox) -> None:
        """Launch or dial. Raises LinkError."""
        ...

    async def exchange(self, call: Outgoing) -> JsonObject:
        """Send a request and return the message that answers it.

        Raises:
            LinkError: no answer came; says whether the request can have been delivered.
        """
        ...

    async def send(self, body: bytes, *, version: str) -> None:
        """Send a notification, or an answer to a server's request. Raises LinkError."""
        ...

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Tell the server that nobody waits any more; never blocks, never raises."""
        ...

    def listen(self, version: str) -> None:
        """Start hearing what the server says of itself, where that takes a stream of its own (legacy HTTP)."""
        ...

    async def close(self) -> None:
        """End gracefully, then by force; returns within its own bounds and leaves nothing behind (H14)."""
        ...
