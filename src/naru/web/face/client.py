"""The client's end of one request to a model: sends to it, keeps it alive, notices when it is gone (R-28)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from naru.deadlines import bound
from naru.errors import NaruError
from naru.gateway.sessions.asgi import CLIENT
from naru.gateway.wire.streams import STALLED_SECONDS
from naru.models.limits.queue import Place
from naru.web.face.errors import error_headers, status_of
from naru.web.face.seam import Form

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

KEEP_ALIVE_SECONDS = 15.0
_PIECE_BYTES = 256 << 10
"""What is sent at once of a long piece: who takes it slowly is not taken for one who takes nothing."""
logger = logging.getLogger(__name__)
_STREAM_HEADERS = [(b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]


class ClientGoneError(Exception):
    """The client left before the whole request had arrived."""


async def read_body(receive: Receive) -> bytes:
    """Read the whole body; the gate has limited its size (S-08).

    Raises:
        ClientGoneError: the client left meanwhile.
    """
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        return bytes(message.get("body", b""))
    pieces: list[bytes] = []
    while message["type"] == "http.request":
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)
        message = await receive()
    raise ClientGoneError


def headers_of(scope: Scope) -> dict[bytes, bytes]:
    """Return the request's headers by lower-case name; the first of a repeated one counts."""
    return dict(reversed(scope["headers"]))


class Wire(Protocol):
    """The client's connection, where our own server hands it out; see `one_write`."""

    def when_gone(self, tell: Callable[[], None] | None) -> None:
        """Have its end told, if it comes before the end of the answer; None takes that back."""
        ...

    def put(self, body: bytes) -> bool:
        """Write a further piece of an answer that was begun; False where it has to be sent and waited for."""
        ...

    def drop(self) -> None:
        """Break it off."""
        ...


class ChatClient:
    """An async context round the work for one client; the work is cancelled when the client leaves.

    A stream that has said nothing for `grace_seconds` is started (until then an error can still be a true HTTP
    status), and gets comments while it is quiet.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        form: Form,
        *,
        streaming: bool = False,
        grace_seconds: float = 0.0,
    ) -> None:
        self._wire: Wire | None = scope.get("extensions", {}).get(CLIENT)
        self._receive = receive
        self._send = send
        self._form = form
        self.fail_with = form.failed
        """Says an error in a stream that has begun."""
        self._streaming = streaming
        self._grace_seconds = grace_seconds
        self._starting = asyncio.Lock()
        self._sending = False
        self._quiet = True
        self._notice = form.quiet
        self._work: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._companions: list[asyncio.Task[None]] = []
        """Who writes a comment, and who watches a connection that does not tell its end."""
        self.started = False
        """The status line has been sent: an error can no longer be a status."""
        self.gone = False

    async def __aenter__(self) -> ChatClient:
        self._work = asyncio.current_task()
        if self._wire is not None:
            self._wire.when_gone(self._leave)
        else:
            self._companions.append(asyncio.create_task(self._watch(), name="naru-chat-watch"))
        if self._streaming:
            self._timer = asyncio.get_running_loop().call_later(self._grace_seconds, self._tick)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._wire is not None:
            self._wire.when_gone(None)
        if self._timer is not None:
            self._timer.cancel()
        if self._companions:
            for companion in self._companions:
                companion.cancel()
            await asyncio.wait(self._companions)
        if self.gone and self._work is not None and isinstance(error, asyncio.CancelledError):
            self._work.uncancel()
            return True
        return False

    def tell_place(self, place: Place) -> None:
        """Let the next comment on the quiet stream say where the request stands in its model's queue (N8)."""
        self._notice = self._form.waiting(place)

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Send a part of the stream, as soon as the client takes it."""
        self._quiet = False
        if not self.started:
            async with self._starting:
                if not self.started:
                    headers = [(b"content-type", self._form.stream_type), *_STREAM_HEADERS]
                    await self._send({"type": "http.response.start", "status": 200, "headers": headers})
                    self.started = True
        self._sending = True
        try:
            for start in range(0, len(data) or 1, _PIECE_BYTES):
                is_last = last and start + _PIECE_BYTES >= len(data)
                piece = data[start : start + _PIECE_BYTES]
                with bound(STALLED_SECONDS):
                    await self._send({"type": "http.response.body", "body": piece, "more_body": not is_last})
        except TimeoutError:
            logger.warning("gave up a client that did not take a piece of its answer within %g s", STALLED_SECONDS)
            self._give_up()
            await asyncio.sleep(0)
        self._sending = False

    def put(self, data: bytes) -> Awaitable[None] | None:
        """Send a part of the stream at once if the client keeps up; else return what sends it when it is awaited."""
        is_short = len(data) <= _PIECE_BYTES
        if self.started and is_short and not self._sending and self._wire is not None and self._wire.put(data):
            self._quiet = False
            return None
        return _Writing(self, data)

    async def end(self, data: bytes = b"") -> None:
        """Send the last part of the stream."""
        await self.write(data, last=True)

    async def answer(self, body: bytes) -> None:
        """Send a whole JSON answer."""
        await respond(self._send, 200, body)

    async def fail(self, error: NaruError) -> None:
        """Send an error: with its true status, or as one object at the end of a stream that has begun."""
        if self.started:
            await self.end(self.fail_with(error))
        else:
            await respond_error(self._send, self._form, error)

    def _give_up(self) -> None:
        """Break the connection off, where that is ours, and count the client as gone."""
        if self._wire is not None:
            self._wire.when_gone(None)
            self._wire.drop()
        self._leave()

    def _leave(self) -> None:
        self.gone = True
        if self._work is not None:
            self._work.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._leave()

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(KEEP_ALIVE_SECONDS, self._tick)
        if self._quiet and not self._sending:
            self._companions = [one for one in self._companions if not one.done()]
            self._companions.append(asyncio.create_task(self._comment(), name="naru-chat-comment"))
        self._quiet = True

    async def _comment(self) -> None:
        notice, self._notice = self._notice, self._form.quiet
        await self.write(notice)
        self._quiet = True


class _Writing:
    """A write that begins when it is awaited: one that never is leaves no coroutine behind."""

    __slots__ = ("_client", "_data")

    def __init__(self, client: ChatClient, data: bytes) -> None:
        self._client = client
        self._data = data

    def __await__(self) -> Generator[object, None, None]:
        return self._client.write(self._data).__await__()


async def respond(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    """Send a whole JSON response."""
    fixed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": fixed + (headers or [])})
    await send({"type": "http.response.body", "body": body})


async def respond_error(send: Send, form: Form, error: NaruError) -> None:
    """Send an error that happened before the first byte, with its true status."""
    await respond(send, status_of(error), form.refused(error), error_headers(error))
