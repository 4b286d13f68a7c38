"""The engine (V3): sessions, dispatch and what is under way. It knows no transport; transports know nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import orjson

from naru.errors import NaruError
from naru.gateway.requests import calls, methods
from naru.gateway.requests.core import Core, GatewaySettings
from naru.gateway.requests.meta_tools import SearchTools
from naru.gateway.sessions.exchange import (
    ElsewhereError,
    Emit,
    Exchange,
    Sender,
    legacy_exchange,
    modern_exchange,
)
from naru.gateway.sessions.session import Session
from naru.gateway.sessions.subscriptions import Listen
from naru.gateway.upstreams.upstream import Change, Upstreams
from naru.gateway.view import Route
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.headers import check_envelope
from naru.gateway.wire.protocol import INTERNAL_ERROR, OVERLOADED, RpcError
from naru.gateway.wire.streams import KeepAlive
from naru.messages import JsonObject
from naru.persons import LOCAL, current_person, reach
from naru.telemetry.tracing import Attribute, active, mcp_server_span

if TYPE_CHECKING:
    from naru.gateway.sessions.owners import Owners

logger = logging.getLogger(__name__)

Result = JsonObject | orjson.Fragment
Method = Callable[[Core, Exchange, JsonObject], Awaitable[Result]]


class Engine(Core):
    """Answers MCP messages of any client from all servers."""

    def __init__(
        self, upstreams: Upstreams, settings: GatewaySettings | None = None, owners: Owners | None = None
    ) -> None:
        settings = settings or GatewaySettings()
        super().__init__(upstreams, settings, SearchTools() if settings.meta_tools else None, owners)
        self.keep_alive = KeepAlive(self.settings.keep_alive_seconds)
        self.closing = False
        self.closed = False
        self._drained_at = 0.0
        self._running: dict[asyncio.Task[Any], str] = {}
        """And whose they are."""
        self._enders: dict[Callable[[], None], None] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._unwatch = upstreams.watch(self._changed)
        self.catalog.on_late = self.subscriptions.publish

    # Sessions.

    def open_session(self, caller: str, view: str) -> Session:
        """Open a session for a caller; when there are too many, the longest idle one of who has most of them gives way.

        Raises:
            RpcError: all sessions are busy.
        """
        if len(self.sessions) >= self.settings.max_sessions:
            idle = [session for session in self.sessions.values() if not session.listening and not session.inflight]
            if not idle:
                raise RpcError(OVERLOADED, "Too many sessions are open.")
            held = Counter(session.caller for session in idle)
            self.close_session(min(idle, key=lambda session: (-held[session.caller], session.last_used)))
        session = Session(caller, view)
        if self.owners is not None:
            session.id = self.owners.mark(session.id)
        session.last_used = asyncio.get_running_loop().time()
        self.sessions[session.id] = session
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(self._sweep_seconds, self._sweep)
        return session

    def find_session(self, session_id: str, caller: str) -> Session | None:
        """Return a session to the caller who opened it; to anyone else it does not exist (S-13)."""
        session = self.sessions.get(session_id)
        if session is None or session.caller != caller:
            return None
        session.reach = reach()  # another token of the same person may allow less
        session.last_used = asyncio.get_running_loop().time()
        return session

    def close_session(self, session: Session) -> None:
        """End a session and all that it has under way."""
        self.sessions.pop(session.id, None)
        session.close()
        counted, session.subscriptions = session.subscriptions or {}, None
        for key in [key for key, asked in counted.items() if asked]:
            self.run(self.subscriptions.drop(self.upstreams.of(*key[:2]), key))

    @property
    def _sweep_seconds(self) -> float:
        return min(60.0, self.settings.session_idle_seconds / 2)

    def _sweep(self) -> None:
        oldest = asyncio.get_running_loop().time() - self.settings.session_idle_seconds
        for session in list(self.sessions.values()):
            if session.last_used < oldest and not session.listening and not session.inflight:
                self.close_session(session)
        self._sweeper = (
            asyncio.get_running_loop().call_later(self._sweep_seconds, self._sweep) if self.sessions else None
        )

    # Messages.

    async def answer_modern(self, message: JsonObject, sender: Sender, emit: Emit) -> tuple[Frame, int]:
        """Answer a stateless request whose routing headers were checked; returns the frame and its error code or 0."""
        try:
            check_envelope(message)
            method = methods.MODERN.get(message["method"])
            if method is None:
                raise calls.unknown_method(message["method"])
        except RpcError as error:
            return frames.failure(message.get("id"), error), error.code
        exchange = modern_exchange(message, sender, emit)
        exchange.server_info = self.server_info
        return await self._answer(method, message, exchange)

    async def answer_legacy(
        self, message: JsonObject, session: Session, emit: Emit, *, can_ask: bool = True, sender: Sender | None = None
    ) -> Frame:
        """Answer a request within a session; `sender` is who sent it, where it came by a request of its own."""
        method = methods.LEGACY.get(message["method"])
        if method is None:
            return frames.failure(message["id"], calls.unknown_method(message["method"]))
        exchange = legacy_exchange(message, session, emit)
        exchange.can_ask = can_ask
        exchange.address = sender.address if sender is not None else None
        return (await self._answer(method, message, exchange))[0]

    async def _answer(self, method: Method, message: JsonObject, exchange: Exchange) -> tuple[Frame, int]:
        tracing = active()
        if tracing is None:
            return await self._carry_out(method, message, exchange)
        facts: dict[str, Attribute | None] = {
            "jsonrpc.request.id": str(message.get("id")),
            "mcp.protocol.version": exchange.version,
            "mcp.session.id": exchange.session.id if exchange.session else None,
        }
        with mcp_server_span(tracing, message["method"], message.get("params") or {}, facts) as span:
            frame, code = await self._carry_out(method, message, exchange)
            if code:
                span.set({"rpc.response.status_code": str(code)})
                span.fail(str(code))
            return frame, code

    async def _carry_out(self, method: Method, message: JsonObject, exchange: Exchange) -> tuple[Frame, int]:
        request_id = message.get("id")
        try:
            return frames.reply(request_id, await method(self, exchange, message.get("params") or {})), 0
        except ElsewhereError:
            raise
        except RpcError as error:
            return frames.failure(request_id, error), error.code
        except NaruError as error:
            failed = RpcError(INTERNAL_ERROR, str(error), {"code": error.code})
            return frames.failure(request_id, failed), failed.code
        except Exception:
            logger.exception("the gateway failed on %s", message.get("method"))
            failed = RpcError(INTERNAL_ERROR, "Naru failed on this request; its log says how.")
            return frames.failure(request_id, failed), failed.code

    def receive(self, message: JsonObject, session: Session) -> None:
        """Take a notification or a response within a session."""
        if "method" not in message:
            session.answered(message)
            return
        params = message.get("params") or {}
        match message["method"]:
            case "notifications/initialized":
                session.initialized = True
            case "notifications/cancelled":
                session.cancel(params.get("requestId"))
            case "notifications/roots/list_changed":
                self.run(self._tell_roots(session))

    async def _tell_roots(self, session: Session) -> None:
        for upstream in self.upstreams.usable():
            if not upstream.modern and session.view in ("", upstream.name):
                await upstream.notify("notifications/roots/list_changed", {})

    @property
    def busy(self) -> bool:
        """Whether one more request of who asks must be refused (R-36).

        One key gets no more places than it leaves free, so that there is always one for the next (S-19).
        """
        free = self.settings.max_inflight - len(self._running)
        if self.closing or free <= 0:
            return True
        person = current_person.get().id
        if person in ("", LOCAL) or len(self._running) < free:
            return False
        return sum(one == person for one in self._running.values()) >= free

    def run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something in a task of its own, which the engine owns and `close` ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._running[task] = current_person.get().id
        task.add_done_callback(self._finished)
        return task

    def begin(self) -> asyncio.Task[Any]:
        """Count the present task as a request under way, until `end` is told of it; returns the task."""
        task = asyncio.current_task()
        assert task is not None
        self._running[task] = current_person.get().id
        return task

    def end(self, task: asyncio.Task[Any]) -> None:
        """Count a task no longer."""
        self._running.pop(task, None)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a task of the gateway failed", exc_info=error)

    @asynccontextmanager
    async def listening(self, listen: Listen) -> AsyncIterator[None]:
        """Have a `subscriptions/listen` stream told of changes while the block runs.

        What a server does not take is left out of the acknowledgement; the rest is told. Raises RpcError before that.
        """
        view = await self.catalog.view(listen.view, calls.RESOURCES) if listen.uris else None
        if self.closing:
            raise RpcError(OVERLOADED, "Naru is stopping.")
        routes = {uri: route for uri in sorted(listen.uris) if view is not None and (route := view.resource(uri))}
        wanted: list[Route] = []

        async def want(uri: str, route: Route) -> None:
            try:
                await self.subscriptions.want(route.upstream, route.name)
            except (NaruError, RpcError) as error:
                logger.warning("server %s takes no subscription of %s: %s", route.upstream.name, route.name, error)
                return
            wanted.append(route)
            listen.resources[route.watched] = uri

        try:
            await asyncio.gather(*(want(uri, route) for uri, route in routes.items()))
            if self.closing:
                raise RpcError(OVERLOADED, "Naru is stopping.")
            number = self.subscriptions.open(listen)
            try:
                yield
            finally:
                self.subscriptions.close(number)
        finally:
            for route in wanted:
                self.run(self.subscriptions.drop(route.upstream, route.watched))

    # Changes and the end.

    def _changed(self, change: Change) -> None:
        if change.kind in ("tools", "prompts", "resources", "servers"):
            self.catalog.forget(change)
        self.subscriptions.publish(change)

    def end_streams(self) -> None:
        """End all held streams, so that an HTTP server that waits for its connections can stop (R-29)."""
        if not self.closing:
            self.closing = True
            self._drained_at = asyncio.get_running_loop().time() + self.settings.drain_seconds
        self.subscriptions.end_all()
        for listener in list(self._enders):
            listener()

    async def close(self) -> None:
        """Let requests under way finish for a while, then end everything; safe to call twice."""
        if self.closed:
            return
        self.closed = True
        self.end_streams()
        if self._running:
            left = self._drained_at - asyncio.get_running_loop().time()
            await asyncio.wait(set(self._running), timeout=max(0.0, left))
        for session in list(self.sessions.values()):
            self.close_session(session)
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.parking.close()
        await self.catalog.close()
        if self.owners is not None:
            await self.owners.close()
        self.keep_alive.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._unwatch()

    def on_end(self, end: Callable[[], None]) -> Callable[[], None]:
        """Have a held stream ended on shutdown; returns what takes that back."""
        self._enders[end] = None

        def take_back() -> None:
            self._enders.pop(end, None)

        return take_back
