"""The answer to one POST: plain JSON when nothing comes before it, else a stream of events that ends with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naru.gateway.faces.replay import Replay, Track
from naru.gateway.sessions.asgi import respond
from naru.gateway.sessions.exchange import Client
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.streams import PING, Stream, StreamLimits, event

if TYPE_CHECKING:
    from starlette.types import Send

RETRY = b"retry: 1000\n"
"""How long a client waits before it takes a cut stream up again."""


class PostAnswer:
    """Decides between JSON and events as late as it can: an error keeps its HTTP status, and JSON is cheaper."""

    __slots__ = (
        "_client",
        "_primes",
        "_replay",
        "_send",
        "_since",
        "_stream",
        "_track",
        "_wait",
        "is_finished",
        "is_left",
        "json",
        "limits",
        "sse",
    )

    def __init__(
        self, send: Send, limits: StreamLimits, *, since: float, wait: float, client: Client | None = None
    ) -> None:
        self._send = send
        self.limits = limits
        self._since = since
        self._wait = wait
        self._client = client
        self._stream: Stream | None = None
        self._replay: Replay | None = None
        self._primes = False
        self._track: Track | None = None
        self.is_finished = False
        """The answer, or that there is none, is on its way."""
        self.is_left = False
        """The client is gone."""
        self.json = True
        """The client takes JSON."""
        self.sse = True
        """The client takes events; if not, whatever comes before the answer is lost."""

    def resumable(self, replay: Replay, *, primes: bool) -> None:
        """Keep what is streamed, so that a client that lost its connection can take it up again.

        Args:
            replay: where it is kept.
            primes: begin with an empty event, which gives the client an id at once and older clients a traceback.
        """
        self._replay = replay
        self._primes = primes

    def emit(self, frame: Frame) -> None:
        """Send a frame before the answer."""
        if self.sse and not self.is_finished:
            self._stream_now()
            self._push(frame)

    def ping(self, now: float) -> None:
        """Keep the line open while the answer takes its time."""
        if self.is_finished or not self.sse or now - self._since < self._wait:
            return
        stream = self._stream_now()
        if stream.idle:
            stream.push(PING)

    async def finish(self, frame: Frame, status: int = 200) -> None:
        """Send the answer itself."""
        # Set before the first await: a keep-alive that comes now must not begin a stream.
        self.is_finished = True
        if self._stream is None and self.json:
            await respond(self._send, status, frame)
            return
        stream = self._stream_now()
        self._push(frame)
        if self._track is not None and self._replay is not None:
            self._replay.finish(self._track)
        stream.end()
        await stream.flush()

    async def cancelled(self) -> None:
        """End without an answer, as the client wished."""
        self.is_finished = True
        stream = self._stream_now()
        stream.push(b": cancelled\n\n")
        stream.end()
        if self._track is not None and self._replay is not None:
            self._replay.give_up(self._track)
        await stream.flush()

    def left(self) -> None:
        """The client is gone; what follows is only kept."""
        self.is_left = True
        if self._stream is not None:
            self._stream.gone = True
            # Its own alone: the client may have taken the rest up on another before this end was noticed.
            if self._track is not None and self._stream in self._track.outputs:
                self._track.outputs.remove(self._stream)

    def _push(self, frame: Frame) -> None:
        if self._track is not None and self._replay is not None:
            self._replay.add(self._track, frame)
        elif self._stream is not None:
            self._stream.push(event(frame))

    def _stream_now(self) -> Stream:
        if self._stream is None:
            self._stream = Stream(self._send, self.limits)
            self._stream.on_drop = self._client.drop if self._client is not None else None
            if self._replay is not None:
                self._track = self._replay.open()
                self._track.outputs.append(self._stream)
                if self._primes:
                    self._stream.push(b"id: %d-0\n%bdata: \n\n" % (self._track.number, RETRY))
        return self._stream
