"""Is it alive, is it ready: for load balancers and people (A-08)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.hub import Hub
from naru.messages import JsonObject
from naru.stores.secrets.redact import REDACTOR
from naru.web.routes import Access, Endpoint


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return `/healthz` and `/readyz`, public for probes; what is not ready `/readyz` names to those with a key."""

    async def healthz(request: Request) -> Response:
        """Say that it is alive, and nothing else."""
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> Response:
        """Say whether it is ready, to those with a key also what is not; 503 while it stops."""
        problems = [REDACTOR.clean(problem) for problem in hub.not_ready()]
        if hub.audit is not None and hub.audit.failures:
            problems.append(f"audit log: {hub.audit.failures} batches could not be written")
        said: JsonObject = {"status": "degraded" if problems else "ready"}
        if request.state.principal.role >= Access.READ:
            said["problems"] = problems
        return JSONResponse(said, status_code=503 if hub.closing else 200)

    return [
        Endpoint("/healthz", ("GET",), healthz, Access.PUBLIC),
        Endpoint("/readyz", ("GET",), readyz, Access.PUBLIC),
    ]
