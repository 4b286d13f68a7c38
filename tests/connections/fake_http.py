"""An HTTP MCP server in the test's own loop whose every answer a test can bend, and which counts exactly."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.loopback import listening

Handler = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse | None]]


class FakeHttpServer:
    """Speaks the legacy era with sessions, or the modern one; `behave` may answer a request before it does."""

    def __init__(self, *, is_modern: bool = False, port: int = 0) -> None:
        self.is_modern = is_modern
        self.port = port
        self.seen: Counter[str] = Counter()
        """Requests by method."""
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.sessions: set[str] = set()
        self.behave: Handler | None = None
        self.tools = ["echo"]
        self.streams: list[web.StreamResponse] = []
        self.offers_stream = False
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def __aenter__(self) -> FakeHttpServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner, self.port = await listening(app, port=self.port, shutdown_timeout=0.1)

    async def stop(self) -> None:
        """Die: connections are cut and all sessions forgotten."""
        if self._runner is not None:
            for stream in self.streams:
                stream.force_close()
            for connection in list(self._runner.server.connections):  # type: ignore[union-attr]
                if connection.transport is not None:
                    connection.transport.abort()
            await self._runner.cleanup()
            self._runner = None
        self.sessions.clear()
        self.streams.clear()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if request.method == "GET":
            return await self._stream(request)
        if request.method == "DELETE":
            self.seen["DELETE"] += 1
            self.sessions.discard(request.headers.get("Mcp-Session-Id", ""))
            return web.Response(status=204)
        message = json.loads(await request.read())
        self.bodies.append(message)
        self.seen[message.get("method", "answer")] += 1
        if self.behave is not None and (bent := await self.behave(request, message)) is not None:
            return bent
        return self._answer(request, message)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        self.seen["GET"] += 1
        if not self.offers_stream:
            return web.Response(status=405)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.streams.append(response)
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.02)
        return response

    def _answer(self, request: web.Request, message: dict[str, Any]) -> web.Response:
        method, request_id = message.get("method"), message.get("id")
        headers = {}
        if self.is_modern:
            if method in ("initialize", "subscriptions/listen"):
                return refused(request_id, -32601, 404)
        elif method == "server/discover":
            return refused(request_id, -32600, 400)
        elif method == "initialize":
            session = secrets.token_hex(8)
            self.sessions.add(session)
            headers["Mcp-Session-Id"] = session
        elif request.headers.get("Mcp-Session-Id") not in self.sessions:
            return refused(request_id, -32600, 404, "Session not found")
        if request_id is None or method is None:
            return web.Response(status=202)
        return web.json_response(
            {"jsonrpc": "2.0", "id": request_id, "result": self.result(method, message)}, headers=headers
        )

    def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        params = message.get("params") or {}
        capabilities = {"tools": {"listChanged": True}}
        if method == "initialize":
            info = {"name": "fake", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        if method == "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"}
        if method == "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in self.tools]}
        if method == "tools/call":
            return {"content": [{"type": "text", "text": str(params.get("arguments", {}).get("text", ""))}]}
        return {}


def refused(request_id: Any, code: int, status: int, message: str = "no") -> web.Response:
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return web.json_response(error, status=status)


def events(*messages: dict[str, Any], end: bool = True) -> bytes:
    return b"".join(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n" for message in messages)
