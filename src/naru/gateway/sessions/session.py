"""A legacy client's session: who it is, what it waits for, what it must still be told. No transport lives here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

from naru.deadlines import bound
from naru.gateway.upstreams.upstream import Watched
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.protocol import INTERNAL_ERROR, RpcError
from naru.messages import Json, JsonObject
from naru.persons import reach

Push = Callable[[Frame], bool]
"""Takes a frame for the client; False when nobody listens any more."""

BACKLOG_FRAMES = 16
"""What is kept for a client whose stream is not open yet; a repeated notice is kept once."""


class Session:
    """One client between `initialize` and its end; bound to the caller who opened it (S-13)."""

    __slots__ = (
        "_asked",
        "_backlog",
        "_next_ask",
        "_pushes",
        "caller",
        "capabilities",
        "client",
        "ends",
        "id",
        "inflight",
        "initialized",
        "last_used",
        "log_level",
        "reach",
        "replay",
        "subscriptions",
        "version",
        "view",
    )

    def __init__(self, caller: str, view: str) -> None:
        self.id = secrets.token_urlsafe(24)
        """192 random bits; knowing it proves nothing without being the caller."""
        self.caller = caller
        self.view = view
        self.reach = reach()
        """What its caller may see: of what is hidden it hears nothing."""
        self.version = ""
        self.capabilities: JsonObject = {}
        self.client: JsonObject = {}
        self.initialized = False
        self.log_level = ""
        """Least severe log message wanted; empty: whatever the servers send."""
        self.last_used = 0.0
        self.inflight: dict[Json, asyncio.Task[object]] | None = None
        """Request id → the task that answers it, for `notifications/cancelled`."""
        self.subscriptions: dict[Watched, str] | None = None
        """What is watched by each `resources/subscribe` → the URI that it was asked under; empty before it counts."""
        self.replay: object | None = None
        """What a transport keeps for resumption."""
        self.ends: tuple[Callable[[], None], ...] = ()
        """End the streams that a transport holds open for it."""
        self._pushes: list[Push] | None = None
        self._backlog: dict[Frame, None] | None = None
        self._asked: dict[int, asyncio.Future[Json]] | None = None
        self._next_ask = 0

    def attach(self, push: Push) -> None:
        """Open a stream of the session; what waited for one is written to it. A later stream never replaces it."""
        self._pushes = [*(self._pushes or ()), push]
        backlog, self._backlog = self._backlog, None
        for frame in backlog or ():
            push(frame)

    def detach(self, push: Push) -> None:
        """Close a stream of the session; of two equal ones, one stays."""
        pushes = list(self._pushes or ())
        pushes.remove(push)
        self._pushes = pushes or None

    @property
    def listening(self) -> bool:
        """Whether a stream is open."""
        return self._pushes is not None

    def emit(self, frame: Frame) -> None:
        """Send a frame that belongs to no request, on exactly one stream."""
        for push in self._pushes or ():
            if push(frame):
                return
        if self._backlog is None:
            self._backlog = {}
        if len(self._backlog) < BACKLOG_FRAMES:
            self._backlog[frame] = None

    async def ask(self, method: str, params: JsonObject, emit: Callable[[Frame], None], timeout_seconds: float) -> Json:
        """Ask the client something on the given stream and return its result.

        Raises:
            RpcError: the client refused, or said nothing before the deadline.
        """
        self._next_ask += 1
        ask_id = self._next_ask
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self._asked is None:
            self._asked = {}
        self._asked[ask_id] = future
        emit(frames.request(ask_id, method, params))
        try:
            with bound(timeout_seconds):
                return await future
        except TimeoutError:
            self._take_back(ask_id, "deadline passed", emit)
            raise RpcError(
                INTERNAL_ERROR, f"The client did not answer {method} within {timeout_seconds:g} seconds."
            ) from None
        except asyncio.CancelledError:
            self._take_back(ask_id, "the request was cancelled", emit)
            raise
        finally:
            if self._asked is not None:
                self._asked.pop(ask_id, None)

    @staticmethod
    def _take_back(ask_id: int, reason: str, emit: Callable[[Frame], None]) -> None:
        emit(frames.notification("notifications/cancelled", {"requestId": ask_id, "reason": reason}))

    def answered(self, message: JsonObject) -> bool:
        """Give the client's response to whoever asked; False when nobody did."""
        ask_id = message["id"]
        future = (self._asked or {}).get(ask_id) if type(ask_id) is int else None
        if future is None or future.done():
            return False
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            code = error.get("code")
            said = str(error.get("message"))
            future.set_exception(RpcError(code if type(code) is int else INTERNAL_ERROR, said, error.get("data")))
        elif isinstance(result, dict):
            future.set_result(result)
        else:
            future.set_exception(RpcError(INTERNAL_ERROR, "The client's answer is neither a result nor an error."))
        return True

    def begin(self, request_id: Json, task: asyncio.Task[object]) -> None:
        """Note which task answers a request.

        Raises:
            RpcError: -32600, the client has a request of that id under way.
        """
        if self.inflight is None:
            self.inflight = {}
        if request_id in self.inflight:
            raise RpcError(-32600, f"A request with id {request_id!r} is still under way.")
        self.inflight[request_id] = task

    def finish(self, request_id: Json) -> None:
        """Forget a request that is answered."""
        if self.inflight is not None:
            self.inflight.pop(request_id, None)
            if not self.inflight:
                self.inflight = None

    def cancel(self, request_id: Json) -> None:
        """Cancel a request, as the client wishes; unknown ids are late and ignored."""
        task = (self.inflight or {}).get(request_id) if type(request_id) in (str, int) else None
        if task is not None:
            task.cancel()

    def unsubscribed(self, key: Watched) -> bool:
        """Forget a subscription; tell whether one was counted."""
        asked = (self.subscriptions or {}).pop(key, "")
        self.subscriptions = self.subscriptions or None
        return bool(asked)

    def close(self) -> None:
        """End everything that is under way, and the streams that are held open for it."""
        for end in self.ends:
            end()
        for task in list((self.inflight or {}).values()):
            task.cancel()
        for future in list((self._asked or {}).values()):
            future.cancel()
