"""Runs over HTTP: list, open, replay (N13). A caller sees its own; operators and admins see all."""

from __future__ import annotations

from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import NotFoundError
from naru.messages import JsonObject
from naru.models.backend import Backend
from naru.replaying import replay
from naru.stores.kept.runs import RunStore
from naru.web.query import whole_number
from naru.web.routes import Access, Endpoint

MAX_LISTED = 200
_PAGE = 50


class RunHub(Protocol):
    """What this face needs of the hub."""

    @property
    def runs(self) -> RunStore:
        """Where runs are kept."""
        ...

    @property
    def backend(self) -> Backend:
        """For replays against the live model."""
        ...


def endpoints(hub: RunHub) -> list[Endpoint]:
    """Return the rows."""
    face = Runs(hub)
    return [
        Endpoint("/api/runs", ("GET",), face.list_runs, Access.READ),
        Endpoint("/api/runs/{id}", ("GET",), face.show, Access.READ),
        Endpoint("/api/runs/{id}/replay", ("POST",), face.replay, Access.USER),
    ]


class Runs:
    """The handlers."""

    def __init__(self, hub: RunHub) -> None:
        self._hub = hub

    async def list_runs(self, request: Request) -> Response:
        """List runs, newest first: `limit`, `q`, `reason`; begun `before`, ended `after` a time (epoch ms)."""
        query = request.query_params
        limit = whole_number(query, "limit")
        found = await self._hub.runs.newest(
            limit=_PAGE if limit is None else min(limit, MAX_LISTED),
            before=whole_number(query, "before"),
            after=whole_number(query, "after"),
            text=query.get("q", ""),
            caller=_only(request),
            reason=query.get("reason", ""),
        )
        return JSONResponse({"runs": found})

    async def show(self, request: Request) -> Response:
        """Return one run with all its steps."""
        return JSONResponse(await self._find(request))

    async def replay(self, request: Request) -> Response:
        """Run it again from its recording; with `?model=NAME` against the live model, tools still as recorded."""
        run = await self._find(request)
        model = request.query_params.get("model")
        return JSONResponse(await replay(run, backend=self._hub.backend if model else None, model=model or ""))

    async def _find(self, request: Request) -> JsonObject:
        run_id = request.path_params["id"]
        run = await self._hub.runs.get(run_id)
        only = _only(request)
        if run is None or (only is not None and run.get("caller") != only):
            raise NotFoundError(f"There is no run {run_id!r}.")
        return run


def _only(request: Request) -> str | None:
    """Return the caller whose runs may be seen; None is all (S-66)."""
    principal = request.scope.get("state", {}).get("principal")
    if principal is None or (principal.role >= Access.OPERATOR and principal.reach.is_whole):
        return None  # a run of somebody else's tells of tools that a limited operator may not see
    return str(principal.id)
