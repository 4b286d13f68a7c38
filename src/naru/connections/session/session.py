"""JSON-RPC over one transport, in both protocol eras: plain dicts in, plain dicts out.

What faces may rely on (the seam of decision 4):

* `Session.request(method, params, options)` returns the `result` as the server sent it, unknown keys kept; a JSON-RPC
  error is raised as `RpcError` with code, message and data as sent; no answer at all is a `LinkError`.
* `RequestOptions.on_notification` hears the notifications that belong to that request: its progress (with the caller's
  own token put back), and on HTTP whatever comes on its stream. It is called in order, synchronously.
* A server's own requests (sampling, elicitation, roots; legacy era) go to the `on_request` of the request they came
  with or name, or of the only client with requests in flight, else to `Hooks.on_request`; else they are refused.
* In the modern era the envelope (`_meta`) is added here; keys that the caller brings win, so that a gateway can
  forward its own client's capabilities. Results of type `input_required` are returned like any other.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from naru import __version__
from naru.connections.session.asking import find_asked
from naru.connections.session.listening import ChangeListener
from naru.connections.session.options import DEFAULT_OPTIONS, OnRequest, RequestOptions, ServerRequest
from naru.connections.state.faults import Failure, LinkError, RpcError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Outgoing, Transport
from naru.connections.wire import messages as wire
from naru.connections.wire.protocol import (
    INTERNAL_ERROR,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_VERSION,
    METHOD_NOT_FOUND,
    NAMED_BY,
    Era,
)
from naru.connections.wire.results import is_well_formed, sloppy_content, well_formed, without_task
from naru.deadlines import Deadline
from naru.messages import Json, JsonObject
from naru.tasks import Tasks

logger = logging.getLogger(__name__)

CLIENT_INFO: JsonObject = {"name": "naru", "title": "Naru", "version": __version__}
_MAX_SERVER_REQUESTS = 100
_MAX_UNSENT = 2 * _MAX_SERVER_REQUESTS
"""Answers to a server that does not take them; what it asks beyond that is dropped, or they would pile up."""
_LIST_CHANGED = {f"notifications/{kind}/list_changed": kind for kind in ("tools", "prompts", "resources")}


class Listener(Protocol):
    """What a session tells its owner."""

    def begun(self, session: Session) -> None:
        """Learn of a session before it is negotiated: its log matters most when that fails."""
        ...

    def list_changed(self, kind: str) -> None:
        """`tools`, `prompts` or `resources` changed on the server."""
        ...

    def notified(self, method: str, params: JsonObject) -> None:
        """Hear a notification that belongs to no request."""
        ...

    def link_lost(self) -> None:
        """Learn that `failure` of the session is set now."""
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the hub answers to servers on behalf of its own clients; the default declares and answers nothing (S-58)."""

    capabilities: JsonObject = field(default_factory=dict)
    """Client capabilities to declare (`sampling`, `elicitation`, `roots`, …)."""
    on_request: OnRequest | None = None
    on_notification: Callable[[str, str, JsonObject], None] | None = None
    """Gets server, method and params of notifications that belong to no request."""


class _InFlight:
    """The caller's side of one request."""

    __slots__ = ("deadline", "limit", "options", "token")

    def __init__(self, options: RequestOptions, token: Json, deadline: Deadline, limit: float) -> None:
        self.options = options
        self.token = token
        self.deadline = deadline
        self.limit = limit


