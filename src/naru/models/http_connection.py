"""One HTTP/1.1 connection to a model endpoint: a request out in one write, the answer's body in the pieces that arrive.

The chat proxy's own client: on its path a general one costs as much as all the rest (decision 0121).
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from typing import Protocol, cast

import httptools

from naru.errors import ModelError
from naru.models.endpoint import ERROR_BODY_BYTES
from naru.models.failures import failure

_REST_SECONDS = 0.05
"""How long the end of a body may take after its last event; a connection whose body has ended is used again."""
_BUFFERED_BYTES = 1 << 18
"""So much may wait for a slow reader before the endpoint is held up."""
_INFLATED_BYTES = 1 << 20


class Owner(Protocol):
    """Whoever keeps the connections: see `HttpPool`."""

    where: str
    timeout_seconds: float

    def take_back(self, connection: Connection) -> None:
        """Keep a connection that can take another request."""
        ...

    def forget(self, connection: Connection) -> None:
        """Drop a connection that is closed."""
        ...


class Answer:
    """An endpoint's answer: its head is here, its body comes in pieces."""

    __slots__ = ("_connection", "_inflater", "_is_released", "content_type", "headers", "status")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.status = connection.status
        self.headers: Mapping[str, str] = connection.headers
        """By lower-case name."""
        self.content_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._is_released = False
        self._inflater = _inflater(self.headers.get("content-encoding", ""), connection.where)

    async def read(self) -> bytes:
        """Return what has arrived, all of it; nothing at the end of the body.

        Raises:
            ModelError: the endpoint broke off or went silent.
        """
        if self._inflater is None:
            return await self._connection.read()
        while True:
            rest = self._inflater.unconsumed_tail
            piece = rest or await self._connection.read()
            if not piece:
                return b""
            try:
                data = self._inflater.decompress(piece, _INFLATED_BYTES)
            except zlib.error as error:
                raise failure("broken_off", f"{self._connection.where} sent a body that is no gzip: {error}.") from None
            if data:
                return data

    async def read_some(self, limit_bytes: int = ERROR_BODY_BYTES) -> bytes:
        """Read the body up to a limit."""
        pieces: list[bytes] = []
        left = limit_bytes
        while left > 0 and (piece := await self.read()):
            pieces.append(piece[:left])
            left -= len(piece)
        return b"".join(pieces)

    def release(self) -> None:
        """Let go: the connection is used again when its body has ended or does so in a moment, else it is closed."""
        self._let_go(_REST_SECONDS)

    def close(self) -> None:
        """Close the connection unless the body has ended: nobody wants the rest."""
        self._let_go(0.0)

    def _let_go(self, rest_seconds: float) -> None:
        if not self._is_released:  # Afterwards the connection may be another request's.
            self._is_released = True
            self._connection.release(rest_seconds)


def _inflater(encoding: str, where: str) -> zlib._Decompress | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    raise failure("not_an_api", f"{where} answered in the encoding {encoding[:40]!r}, which nobody asked for.")


