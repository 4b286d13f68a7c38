"""Which era a server speaks, told also of one that is slow to say it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from naru.connections.session.options import RequestOptions
from naru.records import ServerRecord, TransportType
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


_ENDS_ITSELF = """
import json, sys

first = json.loads(sys.stdin.readline())
if first["method"] != "initialize":
    sys.stdin.readline()  # it starts so slowly that the next request is there when it has read the first
    sys.exit("I know nothing but initialize")
server = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
print(json.dumps({"jsonrpc": "2.0", "id": first["id"], "result": server}), flush=True)
sys.stdin.read()
"""


async def test_a_program_that_starts_slowly_and_ends_itself_over_the_probe_is_started_once_more(tmp_path: Path) -> None:
    """H2: the probe's time is over before the program reads it, so that `initialize` is what seems to end it."""
    program = tmp_path / "old.py"
    program.write_text(_ENDS_ITSELF, encoding="utf-8")
    config = {"command": sys.executable, "args": [str(program)]}
    record = ServerRecord(name="old", transport_type=TransportType.STDIO, config=config)
    async with managed(replace(QUICK, probe_timeout_seconds=0.05)) as manager:
        await manager.register(record)
        assert await manager.connect("old"), manager.explain("old").summary


async def test_a_server_of_both_eras_is_asked_for_a_session_again_after_an_outage() -> None:
    is_out = True

    async def begins(_: web.Request, message: dict[str, Any]) -> web.Response | None:
        if message["method"] != "initialize":
            return None
        if is_out:
            return web.Response(status=502)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": hello}
        return web.json_response(answer, headers={"Mcp-Session-Id": "one"})

    async with FakeHttpServer(is_modern=True) as server, managed() as manager:
        server.behave = begins
        await manager.register(http("both", server.url, ask=["elicitation"]))
        assert await manager.connect("both")
        connection, call = manager.connection("both"), {"name": "echo", "arguments": {"text": "hi"}}
        for session in (None, "one"):
            await connection.request("tools/call", call, RequestOptions(in_session=True))
            assert server.headers[-1].get("mcp-session-id") == session
            is_out = False


@pytest.mark.slow
async def test_what_a_server_answers_while_it_is_disconnected_is_no_slip() -> None:
    """R-06: it ends the streams on which it tells of changes."""
    config = {"command": sys.executable, "args": ["-m", "naru.builtins.hr.server"], "protocol": "stateless"}
    async with managed() as manager:
        await manager.register(ServerRecord(name="hr", transport_type=TransportType.STDIO, config=config))
        assert await manager.connect("hr"), manager.explain("hr")
        await manager.disconnect("hr")
        assert manager.connection("hr").counters.strays == 0
