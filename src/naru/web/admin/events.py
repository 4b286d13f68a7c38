"""Changes of servers as Server-Sent Events: status, tools, registration; each with the server's present state."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.types import Receive, Scope, Send

from naru.connections.changes import STOPPING, Change
from naru.connections.manager import Manager
from naru.stores.secrets.redact import REDACTOR

KEEP_ALIVE_SECONDS = 15.0
MAX_WAITING = 256
"""Events kept for a reader that does not read; more, and its stream is closed."""
_ON_ITS_WAY_SECONDS = 1.0
"""How long a request to follow may have been on its way: what happened meanwhile counts as not known either."""


_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class _Changes:
    """What one reader has not been told yet."""

    def __init__(self, only: str | None) -> None:
        self._only = only
        self._queue: asyncio.Queue[Change | None] = asyncio.Queue(MAX_WAITING)

    async def next(self) -> Change | None:
        """Wait for the next change; None where the stream is to end."""
        return await self._queue.get()

    def hear(self, change: Change) -> None:
        """Keep a change for the reader; one that does not read has its stream closed."""
        if self._only is not None and change.server != self._only and change.what != STOPPING:
            return
        try:
            self._queue.put_nowait(None if change.what == STOPPING else change)
        except asyncio.QueueFull:
            while not self._queue.empty():
                self._queue.get_nowait()
            self._queue.put_nowait(None)


class ServerEvents:
    """Stream every change of the servers, of all of them or of the one that the path names.

    A page reads first and follows then. With `age`, the milliseconds since it began to read, the first event, `ready`,
    says whether anything may have changed since: `{"isNews": true}`.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._changed_at = -float("inf")
        manager.subscribe(self._note)

    def _note(self, _change: Change) -> None:
        self._changed_at = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or does not read."""
        only: str | None = scope.get("path_params", {}).get("name")
        changes = _Changes(only)
        stop = self._manager.subscribe(changes.hear)
        gone = asyncio.ensure_future(_client_gone(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            # A page that has just read the list need not hear the state of a thousand servers again.
            asked = dict(parse_qsl(scope.get("query_string", b"")))
            skips_present, age = asked.get(b"present") == b"0", asked.get(b"age", b"")[:9]
            for name in () if skips_present else [only] if only else list(self._manager.connections):
                await _write(send, "status", self._state(name))
            await _write(send, "ready", {"isNews": self._is_news(int(age))} if age.isdigit() else {})
            await self._follow(changes, gone, send)
            if not gone.done():
                await send({"type": "http.response.body", "body": b""})
        finally:
            stop()
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone

    async def _follow(self, changes: _Changes, gone: asyncio.Task[None], send: Send) -> None:
        """Write what changes until the client is gone, does not read, or Naru stops."""
        while not gone.done():
            event = asyncio.ensure_future(changes.next())
            await asyncio.wait({event, gone}, timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not event.done():
                event.cancel()
                await send({"type": "http.response.body", "body": b": keepalive\n\n", "more_body": True})
                continue
            change = event.result()
            if change is None:
                return
            await _write(send, change.what, self._state(change.server))

    def _is_news(self, age_ms: int) -> bool:
        return time.monotonic() - self._changed_at <= age_ms / 1000 + _ON_ITS_WAY_SECONDS

    def _state(self, name: str) -> dict[str, Any]:
        if name not in self._manager.connections:
            return {"name": name}
        found = self._manager.explain(name)
        return {
            "name": name,
            "status": found.status,
            "toolCount": len(self._manager.tools(name)),
            "summary": REDACTOR.clean(found.summary),
        }


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, event: str, data: dict[str, Any]) -> None:
    body = b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})
