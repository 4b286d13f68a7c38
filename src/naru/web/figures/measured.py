"""How long each request of a face took and how it ended, for the figures (N24)."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Receive, Scope, Send

from naru.telemetry.figures import Figures
from naru.web.routes import Access, Endpoint


def measured(row: Endpoint, app: ASGIApp, figures: Figures) -> ASGIApp:
    """Return the application of a row with its requests counted as they end.

    What users ask for is measured: POST requests that need their role. Looks at the console and held streams are not.
    """
    if row.access is not Access.USER or "POST" not in row.methods:
        return app

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        started = time.monotonic()
        try:
            await app(scope, receive, send)
        finally:
            figures.request(row.path, scope["state"].get("status", 0), time.monotonic() - started)

    return counted
