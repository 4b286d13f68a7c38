"""An ASGI request by hand: what is sent to its client, whose connection stays open for as long as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp


class HeldRequest:
    """One request; its client leaves when the answer has ended, or when `leave` is called."""

    def __init__(
        self, path: str, *, query: str = "", body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        given = {"host": "127.0.0.1:20006", **(headers or {})}
        self.scope = {
            "type": "http",
            "method": "POST" if body else "GET",
            "path": path,
            "query_string": query.encode(),
            "server": ("127.0.0.1", 20006),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }
        self.sent: asyncio.Queue[Any] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._coming = [{"type": "http.request", "body": body}] if body else []

    async def __call__(self, app: ASGIApp) -> None:
        await app(self.scope, self._receive, self._send)

    async def _receive(self) -> Mapping[str, Any]:
        if self._coming:
            return self._coming.pop()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.sent.put(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.leave()

    def leave(self) -> None:
        """Have the client go."""
        self._gone.set()

    async def hears(self, *parts: bytes) -> None:
        """Wait until all of these came, in this order."""
        text = b""
        async with asyncio.timeout(60):
            for part in parts:
                while part not in text:
                    text += (await self.sent.get()).get("body", b"")
                text = text.partition(part)[2]

    def rest(self) -> list[Any]:
        """Return the messages that came since."""
        return [self.sent.get_nowait() for _ in range(self.sent.qsize())]
