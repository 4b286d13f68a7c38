"""Is it alive, is it ready: for load balancers and people (A-08)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.hub import Hub
from naru.web.routes import Access, Endpoint


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return `/healthz`, public and free of content, and `/readyz`, which names what is not ready."""

    async def healthz(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> Response:
        problems = hub.not_ready()
        return JSONResponse(
            {"status": "degraded" if problems else "ready", "problems": problems},
            status_code=503 if hub.closing else 200,
        )

    return [
        Endpoint("/healthz", ("GET",), healthz, Access.PUBLIC),
        Endpoint("/readyz", ("GET",), readyz, Access.READ),
    ]
