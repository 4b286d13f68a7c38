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


class ServerEvents:
    """An ASGI application: follow the servers, all of them or the one that the path names.

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
        # A page that has just read the list need not hear the state of a thousand servers again.
        asked = dict(parse_qsl(scope.get("query_string", b"")))
        skips_present, age = asked.get(b"present") == b"0", asked.get(b"age", b"")[:9]
        queue: asyncio.Queue[Change | None] = asyncio.Queue(MAX_WAITING)

        def hear(change: Change) -> None:
            if only is not None and change.server != only and change.what != STOPPING:
                return
            try:
                queue.put_nowait(None if change.what == STOPPING else change)
            except asyncio.QueueFull:
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)

        stop = self._manager.subscribe(hear)
        gone = asyncio.ensure_future(_client_gone(receive))
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [
                        (b"content-type", b"text/event-stream"),
                        (b"cache-control", b"no-store"),
                        (b"x-accel-buffering", b"no"),
                    ],
                }
            )
            for name in () if skips_present else [only] if only else list(self._manager.connections):
                await _write(send, "status", self._state(name))
            await _write(send, "ready", {"isNews": self._is_news(int(age))} if age.isdigit() else {})
            while not gone.done():
                event = asyncio.ensure_future(queue.get())
                await asyncio.wait({event, gone}, timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if not event.done():
                    event.cancel()
                    await send({"type": "http.response.body", "body": b": keepalive\n\n", "more_body": True})
                    continue
                change = event.result()
                if change is None:
                    break
                await _write(send, change.what, self._state(change.server))
            if not gone.done():
                await send({"type": "http.response.body", "body": b""})
        finally:
            stop()
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone

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