class Session:
    """One negotiated conversation with a server; ends with its transport."""

    def __init__(
        self,
        server: str,
        transport: Transport,
        listener: Listener,
        *,
        settings: ConnectionSettings,
        hooks: Hooks,
    ) -> None:
        self.server = server
        self.transport = transport
        self.era: Era = "legacy"
        self.version = ""
        """The negotiated protocol version; empty until then."""
        self.capabilities: JsonObject = {}
        self.server_info: JsonObject = {}
        self.instructions = ""
        self.failure: Failure | None = None
        """Set once the link is dead."""
        self.session_gone = False
        self.last_heard = 0.0
        """Loop time of the last sign of life."""
        self._listener = listener
        self._settings = settings
        self._hooks = hooks
        self._ids = itertools.count(1)
        self._in_flight: dict[int, Outgoing] = {}
        self._as_tasks: dict[int, Outgoing] = {}
        """By token, the last request of each call that is a task."""
        self._tasks = Tasks()
        self._asked: dict[Json, asyncio.Task[None]] = {}
        """By its id, each question of the server that is not answered yet."""
        self._changes = ChangeListener(self)
        self._endless: dict[int, asyncio.Task[Any] | None] = {}
        """By its id, who waits for the end of each subscription."""
        self._loop = asyncio.get_running_loop()

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer, without the subscription that always does."""
        return len(self._in_flight) - len(self._endless)

    def watch(self, uris: frozenset[str]) -> None:
        """Hear of changes of a stateless server: of its lists, and of these resources."""
        self._changes.watch(uris)

    def listen(self) -> None:
        """Begin to hear what the server says of itself, in the way of its era."""
        if self.era == "legacy":
            self.transport.listen(self.version)
        elif self._changes.wanted():
            self._changes.restart()

    @contextmanager
    def one_call(self, options: RequestOptions) -> Iterator[RequestOptions]:
        """Return options by which several requests are one call: what is said of the first is for whoever waits."""
        options = replace(options, token=next(self._ids))
        try:
            yield options
        finally:
            self._as_tasks.pop(options.token, None)

    async def request_endless(self, method: str, notifications: JsonObject) -> JsonObject:
        """Send a request whose answer ends a subscription: no deadline. Raises as `request` does."""
        call = self._outgoing(method, {"notifications": notifications}, DEFAULT_OPTIONS)
        self._in_flight[call.id] = call
        self._endless[call.id] = asyncio.current_task()
        try:
            message = await self.transport.exchange(call)
        except asyncio.CancelledError:
            self.transport.abandon(call, "the subscription ends")
            raise
        finally:
            del self._endless[call.id], self._in_flight[call.id]
        return self._result(method, message)

    @property
    def hooks(self) -> Hooks:
        """What we declare and answer."""
        return self._hooks

    async def request(
        self, method: str, params: Mapping[str, Json] | None = None, options: RequestOptions = DEFAULT_OPTIONS
    ) -> JsonObject:
        """Send one request, exactly once, and return its result.

        Raises:
            RpcError: the server answered with an error.
            LinkError: no answer came; `delivered` says whether it may have run.
        """
        call = self._outgoing(method, params, options)
        seconds = self._settings.request_timeout_seconds if options.timeout_seconds is None else options.timeout_seconds
        most = self._settings.request_limit_seconds
        seconds = min(seconds, most)
        self._in_flight[call.id] = call
        now = self._loop.time()
        first = self._as_tasks.get(options.token)  # several that are one call have one deadline
        when, limit = (first.context.deadline.when, first.context.limit) if first else (now + seconds, now + most)
        deadline = Deadline(self._loop, when)
        try:
            call.context = _InFlight(options, _own_token(params, options), deadline, limit)
            if options.token:
                self._as_tasks[options.token] = call
            message = await self.transport.exchange(call)
        except LinkError as error:
            raise error.without(self.transport.secrets) from error.__cause__
        except TimeoutError:
            raise self._too_late(call, seconds) from None
        except asyncio.CancelledError:
            if deadline.explains():
                raise self._too_late(call, seconds) from None
            self.transport.abandon(call, "the caller went away")
            raise
        finally:
            deadline.lift()
            del self._in_flight[call.id]
        self.last_heard = self._loop.time()
        return self._result(method, message)

    def _too_late(self, call: Outgoing, seconds: float) -> LinkError:
        said = f"no answer within {seconds:g} s"
        self.transport.abandon(call, said)
        failure = Failure("call", "timeout", f"{said}.", "If it needs longer, raise `timeout` of the server's entry.")
        return LinkError(failure, delivered=True)

    def list_changed(self, kind: str) -> None:
        """Tell the owner that a list is out of date."""
        self._listener.list_changed(kind)

    async def notify(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification. Raises LinkError."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = dict(params)
        try:
            await self.transport.send(wire.encode(message), version=self.version)
        except LinkError as error:
            raise error.without(self.transport.secrets) from error.__cause__

    def _outgoing(self, method: str, params: Mapping[str, Json] | None, options: RequestOptions) -> Outgoing:
        request_id = next(self._ids)
        sent = dict(params) if params else {}
        meta: JsonObject = {**sent.get("_meta", {}), **options.meta}
        if self.era == "modern":
            meta = {META_CLIENT_INFO: CLIENT_INFO, META_CLIENT_CAPABILITIES: self._hooks.capabilities, **meta}
            meta[META_VERSION] = self.version
        if options.on_notification is not None or "progressToken" in meta:
            # Tokens of many callers share this session, so each request's own id stands in for its token.
            meta["progressToken"] = options.token or request_id
        if meta:
            sent["_meta"] = meta
        frame: JsonObject = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if sent:
            frame["params"] = sent
        headers = options.headers
        if headers:
            headers = {name: value for name, value in headers.items() if name.lower().startswith("mcp-param-")}
        named_by = NAMED_BY.get(method)
        name = str(sent.get(named_by, "")) if named_by else ""
        return Outgoing(request_id, method, wire.encode(frame), self.era, self.version, name, headers)

    def _result(self, method: str, message: JsonObject) -> JsonObject:
        result = message.get("result")
        error = message.get("error")
        if error is None and isinstance(result, dict):
            return result if method != "tools/call" or is_well_formed(result) else well_formed(result)
        if error is None and "result" in message and (result is None or method == "tools/call"):
            # Of a result that holds nothing, servers in Go write null.
            return sloppy_content(result) if method == "tools/call" else {}
        if isinstance(error, dict) and result is None:
            code = error.get("code")
            text = str(error.get("message") or "no message")
            raise RpcError(code if type(code) is int else INTERNAL_ERROR, text, error.get("data"), server=self.server)
        self.transport.counters.malformed += 1
        what = "neither result nor error"
        if error is not None and result is not None:
            what = "both a result and an error"
        elif error is not None or "result" in message:
            what = "a result or an error that is no object"
        said = f"its answer to {method} has {what}."
        failure = Failure("call", "protocol", said, "Report it to the server's makers.")
        raise LinkError(failure, delivered=True)

    # What the transport calls

    def receive(self, message: JsonObject, call: Outgoing | None) -> None:
        """Take a notification or a request of the server."""
        self.last_heard = self._loop.time()
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            self.transport.counters.noise_lines += 1
        elif "id" in message:
            self._serve(message["id"], method, params, call)
        elif method == "notifications/progress":
            self._progress(params)
        elif method == "notifications/cancelled":
            self._take_back(params.get("requestId"))
        else:
            self._notification(method, params, call)

    def lost(self, failure: Failure) -> None:
        """Take note that the link is dead."""
        if self.failure is None:
            self.failure = failure.without(self.transport.secrets)
            self.session_gone = failure.code == "session_gone"
            self._listener.link_lost()

    def _progress(self, params: JsonObject) -> None:
        token: Json = params.get("progressToken")
        call = (self._in_flight.get(token) or self._as_tasks.get(token)) if type(token) is int else None
        if call is None or call.context is None:
            self.transport.counters.strays += 1
            return
        waiting: _InFlight = call.context
        if waiting.options.progress_extends:
            seconds = waiting.options.timeout_seconds or self._settings.request_timeout_seconds
            waiting.deadline.move(min(self._loop.time() + seconds, waiting.limit))
        if waiting.options.on_notification is not None:
            shown = params if waiting.token is None else {**params, "progressToken": waiting.token}
            waiting.options.on_notification("notifications/progress", shown)

    def _notification(self, method: str, params: JsonObject, call: Outgoing | None) -> None:
        if method == "notifications/subscriptions/acknowledged":
            self._changes.acknowledged()
        elif kind := _LIST_CHANGED.get(method):
            self._listener.list_changed(kind)
        elif call is not None and call.context is not None and call.context.options.on_notification is not None:
            call.context.options.on_notification(method, params)
        else:
            self._listener.notified(method, params)

    def _serve(self, request_id: Json, method: str, params: JsonObject, call: Outgoing | None) -> None:
        waiting = len(self._tasks)
        if waiting >= _MAX_UNSENT:
            self.transport.counters.strays += 1
            return
        is_too_many = waiting >= _MAX_SERVER_REQUESTS
        answering = self._tasks.begin(self._answer(request_id, method, params, call, is_too_many=is_too_many))
        if isinstance(request_id, str | int):
            self._asked[request_id] = answering
            answering.add_done_callback(lambda _: self._asked.pop(request_id, None))

    def _take_back(self, request_id: Json) -> None:
        """Ask no longer what the server asked, or end the subscription that it ended; other ids are nobody's."""
        taken_back: Mapping[Any, asyncio.Task[Any] | None] = self._endless if self.era == "modern" else self._asked
        if isinstance(request_id, str | int) and (task := taken_back.get(request_id)) is not None:
            task.cancel()

    async def _answer(
        self, request_id: Json, method: str, params: JsonObject, call: Outgoing | None, *, is_too_many: bool
    ) -> None:
        why = "is not available"
        if call is None:
            # Not before this turn: whoever was just told of a task waits for it by now.
            call, why = find_asked(list(self._in_flight.values()), params)
        handler = call.context.options.on_request if call is not None and call.context is not None else None
        handler = handler or self._hooks.on_request
        if is_too_many:
            handler, why = None, f"is one question too many: {_MAX_SERVER_REQUESTS} wait for an answer"
        asked = ServerRequest(self.server, method, without_task(params))
        answer: JsonObject = {"jsonrpc": "2.0", "id": request_id}
        try:
            if asked.method == "ping":
                answer["result"] = {}
            elif handler is None:
                raise RpcError(METHOD_NOT_FOUND, f"{asked.method} {why}")
            else:
                answer["result"] = await handler(asked)
        except RpcError as error:
            answer["error"] = error.as_error()
        except Exception:  # noqa: BLE001 - the edge: whatever a handler does, the server gets an answer
            logger.exception("handler of %s for server %s failed", asked.method, self.server)
            answer["error"] = {"code": INTERNAL_ERROR, "message": "the request could not be answered"}
        try:
            await self.transport.send(wire.encode(answer), version=self.version)
        except LinkError as error:
            logger.debug("answer to %s of server %s was not delivered: %s", asked.method, self.server, error)

    def own(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something until it ends or the session is closed."""
        self._tasks.begin(work)

    async def close(self) -> None:
        """End the conversation and its transport; what still waits fails."""
        counters, strays = self.transport.counters, self.transport.counters.strays
        self._tasks.cancel()
        await self.transport.close()
        counters.strays = strays  # what it answers to requests that end with the link is no slip
        await self._tasks.end()  # what the server asked while it was being closed, too


def _own_token(params: Mapping[str, Json] | None, options: RequestOptions) -> Json:
    """Return the progress token that the caller chose, if any."""
    token, meta = options.meta.get("progressToken"), params.get("_meta") if params else None
    if token is None and isinstance(meta, dict):
        token = meta.get("progressToken")
    return token
