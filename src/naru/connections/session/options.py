"""What goes with one request to a server, and what a server asks while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from naru.facts import fact
from naru.messages import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """Something a server asks of us."""

    server: str
    method: str
    params: JsonObject


OnNotification = Callable[[str, JsonObject], None]
"""Gets method and params."""
OnRequest = Callable[[ServerRequest], Awaitable[JsonObject]]
"""Returns the result, or raises RpcError to answer with an error."""


@fact()
class RequestOptions:
    """What goes with one request."""

    timeout_seconds: float | None = None
    """Deadline of the whole request; None takes the connection's default."""
    progress_extends: bool = False
    """Each progress notification starts the deadline anew, up to the absolute limit (R-02)."""
    meta: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Extra HTTP headers; only `Mcp-Param-*` are let through, so that no credential of a client gets on (S-30)."""
    on_notification: OnNotification | None = None
    on_request: OnRequest | None = None
    caller: str = ""
    """Whose request it is, for servers with a link for each caller; never sent (S-30)."""
    client: object = None
    """Who gets what is asked while it runs; equal for all requests of one client."""
    in_session: bool = False
    """The client has a session: a server of both eras that may ask is talked to over one, too."""
    revision: int | None = None
    """Of the connection when the call was judged: a tool that changed since must still be offered (S-50)."""
    task: str = ""
    """The server's task that it waits for."""
    token: int = 0
    """What the server names it by in progress and questions, where several requests are one call; 0: its own id."""


DEFAULT_OPTIONS = RequestOptions()
