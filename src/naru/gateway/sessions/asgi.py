"""What the HTTP faces share: who asks, the body within its limit, and plain answers. No framework on the hot path."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from naru.gateway.sessions.exchange import Counted, Sender
from naru.gateway.wire import frames
from naru.gateway.wire.headers import Headers
from naru.gateway.wire.protocol import INVALID_REQUEST, RpcError
from naru.messages import Json

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

RawHeaders = Iterable[tuple[bytes, bytes]]
JSON_TYPE = (b"content-type", b"application/json")


CLIENT = "naru.client"
"""Key of `scope["extensions"]` under which our own server puts the client's connection (`exchange.Client`)."""


HELD = "held"
"""Key of `scope["state"]` under which the gate puts what makes a `send` end with the key of its request."""


COUNTED = "counted"
"""Key of `scope["state"]` under which the gate puts what counts one more request (`exchange.Sender.counted`)."""


async def count_more(counted: Counted | None, number: int) -> float:
    """Count so many more requests of a caller; return the seconds to wait, 0 when all may pass."""
    for _ in range(number if counted is not None else 0):
        if counted is not None and (wait := await counted()) > 0:
            return wait
    return 0.0


class ClientGoneError(Exception):
    """The client left before its request was read."""


def sender_of(scope: Scope, headers: Headers) -> Sender:
    """Return who asks, as the gate before us found out, and which server's face was addressed."""
    state = scope.get("state", {})
    principal = state.get("principal")
    view = str(scope.get("path_params", {}).get("name", ""))
    client = scope.get("extensions", {}).get(CLIENT)
    caller, address = str(getattr(principal, "id", "")), partial(address_seen, scope)
    return Sender(caller, view, headers, client, address, state.get(HELD), state.get(COUNTED))


def address_seen(scope: Scope) -> str:
    """Return the base address by which the client came, without a slash at its end; its host was judged by the gate."""
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    return f"{scope.get('scheme', 'http')}://{host}{scope.get('root_path', '')}"


async def read_body(receive: Receive, limit: int) -> bytes:
    """Read the request's body.

    Raises:
        RpcError: it is longer than the limit.
        ClientGoneError: the client left.
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body") and len(body) <= limit:
        return body
    parts, length = [], 0
    while True:
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > limit:
            raise RpcError(INVALID_REQUEST, f"The message is longer than {limit} bytes.")
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()


async def respond(send: Send, status: int, body: bytes = b"", headers: RawHeaders = (), *, json: bool = True) -> None:
    """Send a whole answer."""
    fields = [(b"content-length", b"%d" % len(body)), *headers]
    if body and json:
        fields.append(JSON_TYPE)
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def refuse(
    send: Send, status: int, error: RpcError, *, request_id: Json = None, headers: RawHeaders = ()
) -> None:
    """Send an error, as JSON-RPC in the body so that every client can show it."""
    await respond(send, status, frames.failure(request_id, error), headers)


def accepts(headers: Headers) -> tuple[bool, bool]:
    """Return whether the client takes JSON, and event streams; one that says nothing takes both."""
    return _accepted(headers.get("accept", "*/*"))


@lru_cache(maxsize=256)
def _accepted(accept: str) -> tuple[bool, bool]:
    accept = accept.lower()
    if not accept or "*/*" in accept:
        return True, True
    return (
        "application/json" in accept or "application/*" in accept,
        "text/event-stream" in accept or "text/*" in accept,
    )
