"""One HTTP/1.1 connection: a request out in one write, its reply's pieces as they come, then the next request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol, cast

import httptools

from naru.deadlines import owed, uptime
from naru.http1.faults import CutError, ExchangeError, NotHttpError, SilenceError, UnansweredError
from naru.http1.reply import Fault, Reply

MAX_HEAD_BYTES = 64 * 1024
"""Of a head, and of what stands between two pieces of a body or behind it: chunks' extensions, trailers."""
MAX_WAITING_BYTES = 256 * 1024
"""What is read ahead of a slow reader before the server is held up, and at most of a rest that nobody reads."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each thing may take, in seconds."""

    connect_seconds: float = 10.0
    silence_seconds: float | None = None
    """Between two pieces of a reply; None leaves the deadline to the caller."""
    linger_seconds: float = 1.0
    """For the rest of a reply that nobody reads."""
    idle_seconds: float = 15.0
    """How long a connection is kept for the next request; 0 for servers that close theirs though they say otherwise."""


class Owner(Protocol):
    """Whoever keeps the connections: see `Pool`."""

    limits: Limits
    fault: Fault

    def take_back(self, connection: Connection) -> None:
        """Keep a connection that can take another request."""
        ...

    def forget(self, connection: Connection) -> None:
        """Drop a connection that is closed."""
        ...


class Connection(asyncio.Protocol):
    """One connection, which its owner keeps between requests."""

    def __init__(self, owner: Owner) -> None:
        self.idle_since = 0.0
        self._owner = owner
        self._limits = owner.limits
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        # Servers written by hand are careless about line ends; nothing is shared with others here.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._reply: Reply | None = None
        """The one under way, until the last byte of its body."""
        self._pairs: list[tuple[str, str]] = []
        self._bare_bytes = 0
        """What came since the last piece of the body, but for the rest of what came with it."""
        self._is_interim = self._is_paused = False
        self._heard_at = 0.0
        self._was_away = False
        """The reply under way had more time, since nothing ran here when it was over."""
        self._watch: asyncio.TimerHandle | None = None
        self._lingering: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """The connection can take a request."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: bytes) -> Reply | ExchangeError:
        """Send a request, return its reply once the head is there, or what came in its place."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return UnansweredError("closed the connection without an answer")
        self._reply = reply = Reply(self, self._owner.fault)
        self._bare_bytes = 0
        self._was_away = False
        self._heard_at = self._loop.time()
        if self._watch is None and self._limits.silence_seconds is not None:
            self._watch = self._loop.call_later(self._limits.silence_seconds, self._look)
        transport.write(request)
        try:
            while not reply.status and not reply.error_for_head:
                await reply.next_news()
            return reply.error_for_head or reply
        except BaseException:
            self.abort()
            raise

    # What the reply calls.

    def resume(self) -> None:
        """Read on after the reader has caught up."""
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._heard_at = self._loop.time()
            self._transport.resume_reading()

    def linger(self) -> None:
        """Wait a moment for the rest of a reply that nobody reads, if it is short."""
        if self._is_paused:
            self.abort()
        else:
            self._lingering = self._loop.call_later(self._limits.linger_seconds, self.abort)

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()
        self._owner.forget(self)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class.

    def data_received(self, data: bytes) -> None:
        """Read what arrived, wake who waits for it."""
        reply = self._reply
        if reply is None:
            self.abort()  # Nobody asked for anything.
            return
        self._heard_at = self._loop.time()
        self._bare_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(NotHttpError(f"answered with something that is not HTTP ({error})"))
            return
        if self._bare_bytes > MAX_HEAD_BYTES and self._reply is reply:
            self._fail(NotHttpError(f"answered with headers longer than {MAX_HEAD_BYTES} bytes"))
        elif reply.waiting_bytes > MAX_WAITING_BYTES and self._reply is reply:
            self._hold_up(reply)
        if self._lingering is not None:
            reply.pieces.clear()
        reply.wake()

    def _hold_up(self, reply: Reply) -> None:
        if reply.is_abandoned:
            self.abort()
        elif not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Take the server's end for the connection's: no request goes out after it."""
        self._lose(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._lose(exc)
        self._transport = None

    def _lose(self, error: Exception | None) -> None:
        """End the body that lasts until the connection does; any other is broken off."""
        self.abort()
        for timer in (self._watch, self._lingering):
            if timer is not None:
                timer.cancel()
        self._watch = self._lingering = None
        reply, self._reply = self._reply, None
        if reply is None:
            return
        if reply.status and error is None and _ends_with_connection(reply):
            reply.end()
        elif not reply.status and self._bare_bytes == 0:
            reply.end(UnansweredError("closed the connection without an answer"))
        else:
            reply.end(CutError(f"broke off its answer{f': {error}' if error is not None and str(error) else ''}"))

    def _fail(self, error: ExchangeError) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.end(error)
        self.abort()

    def _look(self) -> None:
        """Give up on a server that has said nothing for too long; one timer serves all replies."""
        self._watch = None
        limit = self._limits.silence_seconds
        if self._reply is None or limit is None:
            return
        # While it is paused, it is our reader that is slow.
        now = self._loop.time()
        due = limit + (now if self._is_paused else self._heard_at)
        if not self._was_away and (more := owed(now - due)):
            self._was_away, due = True, now + more
        if now >= due:
            self._fail(SilenceError(f"sent nothing for {limit:g} s"))
        else:
            self._watch = self._loop.call_at(due, self._look)

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Start a head; close a connection on which more comes than was asked for."""
        self._pairs = []
        if self._reply is None:
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.decode("latin-1")
        self._pairs.append((name.decode("latin-1"), text.strip(" \t")))

    def on_headers_complete(self) -> None:
        """Tell the status, unless it is one of those that come before the reply's own."""
        status = self._parser.get_status_code()
        self._is_interim = 100 <= status < 200
        if self._reply is not None and not self._is_interim:
            self._reply.begin(status, self._pairs)

    def on_body(self, body: bytes) -> None:
        """Hand on a piece."""
        reply = self._reply
        self._bare_bytes = 0
        if reply is not None:
            reply.pieces.append(body)
            reply.waiting_bytes += len(body)

    def on_message_complete(self) -> None:
        """End the reply; its connection can take the next request, whether or not the body has been read."""
        if self._is_interim or self._reply is None:
            return
        reply, self._reply = self._reply, None
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._parser.should_keep_alive():  # It can tell in this callback only.
            if self._is_paused:
                self.resume()
            if self.is_open:
                self.idle_since = uptime()
                self._owner.take_back(self)
        else:
            self.abort()
        reply.end()


def _ends_with_connection(reply: Reply) -> bool:
    headers = reply.headers
    return "Content-Length" not in headers and "chunked" not in headers.get("Transfer-Encoding", "").lower()
