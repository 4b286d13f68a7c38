"""The admin API of MCP servers under `/api/mcp/servers` (H9), on the hub's manager."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from naru.config import Settings
from naru.connections.manager import Manager
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.errors import ConflictError, NotFoundError
from naru.persons import reach
from naru.records import ServerRecord, TransportType, now_ms
from naru.stores.formats.spellings import PROGRAM_KEYS
from naru.stores.secrets.redact import REDACTOR, is_mask, masked_config, unmasked_config
from naru.web.admin import wire
from naru.web.admin.events import ServerEvents
from naru.web.audited import note_audit
from naru.web.bodies import BodyError, UnusableBodyError, parse_body, read_json
from naru.web.problems import problem
from naru.web.routes import Access, Endpoint

BASE = "/api/mcp/servers"
READ_ONLY = (
    "id name status toolCount lastError lastErrorAt lastFailure createdAt updatedAt tools withheldTools explanation "
    "launch protocolVersion serverInfo warnings".split()
)
"""Members of an answer that a client may send back unchanged, and never change."""


class ServerHub(Protocol):
    """What this face needs of the hub."""

    @property
    def manager(self) -> Manager:
        """The MCP servers."""
        ...

    @property
    def settings(self) -> Settings:
        """The rules."""
        ...


class PreconditionFailedError(ConflictError):
    """The server was changed since it was read."""

    code = "precondition_failed"
    http_status = 412


def endpoints(hub: ServerHub) -> list[Endpoint]:
    """Return the rows of the admin API."""
    face = AdminServers(hub)
    one = BASE + "/{name}"
    events = ServerEvents(hub.manager)
    return [
        Endpoint(BASE, ("GET",), face.list_servers, Access.READ),
        Endpoint(BASE, ("POST",), face.register, Access.ADMIN),
        Endpoint(one, ("GET",), face.show, Access.READ),
        Endpoint(one, ("PUT",), face.replace, Access.ADMIN),
        Endpoint(one, ("PATCH",), face.patch, Access.ADMIN),
        Endpoint(one, ("DELETE",), face.remove, Access.ADMIN),
        Endpoint(one + "/connect", ("POST",), face.connect, Access.OPERATOR),
        Endpoint(one + "/disconnect", ("POST",), face.disconnect, Access.OPERATOR),
        Endpoint(one + "/refresh", ("POST",), face.refresh, Access.OPERATOR),
        Endpoint(one + "/tools", ("GET",), face.tools, Access.READ),
        Endpoint(one + "/approve", ("POST",), face.approve, Access.OPERATOR),
        Endpoint(one + "/explanation", ("GET",), face.explanation, Access.READ),
        Endpoint(one + "/logs", ("GET",), face.logs, Access.OPERATOR),
        Endpoint(one + "/events", ("GET",), events, Access.READ, raw=True),
        Endpoint("/api/mcp/events", ("GET",), events, Access.READ, raw=True),
        Endpoint("/api/mcp/problems", ("GET",), face.problems, Access.READ),
    ]


class AdminServers:
    """The handlers. Each docstring's first line is the operation's summary in the OpenAPI document."""

    def __init__(self, hub: ServerHub) -> None:
        self._hub = hub
        self._policy = Policy(hub.settings.mcp.security)

    @property
    def _manager(self) -> Manager:
        return self._hub.manager

    async def list_servers(self, request: Request) -> Response:
        """List all servers with status and tool count."""
        records = await self._manager.list_servers()
        return JSONResponse([wire.summary_of(self._manager, record) for record in records])

    async def problems(self, request: Request) -> Response:
        """List stored entries that cannot be used, with the place and the reason."""
        await self._manager.list_servers()
        found = self._manager.problems()
        return JSONResponse([{"place": one.place, "reason": REDACTOR.clean(one.reason)} for one in found])

    async def register(self, request: Request) -> Response:
        """Register a server and connect it, unless `autoConnect` is false."""
        body = parse_body(wire.ServerBody, await read_json(request))
        given = body.model_dump(exclude_unset=True)
        record = _record(given)
        wire.check_config_keys(record.transport_type, record.config, {})
        if any(True for _ in _masks(record.config)):
            raise UnusableBodyError("The config holds a mask instead of a secret.")
        self._check(request, record)
        note_audit(request.scope, server=record.name, transport=record.transport_type)
        await self._manager.register(record)
        if record.auto_connect and record.enabled:
            await self._manager.connect(record.name)
        location = {"Location": f"{BASE}/{record.name}"}
        return self._shown(await self._record(record.name), 201, location)

    async def show(self, request: Request) -> Response:
        """Show a server with its tools, its config (secrets masked) and what is wrong with it."""
        return self._shown(await self._record(request.path_params["name"]))

    async def replace(self, request: Request) -> Response:
        """Change a server: members that are left out stay; `config` is replaced as a whole."""
        record = await self._matching(request)
        data = self._writable(record, await read_json(request))
        change = parse_body(wire.ServerChange, data).model_dump(exclude_unset=True)
        return await self._change(request, record, change)

    async def patch(self, request: Request) -> Response:
        """Change a server by a JSON Merge Patch (RFC 7396): `null` removes a member."""
        record = await self._matching(request)
        data = self._writable(record, await read_json(request))
        change = parse_body(wire.ServerChange, {**data, "config": {}} if data.get("config") is None else data)
        given = change.model_dump(exclude_unset=True)
        if "config" in data:
            shown = masked_config(record.config)
            given["config"] = _merged(shown, data["config"] or {})
        else:
            given.pop("config", None)
        return await self._change(request, record, given)

    async def remove(self, request: Request) -> Response:
        """Disconnect a server and forget it."""
        record = await self._matching(request)
        await self._manager.unregister(record.name)
        return Response(status_code=204)

    async def connect(self, request: Request) -> Response:
        """Connect a server and wait for the outcome."""
        record = await self._record(request.path_params["name"])
        if await self._manager.connect(record.name):
            return self._shown(record)
        found = wire.explanation_of(self._manager, record.name)
        return problem(
            503,
            found.summary,
            code="not_connected",
            remedy=found.remedy,
            serverStatus=found.status,
            explanation=wire.as_spoken(found).model_dump(by_alias=True, exclude_none=True),
        )

    async def disconnect(self, request: Request) -> Response:
        """Disconnect a server and keep its record."""
        record = await self._record(request.path_params["name"])
        await self._manager.disconnect(record.name)
        return self._shown(record)

    async def refresh(self, request: Request) -> Response:
        """List a server's tools again."""
        record = await self._record(request.path_params["name"])
        await self._manager.connection(record.name).refresh()
        return self._shown(record)

    async def tools(self, request: Request) -> Response:
        """Show the definitions of a server's tools, and those that are withheld with the difference."""
        record = await self._record(request.path_params["name"])
        withheld = wire.withheld_of(self._manager, record.name)
        return JSONResponse(
            {
                "tools": wire.tools_of(self._manager, record.name),
                "withheldTools": [tool.model_dump(by_alias=True) for tool in withheld],
            }
        )

    async def approve(self, request: Request) -> Response:
        """Approve tools that changed or came later, as they were shown."""
        record = await self._record(request.path_params["name"])
        raw = await request.body()
        body = parse_body(wire.ToolNames, await read_json(request) if raw.strip() else {})
        guard, wanted = self._manager.guard, self._approvable(record, body.tools)
        if isinstance(guard, PolicyGuard):
            note_audit(request.scope, approved=await asyncio.to_thread(guard.approve, record, wanted))
        return self._shown(record)

    def _approvable(self, record: ServerRecord, wanted: Collection[str] | None) -> Collection[str] | None:
        """Return which tools to approve, None for all: nobody approves what they do not see. Raises NotFoundError."""
        if reach().is_whole:
            return wanted
        waiting = wire.withheld_of(self._manager, record.name)
        seen = [tool.name for tool in waiting if tool.status in wire.PENDING]
        for name in wanted or ():
            if name not in seen:
                raise NotFoundError(f"Server {record.name!r} has listed no tool {name[:100]!r}.")
        return seen if wanted is None else wanted

    async def explanation(self, request: Request) -> Response:
        """Say why a server is not usable and what to do."""
        record = await self._record(request.path_params["name"])
        found = wire.as_spoken(wire.explanation_of(self._manager, record.name))
        return JSONResponse(found.model_dump(by_alias=True, exclude_none=True))

    async def logs(self, request: Request) -> Response:
        """Show the end of what a server wrote to stderr, and its stray lines on stdout."""
        record = await self._record(request.path_params["name"])
        text = REDACTOR.clean(self._manager.connection(record.name).log_text)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"name": record.name, "lines": text.splitlines()})
        return PlainTextResponse(text)

    def _shown(self, record: ServerRecord, status: int = 200, headers: dict[str, str] | None = None) -> Response:
        given = {**(headers or {}), "ETag": wire.etag_of(record)}
        return JSONResponse(wire.detail_of(self._manager, record), status, given)

    async def _record(self, name: str) -> ServerRecord:
        record = await self._manager.find_server(name)
        if record is None:
            raise NotFoundError(f"No server named {name[:100]!r} is registered.")
        if name not in self._manager.connections:  # another process registered it a moment ago
            await self._manager.reload()
        return record

    async def _matching(self, request: Request) -> ServerRecord:
        """Return the record, if it is the version that the client read (If-Match)."""
        record = await self._record(request.path_params["name"])
        wanted = request.headers.get("if-match")
        if wanted is not None and wanted.strip() != "*":
            tags = {tag.strip().removeprefix("W/") for tag in wanted.split(",")}
            if wire.etag_of(record) not in tags:
                raise PreconditionFailedError(
                    f"Server {record.name!r} was changed since it was read.", remedy="Read it again and retry."
                )
        return record

    def _writable(self, record: ServerRecord, data: Any) -> dict[str, Any]:
        """Drop read-only members that are sent back as they were; refuse to change them (S-04)."""
        if not isinstance(data, dict):
            raise BodyError("The body must be an object.")
        shown = {"name": record.name, "id": record.id, "createdAt": record.created_at}
        for key, value in data.items():
            if key in shown and value != shown[key]:
                raise UnusableBodyError(f"{key} cannot be changed.")
        return {key: value for key, value in data.items() if key not in READ_ONLY}

    async def _change(self, request: Request, record: ServerRecord, change: dict[str, Any]) -> Response:
        merged = record.model_dump() | change
        if "config" in change:
            try:
                merged["config"] = unmasked_config(change["config"] or {}, record.config)
            except ValueError as error:
                raise UnusableBodyError(f"{error}.") from error
            if "transport_type" not in change and not _fits(record.transport_type, merged["config"]):
                raise UnusableBodyError(
                    "The config is of another transport than the server's.", remedy="Say transportType as well."
                )
        merged["updated_at"] = max(now_ms(), record.updated_at + 1)
        changed = _record(merged)
        wire.check_config_keys(changed.transport_type, changed.config, record.config)
        if _starts_another(record, changed):
            self._check(request, changed)
        else:
            self._policy.check_name(changed.name)
        try:
            await self._manager.update(changed, expected_updated_at=record.updated_at)
        except ConflictError as error:
            raise PreconditionFailedError(error.message, remedy=error.remedy) from error
        return self._shown(await self._record(changed.name))

    def _check(self, request: Request, record: ServerRecord) -> None:
        is_admin = request.scope["state"]["principal"].role >= Access.ADMIN
        self._policy.check_remote(record, is_admin=is_admin)


def _record(fields: dict[str, Any]) -> ServerRecord:
    return parse_body(ServerRecord, fields)


def _fits(transport: TransportType | None, config: dict[str, Any]) -> bool:
    return ("command" in config) == (transport is TransportType.STDIO)


def _starts_another(old: ServerRecord, new: ServerRecord) -> bool:
    """Tell whether a change touches what is started; a new description of a program is nobody's risk."""
    fields = (*PROGRAM_KEYS, "limits")
    return old.transport_type != new.transport_type or any(old.config.get(key) != new.config.get(key) for key in fields)


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _masks(value: Any) -> Any:
    if isinstance(value, dict):
        for item in value.values():
            yield from _masks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _masks(item)
    elif is_mask(value):
        yield value
