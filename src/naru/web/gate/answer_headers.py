"""What the gate adds to every answer: the request's id, what browsers are to do with it, and CORS for listed pages."""

from __future__ import annotations

from collections.abc import Awaitable, MutableMapping, Sequence
from typing import Any

from starlette.types import Message, Send

from naru.web.gate.incoming import EdgeHeaders

_NO_STORE = (b"cache-control", b"no-store")
CORS_HEADERS = (
    "Authorization, Content-Type, Accept, X-API-Key, X-Request-Id, Last-Event-ID, If-Match, "
    "Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, X-Mcp-Servers, X-Naru-Client, "
    "Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access"
)
CORS_EXPOSED = b"Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, ETag, X-Request-Id, Request-Id"


def with_headers(
    state: MutableMapping[str, Any],
    send: Send,
    headers: EdgeHeaders,
    said: Sequence[tuple[bytes, bytes]],
    *,
    foreign: bool,
) -> Send:
    """Return the `send` of an answer that adds its headers and writes its status into the request's state.

    Args:
        state: the request's.
        send: takes the answer.
        headers: the request's.
        said: headers of every answer.
        foreign: whether a listed page of another site asks.
    """
    request_id = headers.request_id.encode()
    extra = [*said, (b"x-request-id", request_id)]
    if headers.is_anthropics:
        extra.append((b"request-id", request_id))
    if foreign and headers.origin is not None:
        extra += [
            (b"access-control-allow-origin", headers.origin),
            (b"access-control-expose-headers", CORS_EXPOSED),
            (b"vary", b"Origin"),
        ]

    def told(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            state["status"] = message["status"]
            given = message.get("headers", ())
            added = extra if b"cache-control" in dict(given) else [*extra, _NO_STORE]
            message = {**message, "headers": [*given, *added]}
        return send(message)

    return told
