"""uvicorn's HTTP protocol with a shorter way to each answer, since that way was half of what a forwarded call cost.

* An answer's head and the first piece of its body go out in one write: each write is a system call.
* A head is checked as a whole, not name by name and value by value.
* Handlers find the client's connection in `scope["extensions"]` (`naru.gateway.sessions.exchange.Client`), so that
  hearing of its end takes no task that waits for it, and a piece of a stream goes out where it arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from naru.gateway.sessions.asgi import CLIENT

KEEP_ALIVE_SECONDS = 75
"""How long a connection may stay idle. Longer than proxies keep theirs (nginx and most load balancers 60 s): where the
server ends first, a request can meet a connection that is being closed, and a POST is not sent again (a 502)."""

_JOINED_BYTES = 64 << 10
"""A longer body is written by itself: copying it would cost more than the call."""


class OneWriteProtocol(HttpToolsProtocol):
    """What `uvicorn.Config(http=…)` takes."""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the request."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Start the application on a request whose head has arrived."""
        parser, scope = self.parser, self.scope
        if parser.should_upgrade() or self.limit_concurrency is not None:
            super().on_headers_complete()
            return
        version = scope["http_version"] = parser.get_http_version()
        scope["method"] = parser.get_method().decode("ascii")
        scope["path"], scope["raw_path"], scope["query_string"] = _target(self.url, self.root_path)
        before, client = self.cycle, Connection(self.transport, self.flow)
        scope["extensions"] = {CLIENT: cast("dict[object, object]", client)}
        self.cycle = cycle = Cycle(
            scope=scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=dict(self.headers).get(b"expect", b"").lower() == b"100-continue",
            keep_alive=version != "1.0" and parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        cycle.client = client
        if before is None or before.response_complete:
            self._start_asgi_task(cycle, self.app)
        else:  # the client sends requests ahead: one after the other
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits for it that the client is gone."""
        super().connection_lost(exc)
        if isinstance(self.cycle, Cycle) and self.cycle.disconnected:
            self.cycle.client.lost()


class Connection:
    """The connection that a request came on, as `naru.gateway.sessions.exchange.Client`."""

    __slots__ = ("_flow", "_tell", "_transport", "begun")

    def __init__(self, transport: asyncio.Transport, flow: FlowControl) -> None:
        self._transport = transport
        self._flow = flow
        self._tell: Callable[[], None] | None = None
        self.begun: Cycle | None = None
        """The answer, from its head to its end."""

    def when_gone(self, tell: Callable[[], None] | None) -> None:
        """Have the end of the connection told, if it comes before the end of the answer; None takes that back."""
        self._tell = tell
        if tell is not None:
            self._flow.resume_reading()  # a long body may have paused it, and who does not read hears of no end

    def put(self, body: bytes) -> bool:
        """Write a further piece of the answer that was begun; False where that has to wait, or nobody hears it."""
        if self.begun is None or self._flow.write_paused:
            return False
        self.begun.go_on(body, more=True)
        return True

    def drop(self) -> None:
        """Break the connection off."""
        self._transport.abort()

    def lost(self) -> None:
        """Tell."""
        self.begun = None
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()


class Cycle(RequestResponseCycle):
    """One request and its answer."""

    client: Connection
    ends_by_close = False
    """Nothing but the connection's end says where the body ends."""
    _head = b""

    async def send(self, message: Any) -> None:
        """Take a piece of the answer (ASGI)."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if not self.response_started and kind == "http.response.start":
            self._begin(message["status"], [*self.default_headers, *message.get("headers", ())])
        elif self.response_started and not self.response_complete and kind == "http.response.body":
            self.go_on(message.get("body", b""), more=message.get("more_body", False))
        else:
            raise RuntimeError(f"Unexpected ASGI message {kind!r}.")

    def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Make the head, and keep it for the next write or the end of this turn of the event loop."""
        self.response_started = True
        self.client.begun = self
        self.waiting_for_100_continue = False
        by_name = dict(headers)
        length = by_name.get(b"content-length")
        if length is not None:
            self.chunked_encoding = False
            self.expected_content_length = int(length)
        elif b"transfer-encoding" in by_name:
            self.chunked_encoding = by_name[b"transfer-encoding"].lower() == b"chunked"
        elif self.scope["method"] != "HEAD" and status not in (204, 304):
            self.ends_by_close = self.scope["http_version"] == "1.0"  # which knows no chunks
            if not self.ends_by_close:
                self.chunked_encoding = True
                headers.append((b"transfer-encoding", b"chunked"))
        if b"close" in by_name.get(b"connection", b"").lower():
            self.keep_alive = False
        elif not self.keep_alive:
            headers.append((b"connection", b"close"))
        fields = b"".join([b"%b: %b\r\n" % field for field in headers])
        if fields.count(b"\n") != len(headers) or fields.count(b"\r") != len(headers) or b"\0" in fields:
            raise RuntimeError("Invalid HTTP header.")
        self._head = b"%b%b\r\n" % (STATUS_LINE[status], fields)
        asyncio.get_running_loop().call_soon(self._flush)

    def go_on(self, body: bytes, *, more: bool) -> None:
        """Write a piece of the body."""
        if self.scope["method"] == "HEAD":
            body, self.expected_content_length = b"", 0
        elif self.chunked_encoding:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if not more:
                body += b"0\r\n\r\n"
        elif not self.ends_by_close:
            self.expected_content_length -= len(body)
            if self.expected_content_length < 0:
                raise RuntimeError("Response content longer than Content-Length")
        if self._head and len(body) <= _JOINED_BYTES:
            body, self._head = self._head + body, b""
        self._flush()
        if body:
            self.transport.write(body)
        if not more:
            self._complete()

    def _complete(self) -> None:
        if self.expected_content_length:
            raise RuntimeError("Response content shorter than Content-Length")
        self.response_complete = True
        self.client.begun = None
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            if not self.transport.is_closing():
                self.transport.write(head)


@lru_cache(maxsize=512)
def _target(url: bytes, root: str) -> tuple[str, bytes, bytes]:
    """Return path, raw path and query of what a request asks for."""
    parsed = httptools.parse_url(url)
    path = parsed.path.decode("ascii")
    return root + unquote(path), root.encode("ascii") + parsed.path, parsed.query or b""
