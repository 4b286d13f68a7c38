"""The client's end of one chat request: sends to it, keeps it alive, notices when it is gone (R-28)."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

from naru.errors import NaruError
from naru.models.json_text import encode
from naru.models.queue import Place
from naru.web.openai_wire import KEEP_ALIVE, error_headers, error_object, status_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

KEEP_ALIVE_SECONDS = 15.0
_COMPANION_AFTER_SECONDS = 0.05
_SSE_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]


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
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        found.setdefault(name, value)
    return found


class ChatClient:
    """An async context round the work for one client; the work is cancelled when the client leaves.

    A companion task watches the connection; most answers are given before it is needed, so it comes late. It also
    starts a stream that has said nothing for `grace_seconds` (until then an error can still be a true HTTP status)
    and sends comments while the stream is quiet.
    """

    def __init__(self, receive: Receive, send: Send, *, streaming: bool, grace_seconds: float) -> None:
        self._receive = receive
        self._send = send
        self._streaming = streaming
        self._grace_seconds = grace_seconds
        self._starting = asyncio.Lock()
        self._sending = False
        self._quiet = True
        self._notice = KEEP_ALIVE
        self._work: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._companion: asyncio.Task[None] | None = None
        self.started = False
        """The status line has been sent: an error can no longer be a status."""
        self.gone = False

    async def __aenter__(self) -> ChatClient:
        self._work = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(_COMPANION_AFTER_SECONDS, self._start_companion)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._timer is not None:
            self._timer.cancel()
        if self._companion is not None:
            self._companion.cancel()
            await asyncio.wait({self._companion})
        if self.gone and self._work is not None and isinstance(error, asyncio.CancelledError):
            self._work.uncancel()
            return True
        return False

    def tell_place(self, place: Place) -> None:
        """Let the next comment on the quiet stream say where the request stands in its model's queue (N8)."""
        self._notice = b": waiting for the model, %d before you, about %.0f s\n\n" % (place.position, place.eta_seconds)

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Send a part of the stream, as soon as the client takes it."""
        self._quiet = False
        if not self.started:
            async with self._starting:
                if not self.started:
                    await self._send({"type": "http.response.start", "status": 200, "headers": _SSE_HEADERS})
                    self.started = True
        self._sending = True
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})
        self._sending = False

    async def end(self, data: bytes = b"") -> None:
        """Send the last part of the stream."""
        await self.write(data, last=True)

    async def answer(self, body: bytes) -> None:
        """Send a whole JSON answer."""
        await respond(self._send, 200, body)

    async def fail(self, error: NaruError) -> None:
        """Send an error: with its true status, or as one object at the end of a stream that has begun."""
        if self.started:
            await self.end(b"data: " + encode(error_object(error)) + b"\n\n")
        else:
            await respond_error(self._send, error)

    def _start_companion(self) -> None:
        self._companion = asyncio.create_task(self._accompany(), name="naru-chat-client")

    async def _accompany(self) -> None:
        wait = self._grace_seconds if self._streaming else None
        while True:
            try:
                async with asyncio.timeout(wait):
                    message = await self._receive()
            except TimeoutError:
                wait = KEEP_ALIVE_SECONDS
                if self._quiet and not self._sending:
                    notice, self._notice = self._notice, KEEP_ALIVE
                    await self.write(notice)
                self._quiet = True
                continue
            if message["type"] == "http.disconnect":
                self.gone = True
                if self._work is not None:
                    self._work.cancel()
                return


async def respond(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    """Send a whole JSON response."""
    fixed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": fixed + (headers or [])})
    await send({"type": "http.response.body", "body": body})


async def respond_error(send: Send, error: NaruError) -> None:
    """Send an error that happened before the first byte, with its true status."""
    await respond(send, status_of(error), encode(error_object(error)), error_headers(error))
