"""The JSON-RPC host's own way to manage servers (R3): `/mcp/add`, `/mcp/remove`, `/mcp/list`, on the same manager."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, field_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.connections.rules.policy import Policy
from naru.errors import NotFoundError
from naru.records import ServerRecord, now_ms
from naru.stores.secrets.redact import masked_url
from naru.web.admin.servers import ServerHub
from naru.web.bodies import BodyError, parse_body, read_json
from naru.web.routes import Access, Endpoint

ANSWER_SECONDS = 5.0
"""How long an answer waits for the connection, so that the next request finds the tools."""


class AddBody(BaseModel):
    """A server by name and URL."""

    model_config = ConfigDict(extra="forbid")

    name: str
    url: str

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value.strip())
            is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_url = False
        if not is_url and "${" not in value:
            raise ValueError("it must be a URL such as http://host:8080/mcp")
        return value


class RemoveBody(BaseModel):
    """A server by name."""

    model_config = ConfigDict(extra="forbid")

    name: str


def endpoints(hub: ServerHub) -> list[Endpoint]:
    """Return the three rows."""
    face = RpcServers(hub)
    return [
        Endpoint("/mcp/add", ("POST",), face.add, Access.ADMIN),
        Endpoint("/mcp/remove", ("DELETE", "POST"), face.remove, Access.ADMIN),
        Endpoint("/mcp/list", ("GET",), face.list_servers, Access.READ),
    ]


class RpcServers:
    """The handlers."""

    def __init__(self, hub: ServerHub) -> None:
        self._hub = hub

    async def add(self, request: Request) -> Response:
        """Register a server by name and URL, or give a registered one that URL, and connect it."""
        manager = self._hub.manager
        body = parse_body(AddBody, await read_json(request))
        kept = await manager.find_server(body.name)
        if kept is None:
            record = parse_body(ServerRecord, {"name": body.name, "config": {"url": body.url}})
        else:
            config = {key: value for key, value in kept.config.items() if key not in ("command", "args", "env", "cwd")}
            fields = kept.model_dump() | {"config": {**config, "url": body.url}, "transport_type": None}
            record = parse_body(ServerRecord, fields | {"updated_at": max(now_ms(), kept.updated_at + 1)})
        Policy(self._hub.settings.mcp.security).check_remote(record, is_admin=True)
        if kept is None:
            await manager.register(record)
        else:
            await manager.update(record, expected_updated_at=kept.updated_at)
        if record.enabled:
            with contextlib.suppress(TimeoutError):  # the attempt goes on without us
                async with asyncio.timeout(ANSWER_SECONDS):
                    await manager.connect(record.name)
        return JSONResponse({"message": "registered", "name": record.name, "url": masked_url(body.url)})

    async def remove(self, request: Request) -> Response:
        """Forget a server by name, given in the body or as `?name=`."""
        raw = await request.body()
        name = request.query_params.get("name")
        if raw.strip():
            name = parse_body(RemoveBody, await read_json(request)).name
        if not name:
            raise BodyError('Say which server: {"name": …}.')
        if await self._hub.manager.find_server(name) is None:
            raise NotFoundError(f"No server named {name[:100]!r} is registered.")
        await self._hub.manager.unregister(name)
        return JSONResponse({"message": "removed", "name": name})

    async def list_servers(self, request: Request) -> Response:
        """List all servers by name and URL; one that is a program has its command there."""
        records = await self._hub.manager.list_servers()
        return JSONResponse({"servers": [{"name": record.name, "url": _place(record)} for record in records]})


def _place(record: ServerRecord) -> str:
    if "url" in record.config:
        return masked_url(str(record.config["url"]))
    return f"stdio:{record.config.get('command', '')}"
