"""Answers in the background: the work goes on without its client, who looks after it, follows its stream or cancels it.

Each runs as a stream of its own through the same face, whose events are kept here for those who follow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.stores.kept.responses import Kept, ResponseStore
from naru.tasks import Tasks
from naru.web.face.client import KEEP_ALIVE_SECONDS, ClientGoneError, read_body, respond
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.face.seam import KEEP_ALIVE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HUB = "naru_hub"
"""Of an answer that is kept as being made: at which hub; no client is told."""
_KEPT_SECONDS = 300.0
"""How long the events of an answer that has ended can be followed."""
_STOP_SECONDS = 5.0
_STREAM = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
logger = logging.getLogger(__name__)
current: ContextVar[Answering | None] = ContextVar("current", default=None)
"""The answer in the background that this task works for."""


@dataclass(eq=False)
class Answering:
    """One answer that is being made."""

    caller: str
    response: JsonObject = field(default_factory=dict)
    """As it was when it began."""
    kept: Callable[[JsonObject], Kept] | None = None
    """Makes what the store keeps."""
    events: list[bytes] = field(default_factory=list)
    refusal: tuple[int, bytes] | None = None
    """Of a request that never began: its status and body."""
    ended: bool = False
    cancelled: bool = False
    task: asyncio.Task[None] | None = None
    noted: asyncio.Event = field(default_factory=asyncio.Event)
    """Its beginning is in the store: only then may its end be."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, response: JsonObject, kept: Callable[[JsonObject], Kept]) -> None:
        """Take the response as it begins."""
        self.response, self.kept = response, kept
        self._tell()

    async def begun(self) -> None:
        """Wait until it has begun or was refused."""
        while not self.response and not self.ended:
            await self._news.wait()

    async def follow(self, after: int) -> AsyncGenerator[bytes]:
        """Give the events after a sequence number, until the end, and comments while there are none."""
        position = max(0, after + 1)
        while True:
            while position < len(self.events):
                yield self.events[position]
                position += 1
            if self.ended:
                return
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                yield KEEP_ALIVE

    async def receive(self, body: bytes) -> AsyncGenerator[Message]:
        """Give the request, and then nothing: there is no client that could leave."""
        yield {"type": "http.request", "body": body, "more_body": False}
        await asyncio.Event().wait()

    async def send(self, message: Message) -> None:
        """Take what would go to a client."""
        if message["type"] == "http.response.start":
            self.refusal = None if message["status"] == 200 else (message["status"], b"")
        elif self.refusal is not None:
            self.refusal = (self.refusal[0], self.refusal[1] + message.get("body", b""))
        else:
            pieces = message.get("body", b"").split(b"\n\n")
            self.events += [piece + b"\n\n" for piece in pieces if piece.startswith(b"event:")]
            self._tell()

    def end(self) -> None:
        """Let those who follow know that nothing comes any more."""
        self.ended = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Background:
    """The endpoint that looks whether a request is one for the background; others go on to the face at once."""

    def __init__(self, face: ASGIApp, store: ResponseStore, me: str = "") -> None:
        """Put it before a face; `me` is this hub's name among several."""
        self.__doc__ = face.__doc__
        self._face = face
        self._store = store
        self._me = me
        self.running: dict[str, Answering] = {}
        self._tasks = Tasks()

    async def close(self) -> None:
        """Stop all answers, and wait a moment until what is kept of them says so."""
        self._tasks.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await self._tasks.ended()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, now or in the background."""
        try:
            body = await read_body(receive)
        except ClientGoneError:
            return
        asked = self._wanted(body)
        if asked is None:
            await self._face(scope, _again(body, receive), send)
            return
        answering = Answering(caller_of(scope.get("state")))
        answering.task = self._tasks.begin(self._run(answering, scope, {**asked, "stream": True}), name="naru-answer")
        await answering.begun()
        await answering.noted.wait()  # who has its id may ask another hub for it at once
        if not answering.response:
            status, said = answering.refusal or (500, b"{}")
            await respond(send, status, said)
        elif asked.get("stream") is True:
            await self.stream(answering, -1, send)
        else:
            await respond(send, 200, encode({**answering.response, "status": "queued"}))

    def _wanted(self, body: bytes) -> JsonObject | None:
        if b'"background"' not in body:
            return None
        try:
            asked = decode_body(body)
        except NaruError:
            return None  # the face says what is wrong
        return asked if asked.get("background") is True else None

    async def stream(self, answering: Answering, after: int, send: Send) -> None:
        """Send the events of an answer, as far as its client stays."""
        await send({"type": "http.response.start", "status": 200, "headers": _STREAM})
        async for event in answering.follow(after):
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def cancel(self, response_id: str) -> None:
        """Stop an answer, if it is being made here."""
        answering = self.running.get(response_id)
        if answering is not None and answering.task is not None and not (answering.ended or answering.cancelled):
            answering.cancelled = True
            answering.task.cancel()

    def drop(self, response_id: str) -> None:
        """Stop an answer whose response is deleted, if it is being made here, and keep nothing of it any more."""
        answering = self.running.get(response_id)
        if answering is not None:
            answering.kept = None
            self.cancel(response_id)

    async def stopped(self, response_id: str) -> bool:
        """Stop an answer that is being made here, and wait for its end; tell whether it was."""
        answering = self.running.get(response_id)
        if answering is None or answering.task is None:
            return False
        self.cancel(response_id)
        await asyncio.wait([answering.task])
        return True

    async def _run(self, answering: Answering, scope: Scope, asked: JsonObject) -> None:
        current.set(answering)
        messages = answering.receive(encode(asked))
        keeping = asyncio.create_task(self._note_begin(answering))
        try:
            # Without extensions: the connection's own would end the work with its client.
            await self._face({**scope, "extensions": {}}, messages.__anext__, answering.send)
        except asyncio.CancelledError:
            if not answering.cancelled:
                raise
        finally:
            answering.end()
            await keeping
            await messages.aclose()
            await self._note_end(answering)

    async def _note_begin(self, answering: Answering) -> None:
        await answering.begun()
        if answering.response:
            self.running[answering.response["id"]] = answering
            await self._save(answering, {**answering.response, HUB: self._me})
        answering.noted.set()

    async def _note_end(self, answering: Answering) -> None:
        """Keep what became of an answer that its writer did not keep: it failed or was cancelled."""
        if not answering.response:
            return
        if answering.cancelled:
            await self._save(answering, {**answering.response, "status": "cancelled"})
        elif failed := _failed(answering):
            await self._save(answering, failed)
        key = answering.response["id"]
        asyncio.get_running_loop().call_later(_KEPT_SECONDS, self.running.pop, key, None)

    async def _save(self, answering: Answering, response: JsonObject) -> None:
        if answering.kept is None:
            return
        try:
            await self._store.save(answering.caller, answering.kept(response))
        except NaruError as error:
            logger.error("an answer in the background could not be kept: %s", error)
        except Exception:  # noqa: BLE001 - nobody awaits it but who waits for the answer, which is there
            logger.exception("an answer in the background could not be kept")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once more."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return first.pop() if first else await receive()

    return received


def _failed(answering: Answering) -> JsonObject | None:
    """Return the response as its last event or its refusal tells that it failed."""
    if answering.refusal is not None:
        told: Any = json.loads(answering.refusal[1] or b"{}").get("error") or {}
        error = {"code": "server_error", "message": str(told.get("message") or "")}
        return {**answering.response, "status": "failed", "error": error}
    last = answering.events[-1] if answering.events else b""
    if not last.startswith(b"event: response.failed\n"):
        return None
    response: JsonObject = json.loads(last.partition(b"\ndata: ")[2])["response"]
    return response
