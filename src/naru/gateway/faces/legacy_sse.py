"""HTTP+SSE of 2024-11-05, as the seed writes it (V1): GET /sse, POST /sse/message, and POST /sse answered directly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from naru.gateway.engine import Engine
from naru.gateway.faces.duplex import count, take, too_many
from naru.gateway.faces.streamable_http import NO_SESSION, RETRY_AFTER, SESSION, StreamableHttp, stopping
from naru.gateway.sessions.asgi import ClientGoneError, read_body, refuse, respond, sender_of
from naru.gateway.sessions.exchange import Sender
from naru.gateway.sessions.session import Session
from naru.gateway.wire import frames
from naru.gateway.wire.headers import Headers, collect
from naru.gateway.wire.protocol import INVALID_PARAMS, INVALID_REQUEST, LEGACY_VERSIONS, OVERLOADED, RpcError, is_modern
from naru.gateway.wire.streams import HeldStream, event
from naru.messages import Json, JsonObject

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class LegacySse:
    """Speak MCP over HTTP+SSE, for older clients: all servers as one at `/sse`, or one server alone."""

    def __init__(self, engine: Engine, http: StreamableHttp) -> None:
        self._engine = engine
        self._http = http

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = collect(scope["headers"])
        sender = sender_of(scope, headers)
        if not self._engine.catalog.exists(sender.view):
            await refuse(send, 404, RpcError(INVALID_PARAMS, f"There is no MCP server {sender.view!r}."))
        elif scope["path"].rstrip("/").endswith("/message"):
            await self._message(scope, sender, receive, send)
        elif scope["method"] == "GET" and SESSION not in headers:
            await self._stream(scope, sender, receive, send)
        elif scope["method"] == "POST" and SESSION not in headers:
            await self._direct(scope, headers, sender, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _stream(self, scope: Scope, sender: Sender, receive: Receive, send: Send) -> None:
        engine = self._engine
        if engine.closing:
            await refuse(send, 503, stopping(), headers=RETRY_AFTER)
            return
        try:
            session = engine.open_session(sender.caller, sender.view)
        except RpcError as error:
            await refuse(send, 503, error, headers=RETRY_AFTER)
            return
        stream = HeldStream(send, engine.settings.stream)
        stream.push(b"event: endpoint\ndata: %b\n\n" % _endpoint(scope, session).encode())

        def push(frame: bytes) -> bool:
            return stream.push(event(frame))

        session.attach(push)
        ticket = engine.keep_alive.add(stream)
        forget = engine.on_end(stream.end)
        try:
            await stream.hold(receive)
        finally:
            forget()
            engine.keep_alive.discard(stream, ticket)
            session.detach(push)
            # Here the stream is the session: nobody can take it up again.
            engine.close_session(session)

    async def _message(self, scope: Scope, sender: Sender, receive: Receive, send: Send) -> None:
        """Take a message for a stream: accepted at once, answered on the stream."""
        if scope["method"] != "POST":
            await respond(send, 405, headers=((b"allow", b"POST"),))
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=10)
        ids = query.get("session_id") or query.get("sessionId") or [""]
        if not ids[0]:
            await refuse(send, 400, RpcError(INVALID_REQUEST, "Missing session_id. Open GET /sse first."))
            return
        session = self._engine.find_session(ids[0], sender.caller)
        if session is None or session.view != sender.view:
            await refuse(send, 404, NO_SESSION)
            return
        try:
            settings = self._engine.settings
            message: Json = frames.decode(await read_body(receive, settings.body_bytes()), settings.limits)
            if wait := await count(message, sender):
                await refuse(send, 429, too_many(), headers=((b"retry-after", b"%d" % wait),))
                return
            take(self._engine, message, session)
        except ClientGoneError:
            return
        except RpcError as error:
            status = 503 if error.code == OVERLOADED else 413 if "longer than" in error.message else 400
            await refuse(send, status, error, headers=RETRY_AFTER if status == 503 else ())
            return
        await respond(send, 202, b"Accepted", ((b"content-type", b"text/plain; charset=utf-8"),), json=False)

    async def _direct(self, scope: Scope, headers: Headers, sender: Sender, receive: Receive, send: Send) -> None:
        """Answer a client that posts to the base URL: with a session if it begins one, else for this request alone."""
        settings = self._engine.settings
        try:
            body = await read_body(receive, settings.body_bytes())
            message: Json = frames.decode(body, settings.limits)
            if isinstance(message, list) or "method" not in frames.check_message(message):
                raise RpcError(INVALID_REQUEST, "Without a session this takes one request at a time.")
        except ClientGoneError:
            return
        except RpcError as error:
            await refuse(send, 400, error)
            return
        if message["method"] == "initialize" or is_modern(message) or "mcp-protocol-version" in headers:
            await self._http.post(headers, sender, _again(body, receive), send)
            return
        if "id" not in message:
            await respond(send, 202)
            return
        session = Session(sender.caller, sender.view)
        session.version, session.initialized = LEGACY_VERSIONS[-1], True
        try:
            plain = replace(sender, headers={**headers, "accept": "application/json"})
            await self._http.answer_request(message, session, plain, receive, send)
        except RpcError as error:
            await refuse(send, 503, error, request_id=frames.id_of(message), headers=RETRY_AFTER)
        finally:
            self._engine.close_session(session)


def _endpoint(scope: Scope, session: Session) -> str:
    """Return the address for messages: a path, so that it holds behind any proxy and prefix (a13, a15)."""
    base = scope.get("root_path", "") + scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/")
    return f"{base}/message?session_id={session.id}"


def _again(body: bytes, receive: Receive) -> Receive:
    """Let a body that was read be read once more."""
    waiting = [body]

    async def receive_again() -> JsonObject:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return dict(await receive())

    return receive_again
