"""A reply: its head at once, its body in the pieces that arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from multidict import CIMultiDict

from naru.http1.faults import ExchangeError
from naru.http1.inflate import Inflater

Fault = Callable[[ExchangeError], Exception]
"""Makes the error that callers see, in their own tree."""
Take = Callable[[bytes], Awaitable[None] | None]
"""Takes a piece of a body; returns what must be waited for before it can take the next one, if anything."""
T = TypeVar("T")
_NO_HEADERS: CIMultiDict[str] = CIMultiDict()


class Source(Protocol):
    """Where a reply comes from, as long as it is under way: see `Connection`."""

    def resume(self) -> None:
        """Read on after the reader has caught up."""
        ...

    def linger(self) -> None:
        """Wait a moment for a rest that nobody reads."""
        ...

    def abort(self) -> None:
        """Close at once."""
        ...


class Reply:
    """One reply. Whoever got it calls `release` or `close` in the end; after the body's end both do nothing."""

    __slots__ = (
        "_error",
        "_fault",
        "_inflater",
        "_is_encoded",
        "_left",
        "_source",
        "_take",
        "_turn",
        "_waiter",
        "content_type",
        "headers",
        "is_whole",
        "pieces",
        "status",
        "waiting_bytes",
    )

    def __init__(self, source: Source, fault: Fault) -> None:
        self.status = 0
        self.headers = _NO_HEADERS
        self.content_type = ""
        """The media type, without parameters, in lower case."""
        self.is_whole = False
        """All of the body has arrived."""
        self.waiting_bytes = 0
        """Their length, and of what was thrown away because nobody reads it."""
        self._source: Source | None = source
        self._fault = fault
        self.pieces: list[bytes] = []
        """Of the body, not read yet; the connection adds to them, and `wake` tells the reader."""
        self._waiter: asyncio.Future[None] | None = None
        self._take: Take | None = None
        """Gets what arrives at once, in the place of a reader that would have to be woken."""
        self._turn: asyncio.Future[Awaitable[None] | None] | None = None
        """Ends when `_take` has something to wait for, and with the body."""
        self._error: ExchangeError | None = None
        self._is_encoded = self._left = False
        self._inflater: Inflater | None = None

    @property
    def content_length(self) -> int | None:
        """The announced length."""
        value = self.headers.get("Content-Length", "")
        return int(value) if value.isascii() and value.isdigit() else None

    async def read(self) -> bytes:
        """Return what has arrived, all of it, inflated in bounded pieces; nothing at the end of the body.

        Raises:
            ExchangeError: the reply broke off, or what the pool's `fault` makes of that.
        """
        return await (self._inflated() if self._is_encoded else self._read())

    async def read_some(self, limit_bytes: int) -> bytes:
        """Read the body up to a limit. Raises as `read`."""
        pieces: list[bytes] = []
        left = limit_bytes
        while left > 0 and (piece := await self.read()):
            pieces.append(piece[:left])
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def each(self, take: Take) -> None:
        """Have every piece of the body taken as it arrives: no task is woken for one, unless it must be waited for.

        Raises as `read`, and what `take` raises.
        """
        while not self._left and (piece := await self.read()):
            behind = take(piece)
            if behind is None and not self._is_encoded:
                behind = await self._handing_over(take)
            if behind is not None:
                await behind

    def leave(self) -> None:
        """Have `each` end with this piece, whatever of the body is still to come."""
        self._left = True

    async def _handing_over(self, take: Take) -> Awaitable[None] | None:
        """Let the connection call `take`, until it has something to wait for or the body has ended."""
        if self._left or self.pieces or self.is_whole or self._error is not None:
            return None
        self._take = take
        self._turn = asyncio.get_running_loop().create_future()
        try:
            return await self._turn
        finally:
            self._take = self._turn = None

    def take(self) -> bytes:
        """Return what has arrived since the last look, as it was sent."""
        pieces, self.pieces = self.pieces, []
        self.waiting_bytes = 0
        if self._source is not None:
            self._source.resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def release(self) -> None:
        """Read no further; the connection is kept if the rest arrives in a moment."""
        source, self._source = self._source, None
        if source is not None:
            source.linger()

    def close(self) -> None:
        """Read no further, and let the server know: a reply that is not whole takes its connection with it."""
        source, self._source = self._source, None
        if source is not None:
            source.abort()

    async def _read(self) -> bytes:
        while not self.pieces:
            if self._error is not None:
                raise self._fault(self._error)
            if self.is_whole:
                return b""
            await self.next_news()
        return self.take()

    async def _inflated(self) -> bytes:
        if self._inflater is None:
            encoding = ", ".join(self.headers.getall("Content-Encoding"))
            self._inflater = self._checked(lambda: Inflater.of(encoding))
            if self._inflater is None:
                return await self._read()
        inflater = self._inflater
        while piece := inflater.rest or await self._read():
            if data := self._checked(partial(inflater.feed, piece)):
                return data
        self._checked(inflater.close)
        return b""

    def _checked(self, inflate: Callable[[], T]) -> T:
        try:
            return inflate()
        except ExchangeError as error:
            told = self._fault(error)
        raise told

    # What the connection calls.

    def begin(self, status: int, pairs: list[tuple[str, str]]) -> None:
        """Take the head."""
        self.headers = CIMultiDict(pairs)
        self.status = status
        self._is_encoded = "Content-Encoding" in self.headers
        self.content_type = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        self.wake()

    @property
    def is_abandoned(self) -> bool:
        """Nobody reads any further."""
        return self._source is None

    def end(self, error: ExchangeError | None = None) -> None:
        """Take the end of the body, good or bad: the connection is not this reply's any more."""
        self._source = None
        self.is_whole, self._error = error is None, error
        self.wake()

    @property
    def error_for_head(self) -> ExchangeError | None:
        """What came in the head's place."""
        return self._error if self.status == 0 else None

    def next_news(self) -> asyncio.Future[None]:
        """Return what ends when something comes: the head, a piece, the end."""
        self._waiter = waiter = asyncio.get_running_loop().create_future()
        return waiter

    def wake(self) -> None:
        """Tell the reader that something has come."""
        if self._turn is not None:
            self._hand_over(self._turn)
            return
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _hand_over(self, turn: asyncio.Future[Awaitable[None] | None]) -> None:
        if turn.done():
            return
        try:
            behind = self._take(self.take()) if self._take is not None and self.pieces else None
        except Exception as error:  # noqa: BLE001 - it is not ours: it goes to the task that reads
            turn.set_exception(error)
            return
        if behind is not None or self._left or self.is_whole or self._error is not None:
            turn.set_result(behind)
