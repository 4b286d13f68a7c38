"""What the console's pages list: servers, tools, approvals, models; in pages, so that thousands stay quick to show."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import NotFoundError
from naru.hub import Hub
from naru.messages import JsonObject, ToolDefinition
from naru.models.backend import Backend
from naru.models.measurable import measured
from naru.records import ServerRecord, ServerStatus
from naru.web.admin import wire
from naru.web.admin.approvals import seen_calls
from naru.web.console.measuring import told
from naru.web.query import whole_number

PAGE = 50
MAX_PAGE = 200
DESCRIPTION = 240
"""Characters of a description in a list; the tool's own page has all."""
_ATTENTION = {
    ServerStatus.FAILED: 0,
    ServerStatus.NEEDS_AUTH: 0,
    ServerStatus.DEGRADED: 1,
    ServerStatus.CONNECTING: 2,
    ServerStatus.PENDING: 2,
    ServerStatus.CONNECTED: 3,
    ServerStatus.DISCONNECTED: 4,
    ServerStatus.DISABLED: 5,
}
"""What a person should see first."""


class Lists:
    """The handlers."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def servers(self, request: Request) -> Response:
        """List servers in pages, those that need attention first: `q`, `state`, `limit`, `offset`."""
        words = _words(request.query_params)
        manager = self._hub.manager
        found: list[tuple[ServerStatus, ServerRecord]] = []
        for record in await manager.list_servers():
            connection = manager.connections.get(record.name)
            status = connection.status if connection else ServerStatus.PENDING
            if _matches(words, record.name, record.description or ""):
                found.append((status, record))
        states = Counter(status for status, _ in found)
        wanted = request.query_params.get("state", "").upper()
        shown = [one for one in found if not wanted or one[0] == wanted]
        shown.sort(key=lambda one: (_ATTENTION[one[0]], one[1].name))
        page = _slice(request.query_params)
        return JSONResponse(
            {
                "total": len(shown),
                "states": states,
                "servers": [_server(wire.summary_of(manager, record)) for _, record in shown[page]],
            }
        )

    async def tools(self, request: Request) -> Response:
        """List tools in pages: `q`, `server`, `limit`, `offset`; `schemas=1` with their schemas."""
        words = _words(request.query_params)
        server = request.query_params.get("server", "")
        found = [
            tool
            for tool in await self._hub.tools().tools()
            if (not server or tool.server == server) and _matches(words, tool.name, tool.title, tool.description)
        ]
        page = found[_slice(request.query_params)]
        full = request.query_params.get("schemas") == "1"
        return JSONResponse(
            {"total": len(found), "tools": [tool_data(tool) if full else _brief(tool) for tool in page]}
        )

    async def tool(self, request: Request) -> Response:
        """Show one tool with its schema."""
        name = request.path_params["name"]
        for tool in await self._hub.tools().tools():
            if tool.name == name:
                return JSONResponse(tool_data(tool))
        raise NotFoundError(f"No tool named {name[:200]!r} is offered.", remedy="Is its server connected?")

    async def approvals(self, request: Request) -> Response:
        """List the tools of all servers that wait for approval, with the difference to what was approved."""
        manager = self._hub.manager
        waiting = [
            {"server": name, **tool.model_dump(by_alias=True)}
            for name in sorted(manager.connections)
            for tool in wire.withheld_of(manager, name)
            if tool.status in ("pending", "changed")
        ]
        held = len(seen_calls(self._hub.approvals.waiting)) if self._hub.approvals is not None else 0
        if request.query_params.get("count") == "1":
            return JSONResponse({"total": len(waiting) + held})
        return JSONResponse({"total": len(waiting), "tools": waiting[:MAX_PAGE]})

    async def models(self, request: Request) -> Response:
        """List the models with what is known of each."""
        names = await self._hub.backend.models()
        backend = self._hub.backend
        return JSONResponse(
            {
                "models": [
                    {"name": name, **_profile(self._hub, name), "measured": _measured(backend, name)} for name in names
                ]
            }
        )


def _measured(backend: Backend, name: str) -> JsonObject | None:
    found = measured(backend, name)
    return found and {**found, "checks": [told(check) for check in found["checks"]]}


def tool_data(tool: ToolDefinition) -> JsonObject:
    """Return a tool with everything that its server says of it."""
    return {
        "name": tool.name,
        "server": tool.server,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": tool.annotations,
    }


def _brief(tool: ToolDefinition) -> JsonObject:
    text = " ".join(tool.description.split())
    cut = text if len(text) <= DESCRIPTION else f"{text[:DESCRIPTION]}…"
    return {"name": tool.name, "server": tool.server, "title": tool.title, "description": cut}


def _server(summary: dict[str, Any]) -> JsonObject:
    shown: JsonObject = {
        key: summary[key]
        for key in ("name", "description", "transportType", "status", "toolCount", "autoConnect")
        if key in summary
    }
    if summary["status"] != ServerStatus.CONNECTED and summary.get("lastFailure"):
        shown["why"] = summary["lastFailure"]["message"]
    return shown


def _profile(hub: Hub, name: str) -> JsonObject:
    backend = hub.backend
    select = getattr(backend, "for_model", None)
    known = asdict((select(name) if select else backend).profile)
    return {key: sorted(value) if isinstance(value, set | frozenset) else value for key, value in known.items()}


def _words(query: QueryParams) -> list[str]:
    return query.get("q", "")[:200].lower().split()


def _matches(words: list[str], *texts: str) -> bool:
    if not words:
        return True
    text = " ".join(texts).lower()
    return all(word in text for word in words)


def _slice(query: QueryParams) -> slice:
    limit = min(_number(query, "limit", PAGE), MAX_PAGE)
    offset = _number(query, "offset", 0)
    return slice(offset, offset + limit)


def _number(query: QueryParams, name: str, default: int) -> int:
    found = whole_number(query, name)
    return default if found is None else found
