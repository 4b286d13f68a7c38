"""The legacy SSE transport when things go wrong."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from aiohttp import web

from naru.connections.manager import Manager
from naru.errors import ToolError
from naru.records import ServerStatus, TransportType
from tests.connections.conftest import ONCE, http, managed
from tests.loopback import listening
from tests.sizes import within
from tests.waiting import sleep_as_the_machine, until


class FakeSseServer:
    """A legacy server: one stream, POSTs beside it."""

    def __init__(self) -> None:
        self.endpoint = "/messages?session=1"
        self.status = 202
        self.port = 0
        self.posts: list[dict[str, Any]] = []
        self.streams: list[web.StreamResponse] = []
        self.answers_calls = True

    async def __aenter__(self) -> FakeSseServer:
        app = web.Application()
        app.router.add_get("/sse", self._stream)
        app.router.add_post("/messages", self._post)
        self._runner, self.port = await listening(app, shutdown_timeout=0.1)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/sse"

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.streams.append(response)
        await response.write(f"event: endpoint\r\ndata: {self.endpoint}\r\n\r\n".encode())
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.02)
        return response

    async def send(self, message: dict[str, Any]) -> None:
        await self.streams[-1].write(b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")

    async def _post(self, request: web.Request) -> web.Response:
        message = await request.json()
        self.posts.append(message)
        method, request_id = message.get("method"), message.get("id")
        if method == "tools/call" and self.status != 202:
            return web.Response(status=self.status)
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {}},
            "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "ok"}]},
        }
        if method in results and (method != "tools/call" or self.answers_calls):
            await self.send({"id": request_id, "result": results[method]})
        elif request_id is not None and method == "server/discover":
            await self.send({"id": request_id, "error": {"code": -32601, "message": "no"}})
        return web.Response(status=202)


async def connected(manager: Manager, server: FakeSseServer) -> None:
    await manager.register(http("old", server.url, TransportType.SSE))
    assert await manager.connect("old"), manager.explain("old").summary


async def test_the_oldest_version_is_spoken(manager: Manager) -> None:
    async with FakeSseServer() as server:
        await connected(manager, server)
        assert manager.connection("old").protocol_version == "2024-11-05"
        assert (await manager.call_tool("old", "echo", {})).text == "ok"


async def test_an_endpoint_on_another_origin_gets_no_credentials(manager: Manager) -> None:
    """S-12"""
    async with FakeSseServer() as server, FakeSseServer() as canary:
        server.endpoint = f"http://127.0.0.1:{canary.port}/messages"
        record = http("old", server.url, TransportType.SSE, headers={"Authorization": "Bearer SENTINEL"})
        await manager.register(record)
        assert not await manager.connect("old")
        assert "another origin" in manager.explain("old").summary
        assert canary.posts == []


async def test_a_refused_post_fails_its_call_at_once(manager: Manager) -> None:
    """R-13, and the SDK's fourth pitfall: it hangs until a timeout."""
    async with FakeSseServer() as server:
        await connected(manager, server)
        server.status = 413
        start = time.monotonic()
        with pytest.raises(ToolError, match="413"):
            await manager.call_tool("old", "echo", {})
        assert time.monotonic() - start < within(1)
        server.status = 202
        assert (await manager.call_tool("old", "echo", {})).text == "ok"


async def test_a_cut_stream_fails_what_waits_and_is_opened_again(manager: Manager) -> None:
    """R-01"""
    async with FakeSseServer() as server:
        await connected(manager, server)
        server.answers_calls = False
        calls = [asyncio.ensure_future(manager.call_tool("old", "echo", {})) for _ in range(5)]
        await until(lambda: sum(post.get("method") == "tools/call" for post in server.posts) == 5)
        start = time.monotonic()
        assert server.streams[-1]._req is not None
        server.streams[-1]._req.transport.abort()  # type: ignore[union-attr]
        results = await asyncio.gather(*calls, return_exceptions=True)
        failed = time.monotonic() - start
        assert all(isinstance(result, ToolError) and "may have run" in str(result) for result in results)
        server.answers_calls = True
        back = await until(lambda: manager.connection("old").generation == 2 and manager.connection("old").is_live)
        print(f"R-01 sse: 5 errors after {failed * 1000:.0f} ms, back after {back:.2f} s")
        assert failed < within(1)
        assert (await manager.call_tool("old", "echo", {})).text == "ok"


async def test_a_page_without_an_event_stream_says_what_to_try() -> None:
    async with FakeSseServer() as server, managed(ONCE) as manager:
        await manager.register(http("old", server.url.replace("/sse", "/nothing"), TransportType.SSE))
        assert not await manager.connect("old")
        told = manager.explain("old")
        assert told.status is ServerStatus.FAILED
        assert "404" in told.summary
        assert "/sse" in told.remedy


async def test_a_streamable_server_that_is_taken_for_sse_is_told_for_what_it_may_be(manager: Manager) -> None:
    """N10: it refuses a GET without a session, in plain text or as JSON-RPC."""
    app = web.Application()

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=400, text="No sessionId")

    app.router.add_get("/mcp", refuse)
    runner, port = await listening(app, shutdown_timeout=0.1)
    try:
        await manager.register(http("new", f"http://127.0.0.1:{port}/mcp", TransportType.SSE))
        assert not await manager.connect("new")
        told = manager.explain("new")
    finally:
        await runner.cleanup()
    assert "HTTP 400: No sessionId" in told.summary
    assert "set its transport to HTTP" in told.remedy


async def test_where_two_transports_fail_the_remedy_is_that_of_both(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N10: a server that is too slow over HTTP refuses the stream that is tried next."""
    app, asked = web.Application(), asyncio.Event()

    async def say_nothing(_: web.Request) -> web.Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    app.router.add_post("/mcp", say_nothing)
    runner, port = await listening(app, shutdown_timeout=0.1)
    try:
        await manager.register(http("slow", f"http://127.0.0.1:{port}/mcp", None, startTimeout="60 s"))
        connecting = asyncio.ensure_future(manager.connect("slow"))
        await until(asked.is_set)
        await sleep_as_the_machine(monkeypatch, 30)
        assert not await connecting
        told = manager.explain("slow")
    finally:
        await runner.cleanup()
    assert "HTTP: not ready within" in told.summary
    assert "HTTP 405" in told.summary
    assert "`startTimeout`" in told.remedy
    assert "Check the path of the URL" in told.remedy
