"""One client request while it is answered: who asks, in which era, and where its own traffic goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from naru.facts import fact
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.upstream import Envelope
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.headers import Headers
from naru.gateway.wire.protocol import (
    ASK_CAPABILITY,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    META_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    META_VERSION,
    METHOD_NOT_FOUND,
    RpcError,
    has,
    log_passes,
    meta_of,
)
from naru.messages import Json, JsonObject

if TYPE_CHECKING:
    from starlette.types import Send

Emit = Callable[[Frame], None]
Counted = Callable[[], Awaitable[float]]
"""Counts one more request of a caller; returns the seconds to wait, 0 when it may pass."""


class ElsewhereError(Exception):
    """Another hub holds what the request is about."""

    def __init__(self, member: str) -> None:
        super().__init__(member)
        self.member = member


@dataclass(slots=True, eq=False)
class Exchange:
    """Who asks, and how. Made once per request; a parked call is handed to the exchange of its retry."""

    caller: str
    view: str
    """Server whose face was addressed; empty for all of them."""
    version: str
    capabilities: JsonObject
    client: JsonObject
    emit: Emit
    """Writes a frame to this request's own stream."""
    session: Session | None = None
    log_level: str = ""
    request_id: Json = None
    progress_token: Json = None
    headers: Headers | None = None
    ask_timeout_seconds: float = 600.0
    can_ask: bool = True
    """False where the transport has no way back to the client."""
    server_info: JsonObject = field(default_factory=dict)
    """What a stateless client is told in each result of whom it talks to."""
    address: Callable[[], str] | None = None
    """Returns the base address by which the client came to Naru; None where it did not come over HTTP."""

    @property
    def modern(self) -> bool:
        """Whether the client speaks the stateless era."""
        return self.session is None

    @property
    def envelope(self) -> Envelope:
        """What a stateless server is told about the client."""
        level = self.log_level or ("" if self.modern else "debug")
        return Envelope(self.capabilities, self.client, level, self.caller, in_session=not self.modern)

    @property
    def peer(self) -> object:
        """Whom `ask` asks: the session, or only this request."""
        return self if self.session is None else self.session

    def may_be_asked(self, method: str, params: JsonObject) -> bool:
        """Whether the client declared that it can be asked this."""
        return may_be_asked(self.capabilities, method, params)

    # A Relay: the traffic of the request that is under way upstream.

    def progress(self, params: JsonObject) -> None:
        """Pass a progress note on under the client's own token."""
        if self.progress_token is not None:
            params = {**params, "progressToken": self.progress_token}
            self.emit(frames.notification("notifications/progress", params))

    def notify(self, method: str, params: JsonObject) -> None:
        """Pass a notification on, if this client may see it."""
        if method == "notifications/message":
            if (self.modern and not self.log_level) or not log_passes(params.get("level"), self.log_level):
                return
        elif self.modern and not method.startswith("notifications/tasks"):
            return
        self.emit(frames.notification(method, params))

    async def ask(self, method: str, params: JsonObject) -> Json:
        """Ask the client on this request's stream. Raises RpcError."""
        if method not in ASK_CAPABILITY:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
        if not self.may_be_asked(method, params):
            wanted = ".".join(filter(None, (ASK_CAPABILITY[method], str(params.get("mode") or ""))))
            raise RpcError(METHOD_NOT_FOUND, f"The client did not declare the capability {wanted!r}.")
        needed = "url elicitation" if params.get("mode") == "url" else "sampling tools" if "tools" in params else ""
        if not has(self.version, needed):
            raise RpcError(INVALID_PARAMS, f"The client's version {self.version} has no {needed}.")
        if self.session is None or not self.can_ask:
            raise RpcError(INVALID_REQUEST, "This client cannot be asked while it waits for an answer.")
        return await self.session.ask(method, params, self.emit, self.ask_timeout_seconds)


class Client(Protocol):
    """The connection that a request came on."""

    def when_gone(self, tell: Callable[[], None] | None) -> None:
        """Have its end told, if it comes before the end of the answer; None takes that back."""
        ...

    def drop(self) -> None:
        """Break it off."""
        ...


@fact()
class Sender:
    """Who sends, as a face knows it before it reads the message."""

    caller: str = ""
    view: str = ""
    headers: Headers | None = field(default=None, compare=False)
    client: Client | None = field(default=None, compare=False)
    """None where the server does not hand out its connections: then only `receive` tells of their end."""
    address: Callable[[], str] | None = field(default=None, compare=False)
    """As `Exchange.address`."""
    held: Callable[[Send], Send] | None = field(default=None, compare=False)
    """Makes a `send` that ends with the key of the request, for streams that are held open; None where none ends."""
    counted: Counted | None = field(default=None, compare=False)
    """None where nothing is counted."""


def may_be_asked(capabilities: JsonObject, method: str, params: JsonObject) -> bool:
    """Tell whether a client declared that it can be asked this; a page only where it shows pages, a form likewise."""
    declared = capabilities.get(ASK_CAPABILITY.get(method, ""))
    if declared is None or method != "elicitation/create":
        return declared is not None
    modes = {"form", "url"}.intersection(declared if isinstance(declared, dict) else ()) or {"form"}
    return str(params.get("mode") or "form") in modes


def _token_of(meta: JsonObject) -> Json:
    """Return the token that progress is wanted under; what the protocol does not allow as one is none."""
    token = meta.get("progressToken")
    return token if isinstance(token, str | int | float) and not isinstance(token, bool) else None


def modern_exchange(message: JsonObject, sender: Sender, emit: Emit) -> Exchange:
    """Read the exchange of a stateless request from its own `_meta`, which has been checked."""
    meta = meta_of(message)
    client = meta.get(META_CLIENT)
    return Exchange(
        caller=sender.caller,
        view=sender.view,
        version=meta[META_VERSION],
        capabilities=meta[META_CAPABILITIES],
        client=client if isinstance(client, dict) else {},
        emit=emit,
        log_level=str(meta.get(META_LOG_LEVEL) or ""),
        request_id=message.get("id"),
        progress_token=_token_of(meta),
        headers=sender.headers,
        address=sender.address,
    )


def legacy_exchange(message: JsonObject, session: Session, emit: Emit) -> Exchange:
    """Return the exchange of a request within a session."""
    return Exchange(
        caller=session.caller,
        view=session.view,
        version=session.version or LEGACY_VERSIONS[-1],
        capabilities=session.capabilities,
        client=session.client,
        emit=emit,
        session=session,
        log_level=session.log_level,
        request_id=message.get("id"),
        progress_token=_token_of(meta_of(message)),
    )
