"""Held responses: Server-Sent Events written as plain ASGI sends, one shared timer for all keep-alives.

An idle stream is one task that waits for the client to go. A writer exists only while there is something to write,
so 5,000 idle clients cost 5,000 waiting tasks and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from starlette.types import Receive, Send

logger = logging.getLogger(__name__)

STALLED_SECONDS = 300.0
"""What a client has to take the end of an answer, or a piece of it, in: what works for it, it keeps from others."""
PING = b": ping\n\n"
SSE_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
)


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How far a client may fall behind before its stream is closed (R-37)."""

    messages: int = 256
    bytes: int = 4 * 1024 * 1024


def event(frame: bytes, *, event_id: str = "") -> bytes:
    """Return one `message` event."""
    head = f"id: {event_id}\n".encode() if event_id else b""
    return b"%bevent: message\ndata: %b\n\n" % (head, frame)


class Stream:
    """One held response. `push` from anywhere; `hold` in the request's own task, until the client or we leave."""

    __slots__ = (
        "_bytes",
        "_chunks",
        "_ending",
        "_limits",
        "_send",
        "_started",
        "_writer",
        "gone",
        "on_drop",
    )

    def __init__(self, send: Send, limits: StreamLimits) -> None:
        self._send = send
        self._limits = limits
        self._chunks: deque[bytes] | None = None
        self._bytes = 0
        self._started = False
        self._ending = False
        self._writer: asyncio.Task[None] | None = None
        self.on_drop: Callable[[], object] | None = None
        """Ends the response when its client does not read."""
        self.gone = False
        """The client left, stopped reading, or the stream ended: nothing more can be written."""

    @property
    def idle(self) -> bool:
        """Nothing is being written."""
        return self._writer is None and not self.gone

    def push(self, chunk: bytes) -> bool:
        """Queue a chunk; False when the stream is gone. A client that does not read loses its stream."""
        if self.gone or self._ending:
            return False
        if self._chunks is None:
            self._chunks = deque()
        self._chunks.append(chunk)
        self._bytes += len(chunk)
        # A chunk of any size passes when nothing waits before it: the limits bound what piles up.
        if len(self._chunks) > self._limits.messages or (len(self._chunks) > 1 and self._bytes > self._limits.bytes):
            logger.warning("closed a stream whose client does not read: %d messages wait", len(self._chunks))
            self.drop()
            return False
        self._write()
        return True

    def end(self) -> None:
        """End the response once everything queued is written."""
        if not self.gone and not self._ending:
            self._ending = True
            self._write()

    def drop(self) -> None:
        """Give the response up at once, whatever is queued."""
        self.gone = True
        self._chunks = None
        if self._writer is not None:
            self._writer.cancel()
        if self.on_drop is not None:
            self.on_drop()

    async def hold(self, receive: Receive) -> None:
        """Return when the client is gone or the response is complete."""
        holder = asyncio.current_task()
        assert holder is not None
        self.on_drop = holder.cancel
        try:
            while not self.gone and (await receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            if not self.gone:
                raise
            holder.uncancel()
        finally:
            self.gone = True
            self.on_drop = None
            if self._writer is not None and not self._ending:
                self._writer.cancel()

    async def flush(self) -> None:
        """Wait until everything queued is written; a client that takes too long loses its stream."""
        if self._writer is not None and not (await asyncio.wait({self._writer}, timeout=STALLED_SECONDS))[0]:
            logger.warning("closed a stream whose client did not take its answer within %g s", STALLED_SECONDS)
            self.drop()

    def _write(self) -> None:
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._drain(), name="sse writer")

    async def _drain(self) -> None:
        try:
            if not self._started:
                self._started = True
                await self._send({"type": "http.response.start", "status": 200, "headers": list(SSE_HEADERS)})
            while self._chunks:
                # Join what has already arrived; wait for nothing.
                body = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
                self._chunks.clear()
                self._bytes = 0
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
            self._chunks = None
            if self._ending:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
                self.gone = True
        except OSError:
            self.gone = True
        finally:
            self._writer = None


class Pingable(Protocol):
    """Something that must not stay silent for long."""

    def ping(self, now: float) -> None:
        """Say a word if nothing was said lately."""
        ...


class KeepAlive:
    """One timer for all held streams, which goes round them in slices so that no tick wakes them all."""

    SLICES = 16

    def __init__(self, interval_seconds: float) -> None:
        self.interval_seconds = interval_seconds
        self._slices: list[set[Pingable]] = [set() for _ in range(self.SLICES)]
        self._next = 0
        self._turn = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: Pingable) -> int:
        """Watch a stream; returns the ticket that `discard` takes."""
        self._next = (self._next + 1) % self.SLICES
        self._slices[self._next].add(stream)
        if self._timer is None:
            self._schedule()
        return self._next

    def discard(self, stream: Pingable, ticket: int) -> None:
        """Stop watching a stream."""
        self._slices[ticket].discard(stream)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.interval_seconds / self.SLICES, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._turn = (self._turn + 1) % self.SLICES
        now = asyncio.get_running_loop().time()
        for stream in list(self._slices[self._turn]):
            stream.ping(now)
        if any(self._slices):
            self._schedule()


class HeldStream(Stream):
    """A stream that stays open for whatever may happen: legacy SSE, GET streams, `subscriptions/listen`."""

    __slots__ = ()

    def ping(self, now: float) -> None:
        """Write a comment when nothing else is being written (a19)."""
        if self.idle:
            self.push(PING)
