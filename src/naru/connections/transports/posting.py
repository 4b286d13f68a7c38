"""POSTs over kept HTTP/1.1 connections: the call path's own client, since a general one costs more than all the rest.

It knows what JSON-RPC over HTTP needs and no more: one request at a time on a connection, a body that is there already,
a reply that is read as it arrives. Redirects, cookies, proxies and retries are nobody's business here.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import httptools
from multidict import CIMultiDict
from yarl import URL

from naru import __version__

IDLE_SECONDS = 15.0
"""How long a connection is kept for the next request."""
LINGER_SECONDS = 1.0
"""How long the rest of a reply that nobody reads may take to arrive."""
MAX_HEAD_BYTES = 64 * 1024
MAX_WAITING_BYTES = 256 * 1024
"""What is read ahead of a reader that is slow."""


class DialError(OSError):
    """No connection came about, so nothing was sent; `__cause__` says why."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a URL leads."""

    host: str
    port: int
    tls: bool


_Key = tuple[Address, ssl.SSLContext | None]


class Reply:
    """One response: status and headers at once, the body as it arrives."""

    __slots__ = ("_chunks", "_connection", "_error", "_is_abandoned", "_more", "_size", "headers", "is_whole", "status")

    def __init__(self, connection: _Connection) -> None:
        self.status = 0
        self.headers: CIMultiDict[str] = CIMultiDict()
        self.is_whole = False
        """All of the body has arrived."""
        self._connection = connection
        self._chunks: list[bytes] = []
        self._size = 0
        self._more: asyncio.Future[None] | None = None
        self._error: OSError | None = None
        self._is_abandoned = False

    @property
    def content_type(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("Content-Type", "application/octet-stream").split(";", 1)[0].strip().lower()

    @property
    def content_length(self) -> int | None:
        """The announced length."""
        value = self.headers.get("Content-Length", "")
        return int(value) if value.isascii() and value.isdigit() else None

    def take(self) -> bytes:
        """Return what has arrived since the last look."""
        chunks, self._chunks = self._chunks, []
        self._size = 0
        self._connection.resume()
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises OSError when it is cut short."""
        while True:
            if self._chunks:
                yield self.take()
            elif self.is_whole:
                return
            elif self._error is not None:
                raise self._error
            else:
                self._more = asyncio.get_running_loop().create_future()
                await self._more

    def release(self) -> None:
        """Read no further; the connection is kept if the rest arrives soon."""
        self._is_abandoned = True
        self._chunks.clear()
        if not self.is_whole:
            self._connection.linger()

    def close(self) -> None:
        """Read no further, and let the server know: a reply that is not whole takes its connection with it."""
        self._is_abandoned = True
        if not self.is_whole:
            self._connection.close()

    # What the connection calls

    def feed(self, data: bytes) -> bool:
        """Take a piece of the body; False when more of it than enough waits."""
        if self._is_abandoned:
            return True
        self._chunks.append(data)
        self._size += len(data)
        self._wake()
        return self._size <= MAX_WAITING_BYTES

    def end(self, error: OSError | None) -> None:
        """Take the end of the body, good or bad."""
        self.is_whole, self._error = error is None, error
        self._wake()

    def _wake(self) -> None:
        more, self._more = self._more, None
        if more is not None and not more.done():
            more.set_result(None)


class _Connection(asyncio.Protocol):
    """One connection, which its pool keeps between requests."""

    def __init__(self, idle: deque[_Connection]) -> None:
        self.idle_since = 0.0
        self.is_closed = False
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        # Servers written by hand are careless about line ends; nothing is shared with others here.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._reply: Reply | None = None
        self._begun: asyncio.Future[None] | None = None
        self._pairs: list[tuple[str, str]] = []
        self._head_bytes = 0
        self._is_interim = False
        self._is_paused = False
        self._lingering: asyncio.TimerHandle | None = None

    async def ask(self, request: bytes) -> Reply:
        """Send a request, return its reply once the headers are there. Raises OSError."""
        transport = self._transport
        if transport is None or self.is_closed:
            raise ConnectionResetError("Server disconnected")
        self._reply = reply = Reply(self)
        self._begun = self._loop.create_future()
        self._head_bytes = 0
        transport.write(request)
        try:
            await self._begun
        except BaseException:
            self.close()
            raise
        return reply

    def resume(self) -> None:
        """Read on after the reader has caught up."""
        if self._is_paused and self._transport is not None and not self.is_closed:
            self._is_paused = False
            self._transport.resume_reading()

    def linger(self) -> None:
        """Wait a moment for the rest of a reply that nobody reads."""
        self.resume()
        if self._lingering is None:
            self._lingering = self._loop.call_later(LINGER_SECONDS, self.close)

    def close(self) -> None:
        """Close at once."""
        if self.is_closed:
            return
        self.is_closed = True
        if self in self._idle:
            self._idle.remove(self)
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's transports are no subclass of asyncio's

    def data_received(self, data: bytes) -> None:
        reply = self._reply
        if reply is None:
            self.close()  # nobody asked
            return
        if reply.status == 0:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(ConnectionError(f"the reply is not HTTP: {error}"))
        if reply.status == 0 and self._head_bytes > MAX_HEAD_BYTES:
            self._fail(ConnectionError(f"the reply's headers are longer than {MAX_HEAD_BYTES} bytes"))

    def eof_received(self) -> bool:
        self._lost(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(exc)

    def _lost(self, exc: Exception | None) -> None:
        self.close()
        if self._lingering is not None:
            self._lingering.cancel()
        reply, self._reply = self._reply, None
        if reply is None:
            return
        headers = reply.headers
        if reply.status and exc is None and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
            reply.end(None)  # a body without a length ends with its connection
            return
        self._end_with(reply, ConnectionResetError(f"Server disconnected{f': {exc}' if exc else ''}"))

    def _fail(self, error: OSError) -> None:
        self.close()
        reply, self._reply = self._reply, None
        if reply is not None:
            self._end_with(reply, error)

    def _end_with(self, reply: Reply, error: OSError) -> None:
        reply.end(error)
        if self._begun is not None and not self._begun.done():
            self._begun.set_exception(error)

    # What the parser calls

    def on_message_begin(self) -> None:
        self._pairs = []
        if self._reply is None:
            self.close()  # more than was asked for

    def on_header(self, name: bytes, value: bytes) -> None:
        self._pairs.append((name.decode("latin-1"), value.decode("utf-8", "surrogateescape").strip(" \t")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        self._is_interim = 100 <= status < 200
        reply = self._reply
        if reply is None or self._is_interim:
            return
        reply.headers = CIMultiDict(self._pairs)
        reply.status = status
        if self._begun is not None and not self._begun.done():
            self._begun.set_result(None)

    def on_body(self, body: bytes) -> None:
        if self._reply is not None and not self._reply.feed(body) and not self._is_paused:
            self._is_paused = True
            assert self._transport is not None
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._is_interim:
            return
        reply, self._reply = self._reply, None
        if reply is None:
            return
        reply.end(None)
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if not self._parser.should_keep_alive():
            self.close()
        elif not self.is_closed:
            self.resume()
            self.idle_since = self._loop.time()
            self._idle.append(self)


class Poster:
    """All kept connections, by address."""

    def __init__(self, *, connect_timeout_seconds: float) -> None:
        self._connect_timeout_seconds = connect_timeout_seconds
        self._idle: dict[_Key, deque[_Connection]] = {}
        self._tls: ssl.SSLContext | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def post(
        self, url: URL, body: bytes, headers: Mapping[str, str], *, authorities: ssl.SSLContext | None = None
    ) -> Reply:
        """Send a request over a kept connection or a new one; `authorities` takes the place of the system's.

        Raises:
            DialError: no connection came about.
            OSError: it broke off before the reply began.
            ValueError: a header cannot be sent.
        """
        address, start = _start(url, tuple(headers))
        lines = [start]
        lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
        lines.append(f"Content-Length: {len(body)}\r\n\r\n")
        head = "".join(lines).encode()
        ends = start.count("\n") + len(headers) + 2
        if head.count(b"\n") != ends or head.count(b"\r") != ends or b"\0" in head:
            raise ValueError("a header's value has a line break")
        key = (address, authorities)
        connection = self._kept(key) or await self._dial(key)
        return await connection.ask(head + body)

    def close(self) -> None:
        """Close every idle connection."""
        for idle in self._idle.values():
            for connection in list(idle):
                connection.close()
        self._idle.clear()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    def _kept(self, key: _Key) -> _Connection | None:
        idle = self._idle.get(key)
        return idle.pop() if idle else None

    async def _dial(self, key: _Key) -> _Connection:
        loop = asyncio.get_running_loop()
        idle = self._idle.setdefault(key, deque())
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_SECONDS / 2, self._sweep)
        address, tls = key
        if address.tls and tls is None:
            tls = self._tls = self._tls or await asyncio.to_thread(_tls_context)
        try:
            async with asyncio.timeout(self._connect_timeout_seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(idle), address.host, address.port, ssl=tls if address.tls else None
                )
        except OSError as error:
            raise DialError(str(error)) from error
        return connection

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        for key, idle in list(self._idle.items()):
            while idle and idle[0].idle_since < loop.time() - IDLE_SECONDS:
                idle[0].close()
            if not idle:
                del self._idle[key]
        self._sweeper = loop.call_later(IDLE_SECONDS / 2, self._sweep) if self._idle else None


def _tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@lru_cache(maxsize=1024)
def _start(url: URL, names: tuple[str, ...]) -> tuple[Address, str]:
    """Return where a request goes, and its first lines: what the caller's own headers do not say."""
    given = {name.lower() for name in names}
    address = Address(url.raw_host or "", url.port or 80, url.scheme == "https")
    lines = [f"POST {url.raw_path_qs} HTTP/1.1"]
    if "host" not in given:
        host = f"[{address.host}]" if ":" in address.host else address.host
        lines.append(f"Host: {host}" if url.is_default_port() else f"Host: {host}:{address.port}")
    if "user-agent" not in given:
        lines.append(f"User-Agent: naru/{__version__}")
    if "accept-encoding" not in given:
        lines.append("Accept-Encoding: identity")
    if url.user is not None and "authorization" not in given:
        secret = f"{url.user}:{url.password or ''}".encode()
        lines.append(f"Authorization: Basic {b64encode(secret).decode()}")
    return address, "\r\n".join(lines) + "\r\n"
