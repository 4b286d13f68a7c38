"""A span for each HTTP request, under the trace that its `traceparent` header names; only while tracing is on."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naru.telemetry.tracing import CONTEXT_KEYS, Attribute, active, spanning
from naru.web.routes import Endpoint


class Traced:
    """An ASGI application round the dispatcher."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on inside of its span."""
        tracing = active()
        if tracing is None or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        endpoint: Endpoint = scope["state"]["endpoint"]
        attributes: dict[str, Attribute | None] = {
            "http.request.method": scope["method"],
            "http.route": endpoint.path,
            "url.path": scope["path"],
            "url.scheme": scope.get("scheme", "http"),
        }
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name.decode("latin-1") in CONTEXT_KEYS
        }
        with spanning(tracing.begin(f"{scope['method']} {endpoint.path}", "server", attributes, carrier)) as span:

            async def seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    span.set({"http.response.status_code": status})
                    if status >= 500:
                        span.fail(str(status))
                await send(message)

            await self._app(scope, receive, seen)
