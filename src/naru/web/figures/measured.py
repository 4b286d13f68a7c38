"""How long each request of a face took and how it ended, for the figures (N24)."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naru.telemetry.figures import Figures
from naru.web.routes import Access, Endpoint


class Measured:
    """An ASGI application round the dispatcher.

    What users ask for is measured: POST requests that need their role. Looks at the console and held streams are not.
    """

    def __init__(self, app: ASGIApp, figures: Figures) -> None:
        self._app = app
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it has ended."""
        endpoint: Endpoint | None = scope["state"]["endpoint"] if scope["type"] == "http" else None
        if endpoint is None or scope["method"] != "POST" or endpoint.access is not Access.USER:
            await self._app(scope, receive, send)
            return
        status = 0
        started = time.monotonic()

        def seen(message: Message) -> object:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            return send(message)

        try:
            await self._app(scope, receive, seen)  # type: ignore[arg-type] # what send returns is awaitable
        finally:
            self._figures.request(endpoint.path, status, time.monotonic() - started)
