"""Streamable HTTP, both eras on one endpoint: POST /mcp, and for sessions GET and DELETE."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from naru.gateway.engine import Engine
from naru.gateway.faces.duplex import MAX_BATCH, begin, busy, count, legacy, no_batch, too_many
from naru.gateway.faces.post import PostAnswer
from naru.gateway.faces.replay import STANDALONE, Track, replay_of
from naru.gateway.sessions.asgi import ClientGoneError, accepts, read_body, refuse, respond, sender_of
from naru.gateway.sessions.exchange import Client, Sender
from naru.gateway.sessions.session import Session
from naru.gateway.sessions.subscriptions import Listen, read_filter
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.headers import REPEATED, Headers, check_envelope, check_routing, check_version, collect
from naru.gateway.wire.protocol import (
    BATCH_VERSIONS,
    HTTP_STATUS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    MODERN_VERSIONS,
    OVERLOADED,
    UNSUPPORTED_VERSION,
    RpcError,
    has,
    is_modern,
)
from naru.gateway.wire.streams import HeldStream, event
from naru.messages import Json, JsonObject

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

SESSION = "mcp-session-id"
NO_SESSION = RpcError(INVALID_REQUEST, "Session not found. Initialize again, without a session id.")
Work = Callable[[asyncio.Task[Any]], Coroutine[Any, Any, None]]
"""Gets the task that it runs in."""
RETRY_AFTER = ((b"retry-after", b"1"),)


class StreamableHttp:
    """Speak MCP over Streamable HTTP: all servers as one at `/mcp`, one alone at `/servers/{name}/mcp`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = collect(scope["headers"])
        sender = sender_of(scope, headers)
        if not self._engine.catalog.exists(sender.view):
            await refuse(send, 404, RpcError(INVALID_PARAMS, f"There is no MCP server {sender.view!r}."))
            return
        match scope["method"]:
            case "POST":
                await self.post(headers, sender, receive, send)
            case "GET":
                await self._get(headers, sender, receive, send)
            case "DELETE":
                await self._delete(headers, sender, send)
            case _:
                await respond(send, 405, headers=((b"allow", b"GET, POST, DELETE"),))

    # POST

    async def post(self, headers: Headers, sender: Sender, receive: Receive, send: Send) -> None:
        """Take a message of either era."""
        settings = self._engine.settings
        try:
            message: Json = frames.decode(await read_body(receive, settings.body_bytes()), settings.limits)
        except ClientGoneError:
            return
        except RpcError as error:
            await refuse(send, 413 if "longer than" in error.message else 400, error)
            return
        version = headers.get("mcp-protocol-version", "")
        try:
            if isinstance(message, list):
                await self._batch(message, headers, sender, receive, send)
                return
            checked = frames.check_message(message)
            if version in MODERN_VERSIONS or is_modern(checked):
                await self._post_modern(checked, headers, sender, receive, send)
            else:
                await self._post_legacy(checked, headers, sender, receive, send)
        except RpcError as error:
            is_busy = error.code == OVERLOADED  # it did not come to a server, so the word is ours
            status, retry = (503, RETRY_AFTER) if is_busy else (HTTP_STATUS.get(error.code, 200), ())
            await refuse(send, status, error, request_id=frames.id_of(message), headers=retry)

    async def _post_modern(
        self, message: JsonObject, headers: Headers, sender: Sender, receive: Receive, send: Send
    ) -> None:
        if "method" not in message:
            raise RpcError(INVALID_REQUEST, "A stateless client sends requests, never responses.")
        if "id" not in message:
            check_version(headers.get("mcp-protocol-version", "").split(REPEATED)[0])
            await respond(send, 202)
            return
        if "_meta" in message.get("params", {}):
            check_routing(message, headers)
        takes_json, takes_events = accepts(headers)
        if message["method"] == "subscriptions/listen":
            await self._listen(message, sender, receive, send)
            return
        answer = self._answer(send, sender, takes_json=takes_json, takes_events=takes_events)

        async def work(task: asyncio.Task[Any]) -> None:
            del task
            try:
                frame, code = await self._engine.answer_modern(message, sender, answer.emit)
            except asyncio.CancelledError:
                if self._engine.closing and not answer.is_left:
                    await answer.finish(frames.failure(message["id"], stopping()), 503)
                raise
            await answer.finish(frame, HTTP_STATUS.get(code, 200) if code else 200)

        # A stateless client that goes away takes its request with it.
        await self._run(work, answer, sender.client, receive, cancel_when_gone=True)

    async def _post_legacy(
        self, message: JsonObject, headers: Headers, sender: Sender, receive: Receive, send: Send
    ) -> None:
        self._check_legacy_version(headers)
        if message.get("method") == "initialize" and "id" in message:
            await self._initialize(message, sender, receive, send)
            return
        session = self._session(headers, sender)
        if isinstance(session, int):
            missing = RpcError(INVALID_REQUEST, "Missing Mcp-Session-Id. Initialize first.")
            await refuse(send, session, missing if session == 400 else NO_SESSION, request_id=frames.id_of(message))
            return
        if "method" not in message or "id" not in message:
            self._engine.receive(message, session)
            await respond(send, 202)
            return
        await self.answer_request(message, session, sender, receive, send)

    async def answer_request(
        self, message: JsonObject, session: Session, sender: Sender, receive: Receive, send: Send
    ) -> None:
        """Answer a request within a session on its own POST."""
        takes_json, takes_events = accepts(sender.headers or {})
        answer = self._answer(send, sender, takes_json=takes_json, takes_events=takes_events)
        if takes_events and has(session.version, "resumption"):
            answer.resumable(replay_of(session), primes=has(session.version, "priming"))
        request_id = message["id"]

        async def work(task: asyncio.Task[Any]) -> None:
            try:
                session.begin(request_id, task)
            except RpcError as error:
                await answer.finish(frames.failure(request_id, error), 400)
                return
            try:
                frame = await self._engine.answer_legacy(
                    message, session, answer.emit, can_ask=takes_events, sender=sender
                )
            except asyncio.CancelledError:
                session.finish(request_id)
                if self._engine.closing:
                    await answer.finish(frames.failure(request_id, stopping()))
                else:
                    await answer.cancelled()
                raise
            session.finish(request_id)
            await answer.finish(frame)

        await self._run(work, answer, sender.client, receive, cancel_when_gone=False)

    async def _initialize(self, message: JsonObject, sender: Sender, receive: Receive, send: Send) -> None:
        if self._engine.closing:
            raise stopping()
        session = self._engine.open_session(sender.caller, sender.view)
        frame = await self._engine.answer_legacy(message, session, session.emit)
        if not session.version:
            self._engine.close_session(session)
        await respond(send, 200, frame, ((SESSION.encode(), session.id.encode()),))

    def _answer(self, send: Send, sender: Sender, *, takes_json: bool, takes_events: bool) -> PostAnswer:
        settings = self._engine.settings
        now = asyncio.get_running_loop().time()
        answer = PostAnswer(send, settings.stream, since=now, wait=settings.stream_after_seconds, client=sender.client)
        answer.json = takes_json or not takes_events
        answer.sse = takes_events
        return answer

    async def _run(
        self, work: Work, answer: PostAnswer, client: Client | None, receive: Receive, *, cancel_when_gone: bool
    ) -> None:
        """Do the work in the request's own task; that the client is gone is told meanwhile."""
        engine = self._engine
        if engine.busy:
            raise stopping() if engine.closing else busy()
        task, ticket = engine.begin(), engine.keep_alive.add(answer)

        def gone() -> None:
            answer.left()
            if cancel_when_gone and not answer.is_finished:
                task.cancel()

        forget = _watch(client, receive, gone)
        try:
            await work(task)
        except asyncio.CancelledError:
            if not answer.is_finished and not answer.is_left:
                raise  # the server's own wish
            task.uncancel()
        finally:
            forget()
            engine.keep_alive.discard(answer, ticket)
            engine.end(task)

    async def _batch(self, batch: list[Json], headers: Headers, sender: Sender, receive: Receive, send: Send) -> None:
        """Answer a JSON-RPC batch, for the versions that have it."""
        session = self._session(headers, sender)
        if isinstance(session, int) or session.version not in BATCH_VERSIONS or not 0 < len(batch) <= MAX_BATCH:
            raise no_batch()
        if self._engine.busy:
            raise busy()
        if wait := await count(batch, sender):
            await refuse(send, 429, too_many(), headers=((b"retry-after", b"%d" % wait),))
            return
        answers: list[Frame] = []
        begun: list[asyncio.Task[None]] = []
        for each in batch:
            try:
                message = frames.check_message(each)
                if "method" in message and "id" in message:
                    begun.append(begin(self._engine, message, session, legacy, answers.append))
                else:
                    self._engine.receive(message, session)
            except RpcError as error:
                answers.append(frames.failure(frames.id_of(each), error))
        if begun:
            await asyncio.wait(begun)
        if answers:
            await respond(send, 200, b"[%b]" % b",".join(answers))
        else:
            await respond(send, 202)

    # Streams

    async def _listen(self, message: JsonObject, sender: Sender, receive: Receive, send: Send) -> None:
        check_envelope(message)
        kinds, uris = read_filter(message.get("params", {}))
        engine = self._engine
        stream = HeldStream(sender.held(send) if sender.held is not None else send, engine.settings.stream)

        def push(frame: Frame) -> bool:
            return stream.push(event(frame))

        def end(frame: Frame) -> None:
            push(frame)
            stream.end()

        listen = Listen(message["id"], sender.view, kinds, uris, push, end)
        async with engine.listening(listen):  # until then nothing is sent: a refusal keeps its status
            ticket = engine.keep_alive.add(stream)
            try:
                await stream.hold(receive)
            finally:
                engine.keep_alive.discard(stream, ticket)

    async def _get(self, headers: Headers, sender: Sender, receive: Receive, send: Send) -> None:
        """Open the session's own stream, or take a cut one up again (`Last-Event-ID`)."""
        if headers.get("mcp-protocol-version") in MODERN_VERSIONS:
            await respond(send, 405, headers=((b"allow", b"POST"),))
            return
        session = self._session(headers, sender)
        if isinstance(session, int):
            await refuse(send, session, NO_SESSION)
            return
        if not accepts(headers)[1]:
            await refuse(send, 406, RpcError(INVALID_REQUEST, "A stream needs Accept: text/event-stream."))
            return
        if self._engine.closing:  # its streams were ended already: this one would keep it from stopping
            await refuse(send, 503, stopping(), headers=RETRY_AFTER)
            return
        replay = replay_of(session)
        last = headers.get("last-event-id")
        found = replay.find(last) if last is not None else None
        if last is not None and found is None:
            await refuse(send, 404, RpcError(INVALID_REQUEST, "These events are not kept any more."))
            return
        track, missed = found or (replay.standalone(), [])
        stream = HeldStream(send, self._engine.settings.stream)
        stream.push(b"".join([b": open\n\n", *missed]))  # as one: what piles up of a slow client is counted by pieces
        if track.done:
            stream.end()
        # Who takes a stream up again comes first; anyone else never replaces it (S-13).
        track.outputs.insert(0 if found else len(track.outputs), stream)
        await self._hold_session_stream(session, track, stream, receive)

    async def _hold_session_stream(self, session: Session, track: Track, stream: HeldStream, receive: Receive) -> None:
        engine, replay = self._engine, replay_of(session)
        ticket = engine.keep_alive.add(stream)
        forget = engine.on_end(stream.end)
        session.ends += (stream.end,)
        if track.number == STANDALONE:
            session.attach(replay.push_standalone)
        try:
            await stream.hold(receive)
        finally:
            forget()
            engine.keep_alive.discard(stream, ticket)
            session.last_used = asyncio.get_running_loop().time()
            session.ends = tuple(end for end in session.ends if end != stream.end)
            track.outputs.remove(stream)
            if track.number == STANDALONE:
                session.detach(replay.push_standalone)

    async def _delete(self, headers: Headers, sender: Sender, send: Send) -> None:
        session = self._session(headers, sender)
        if isinstance(session, int):
            await refuse(send, session, NO_SESSION)
            return
        self._engine.close_session(session)
        await respond(send, 204)

    # Sessions

    def _session(self, headers: Headers, sender: Sender) -> Session | int:
        """Return the session that the headers name, or the HTTP status to refuse with: 400 without id, 404 unknown."""
        session_id = headers.get(SESSION)
        if not session_id:
            return 400
        session = self._engine.find_session(session_id, sender.caller)
        return session if session is not None and session.view == sender.view else 404

    @staticmethod
    def _check_legacy_version(headers: Headers) -> None:
        version = headers.get("mcp-protocol-version")
        if version is not None and version not in LEGACY_VERSIONS:
            data = {"supported": [*LEGACY_VERSIONS, *MODERN_VERSIONS], "requested": version.split(REPEATED)[0]}
            raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _watch(client: Client | None, receive: Receive, gone: Callable[[], None]) -> Callable[[], object]:
    """Have the end of the client's connection told; returns what takes that back."""
    if client is not None:
        client.when_gone(gone)
        return lambda: client.when_gone(None)

    async def wait() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone()

    return asyncio.get_running_loop().create_task(wait(), name="client's end").cancel


def stopping() -> RpcError:
    """Make the refusal of a request that comes too late."""
    return RpcError(OVERLOADED, "Naru is stopping.")
