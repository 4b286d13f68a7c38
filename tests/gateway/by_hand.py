"""HTTP by hand, against a gateway over scripted servers."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from naru.config import ServerSettings
from naru.gateway.engine import Engine
from naru.gateway.faces.table import http_faces
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.wire.protocol import META_CAPABILITIES, META_VERSION
from naru.web.one_write import OneWriteProtocol
from tests.gateway.scripted import ScriptedUpstream, ScriptedUpstreams
from tests.gateway.serving import app_of, listening

META = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
Json = dict[str, Any]


class Client:
    """HTTP by hand."""

    def __init__(self, http: aiohttp.ClientSession, url: str, engine: Engine, upstreams: ScriptedUpstreams) -> None:
        self.http, self.url, self.engine, self.upstreams = http, url, engine, upstreams

    async def post(self, body: Any, path: str = "/mcp", **headers: str) -> tuple[int, Any, Any]:
        data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        given = {"content-type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
        async with self.http.post(self.url + path, data=data, headers=given) as response:
            text = await response.text()
            if response.content_type == "text/event-stream":
                told = events(text)
                # One that a slow machine took seconds for is the same answer, behind a comment that keeps it open.
                is_late = text.startswith(": ping") and len(told) == 1
                return response.status, told[0] if is_late else told, response.headers
            return response.status, json.loads(text) if text else None, response.headers

    async def initialize(self, version: str = "2025-11-25", path: str = "/mcp", **capabilities: Any) -> str:
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}
        status, answer, headers = await self.post(request("initialize", params), path)
        assert status == 200, answer
        assert answer["result"]["protocolVersion"] == version
        session = headers["mcp-session-id"]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await self.post(done, path, mcp_session_id=session))[0] == 202
        return str(session)

    async def modern(self, method: str, params: Json | None = None, **headers: str) -> tuple[int, Any, Any]:
        params = {"_meta": META, **(params or {})}
        given = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, **headers}
        name = params.get("name") or params.get("uri") or params.get("taskId")
        if name and "mcp_name" not in given:
            given["mcp_name"] = name
        return await self.post(request(method, params), **given)


def request(method: str, params: Json | None = None, request_id: Any = 1) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, **({"params": params} if params is not None else {})}


def events(text: str) -> list[Json]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


@contextlib.asynccontextmanager
async def gateway(
    *servers: ScriptedUpstream,
    settings: GatewaySettings | None = None,
    server: ServerSettings | None = None,
    http: Any = OneWriteProtocol,
    **gate: Any,
) -> AsyncIterator[Client]:
    """Serve scripted servers and give a client."""
    upstreams = ScriptedUpstreams(*(servers or (ScriptedUpstream("a"),)))
    engine = Engine(upstreams, settings)

    class Faces:
        faces = http_faces(engine)

    app = app_of(Faces(), server, **gate)  # type: ignore[arg-type]
    async with listening(app, http=http) as url, aiohttp.ClientSession() as session:
        client = Client(session, url, engine, upstreams)
        try:
            yield client
        finally:
            engine.end_streams()
            await engine.close()


async def next_event(response: aiohttp.ClientResponse) -> Json:
    async with asyncio.timeout(30):
        async for line in response.content:
            if line.startswith(b"data: {"):
                return dict(json.loads(line[6:]))
    raise AssertionError("the stream ended")
