"""The seam downwards: what the gateway needs of one MCP server, and of all of them. Plain decoded JSON both ways."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from naru.connections.state.faults import Failure
from naru.facts import fact
from naru.messages import Json, JsonObject

ListKind = Literal["tools", "prompts", "resources", "templates"]


Watched = tuple[str, str, str]
"""A resource that somebody watches: its server, whose that is where it is a person's own, and its address there."""


class Relay(Protocol):
    """Where a request's own traffic goes while it runs: back to the one client that made it."""

    @property
    def caller(self) -> str:
        """The verified identity of that client."""
        ...

    @property
    def view(self) -> str:
        """Server whose face it uses; empty for the face of all of them."""
        ...

    @property
    def peer(self) -> object:
        """Whom `ask` asks: the same for all requests of one client."""
        ...

    def progress(self, params: JsonObject) -> None:
        """Take a progress note; its token is the server's side of it."""
        ...

    def notify(self, method: str, params: JsonObject) -> None:
        """Take any other notification that came for this request."""
        ...

    def ask(self, method: str, params: JsonObject) -> Awaitable[Json]:
        """Ask the client. Raises RpcError, which is the answer for the server."""
        ...


@fact()
class Envelope:
    """What a stateless server is told about the client behind a request."""

    capabilities: JsonObject
    client: JsonObject
    log_level: str = ""
    caller: str = ""
    """The verified identity, for Naru's own tools; never sent to a server (S-30)."""
    in_session: bool = False
    """The client has a session, so that it can be asked while it waits."""


class Upstream(Protocol):
    """One server, connected or not."""

    name: str
    owner: str
    """Whose it is, where it is a person's own; else empty."""

    @property
    def modern(self) -> bool:
        """Whether it speaks the stateless era."""
        ...

    @property
    def capabilities(self) -> JsonObject:
        """What it declared."""
        ...

    @property
    def instructions(self) -> str:
        """What it tells models about itself."""
        ...

    async def list(self, kind: ListKind) -> Sequence[JsonObject]:
        """Return one of its lists, all pages of it. Raises NaruError."""
        ...

    async def request(
        self, method: str, params: JsonObject, *, relay: Relay | None = None, envelope: Envelope | None = None
    ) -> JsonObject:
        """Send a request once and return the raw result; cancelling the caller cancels the request.

        Raises:
            RpcError: the server answered with an error (the gateway's own class).
            UpstreamError: no answer came.
        """
        ...

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification; a server that is away misses it."""
        ...

    async def subscribe(self, uri: str) -> None:
        """Ask for updates of a resource, again after every reconnect."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Ask for updates no longer."""
        ...

    async def set_log_level(self, level: str) -> None:
        """Ask for log messages from this level on, where the server has such a setting."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """Something a server said of itself, or that became of it."""

    server: str
    kind: Literal["tools", "prompts", "resources", "servers", "updated", "message"]
    params: JsonObject | None = None
    owner: str = ""
    """Whose server it is, where it is a person's own."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Why the server that a tool's name speaks of cannot be used; empty where there is none, or it can."""

    why: str = ""
    server: str = ""
    failure: Failure | None = None


class Upstreams(Protocol):
    """All servers that can be used now."""

    log_level: str
    """The least severe log message that servers which come later are asked for; empty asks for none."""

    def usable(self) -> Sequence[Upstream]:
        """Return those connected, in a stable order."""
        ...

    def find(self, name: str) -> Upstream | None:
        """Return one of that name, usable or not."""
        ...

    def of(self, name: str, owner: str) -> Upstream | None:
        """Return the one that was found for an owner, whoever asks now."""
        ...

    async def awaited(self, tool: str) -> Absence:
        """Wait a moment for the server that an unknown tool's name speaks of; return why it cannot be used, if so."""
        ...

    def may_sign_in(self, server: str) -> bool:
        """Tell whether who asks now may sign in at a server in the console, and whether that would count there."""
        ...

    @property
    def whose(self) -> str:
        """What tells apart those who see other things of some server; empty where all see the same."""
        ...

    async def arrive(self) -> None:
        """Wait a moment for servers of the asker's own that are being connected for them."""
        ...

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Tell of every change from now on; returns what ends that."""
        ...
