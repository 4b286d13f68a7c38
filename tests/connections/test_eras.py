"""Which era a server speaks, told also of one that is slow to say it (MCP.md)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from aiohttp import web

from tests.connections.conftest import QUICK, http, managed
from tests.connections.fake_http import FakeHttpServer


async def test_a_stateless_server_that_was_too_slow_for_the_probe_is_probed_once_more() -> None:
    asked_to_begin = asyncio.Event()

    async def slow(_: web.Request, message: dict[str, Any]) -> None:
        if message["method"] == "initialize":
            asked_to_begin.set()
        elif message["method"] == "server/discover":
            await asked_to_begin.wait()

    async with FakeHttpServer(is_modern=True) as server, managed(replace(QUICK, probe_timeout_seconds=0.2)) as manager:
        server.behave = slow
        await manager.register(http("slow", server.url))
        assert await manager.connect("slow"), manager.explain("slow").summary
        assert (await manager.call_tool("slow", "echo", {"text": "hi"})).text == "hi"
        assert server.seen["initialize"] == 1