class Connection(asyncio.Protocol):
    """One connection: one request at a time, and the bytes of its answer as they come."""

    def __init__(self, owner: Owner) -> None:
        self.where = owner.where
        self.status = 0
        self.headers: dict[str, str] = {}
        self.idle_since = 0.0
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._pieces: list[bytes] = []
        self._waiting_bytes = 0
        self._is_paused = self._is_kept = False
        self._has_head = self._begun = False
        self._complete = True
        self._error: ModelError | None = None
        self._heard_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._draining: asyncio.TimerHandle | None = None

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class.

    def data_received(self, data: bytes) -> None:
        """Read what arrived, wake who waits for it."""
        self._heard_at = self._loop.time()
        self._begun = True
        if self._complete:  # Nobody asked for anything.
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"{self.where} answered with something that is not HTTP ({error}).", code="not_an_api")
            self.abort()
        if self._waiting_bytes > _BUFFERED_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """End the body that lasts until the connection does; any other is broken off."""
        self._transport = None
        self._owner.forget(self)
        if not self._complete:
            if error is None and self._has_head and self._ends_with_connection():
                self._complete = True
            else:
                reason = f": {error}" if error is not None and str(error) else ""
                self._fail(f"{self.where} broke off its answer{reason}.")
        for timer in (self._watch, self._draining):
            if timer is not None:
                timer.cancel()
        self._watch = self._draining = None
        self._wake()

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Close a connection on which more comes than was asked for."""
        if self._complete:
            self._is_kept = False
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; repeated ones are joined."""
        if self._complete:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        """Tell the status, unless it is one of those that come before the answer's own."""
        if self._complete:
            return
        self.status = self._parser.get_status_code()
        if 100 <= self.status < 200:
            self.headers = {}
        else:
            self._has_head = True

    def on_body(self, body: bytes) -> None:
        """Keep a piece."""
        if self._complete:
            return
        self._pieces.append(body)
        self._waiting_bytes += len(body)

    def on_message_complete(self) -> None:
        """End the answer."""
        if self._complete or not self._has_head:
            return
        self._complete = True
        self._is_kept = self._parser.should_keep_alive()  # The parser can tell in this callback only.
        if self._draining is not None:
            self._draining.cancel()
            self._draining = None
            self._give_back()

    # What the pool and the answer call.

    @property
    def is_open(self) -> bool:
        """The connection can take a request."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, data: bytes) -> Answer | None:
        """Send a request, wait for the head of its answer; None when the connection closed before a byte of it.

        Raises:
            ModelError: see `Answer.read`.
        """
        assert self._transport is not None
        self.headers, self._pieces, self._waiting_bytes = {}, [], 0
        self._complete = self._has_head = self._begun = self._is_kept = False
        self._heard_at = self._loop.time()
        if self._watch is None:
            self._watch = self._loop.call_later(self._owner.timeout_seconds, self._look)
        self._transport.write(data)
        try:
            while not self._has_head:
                if self._error is not None:
                    if not self._begun and self._error.code == "broken_off":
                        return None
                    raise self._error
                await self._wait()
            return Answer(self)
        except BaseException:
            self.abort()
            raise

    async def read(self) -> bytes:
        """Return all pieces that have arrived."""
        while not self._pieces:
            if self._error is not None:
                raise self._error
            if self._complete:
                return b""
            await self._wait()
        pieces, self._pieces, self._waiting_bytes = self._pieces, [], 0
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def release(self, rest_seconds: float) -> None:
        """Give the connection back when the body has ended or ends in time, else close it."""
        if self._complete:
            self._give_back()
        elif rest_seconds and self._error is None and not self._is_paused:
            self._draining = self._loop.call_later(rest_seconds, self.abort)
        else:
            self.abort()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _give_back(self) -> None:
        self._pieces = []
        if self._is_paused or self._error is not None or not self._is_kept:
            self.abort()
        elif self.is_open:
            self._owner.take_back(self)

    def _ends_with_connection(self) -> bool:
        return "content-length" not in self.headers and "chunked" not in self.headers.get("transfer-encoding", "")

    def _fail(self, message: str, code: str = "broken_off") -> None:
        if self._error is None:
            self._error = failure(code, message)

    def _look(self) -> None:
        """Give up on an endpoint that has said nothing for too long; one timer serves all answers."""
        self._watch = None
        if self._complete:
            return
        limit = self._owner.timeout_seconds
        due = self._heard_at + limit
        if self._is_paused:  # It is our reader that is slow.
            due = self._loop.time() + limit
        if self._loop.time() >= due:
            self._fail(f"{self.where} sent nothing for {limit:g} s.", code="overloaded")
            self.abort()
            self._wake()
        else:
            self._watch = self._loop.call_at(due, self._look)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
