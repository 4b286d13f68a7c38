"""Waiting calls over HTTP and through the MCP face (N9)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.connections.changes import Change
from naru.connections.rules.policy import PolicyGuard
from naru.hub import Hub, open_hub
from naru.messages import JsonObject
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, TransportType
from naru.telemetry.audit_file import read_entries
from naru.tools.toolset import CallContext
from naru.web.app import App, open_app

PROGRAM = Path(__file__).parents[2] / "fixtures" / "servers" / "raw_server.py"


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[tuple[Hub, App]]:
    given = {"hub": {"data_dir": folder, "store": "memory:"}, **settings}
    made = Settings.model_validate({"approvals": {"ask": ["raw/echo"]}, **given})
    async with open_hub(made, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        config = {"command": sys.executable, "args": [str(PROGRAM)]}
        await hub.manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
        assert await hub.manager.connect("raw")
        yield hub, app


def client(app: App, key: str = "") -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    transport = httpx.ASGITransport(app.asgi)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", headers=headers, timeout=60)


async def one_waiting(asking: httpx.AsyncClient) -> JsonObject:
    async with asyncio.timeout(30):
        while not (found := (await asking.get("/api/approvals")).json()["waiting"]):
            await asyncio.sleep(0.01)
    waiting: JsonObject = found[0]
    return waiting


async def test_a_call_of_a_run_waits_is_shown_and_goes_on_when_it_is_allowed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, app), client(app) as asking:
        arguments = {"text": "a\u202eb", "api_key": "sk-abcdefghijklmnop"}
        call = asyncio.ensure_future(hub.tools().call("raw__echo", {"text": arguments["text"]}, CallContext("key_1")))
        one = await one_waiting(asking)
        assert (one["server"], one["tool"], one["caller"], one["why"]) == ("raw", "echo", "key_1", "asked")
        assert "a\\u202eb" in one["arguments"], "S-26: nothing of it is invisible"
        answered = await asking.post(f"/api/approvals/{one['id']}", json={"decision": "once"})
        assert answered.status_code == 200
        assert (await call).text == "a\u202eb"
        assert (await asking.post(f"/api/approvals/{one['id']}", json={"decision": "once"})).status_code == 404
    kinds = [(entry["what"], entry.get("decision")) for entry in read_entries(tmp_path / "audit.jsonl")]
    assert ("admin.done", "once") in kinds
    assert ("call", "approved_once") in kinds


async def test_a_denied_call_of_an_mcp_client_is_a_result_that_the_model_can_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, app), client(app) as asking:
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        accept = {"Accept": "application/json, text/event-stream"}
        begun = await asking.post("/mcp", json=rpc(1, "initialize", version), headers=accept)
        session = {**accept, "Mcp-Session-Id": begun.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
        await asking.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        params = {"name": "raw__echo", "arguments": {"text": "x"}}
        call = asyncio.ensure_future(asking.post("/mcp", json=rpc(2, "tools/call", params), headers=session))
        one = await one_waiting(asking)
        await asking.post(f"/api/approvals/{one['id']}", json={"decision": "deny"})
        text = (await call).text
    assert '"isError":true' in text
    assert "A person denied the call of raw/echo" in text


@pytest.mark.slow
async def test_only_operators_see_and_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, app):
        _, user = hub.keys.create("user")
        _, operator = hub.keys.create("operator")
        for key, status in ((user, 403), (operator, 200)):
            async with client(app, key) as asking:
                assert (await asking.get("/api/approvals")).status_code == status
        async with client(app, operator) as asking:
            wrong = await asking.post("/api/approvals/none", json={"decision": "perhaps"})
        assert wrong.status_code in (400, 422)


@pytest.mark.parametrize(("auth", "asks"), [("on", True), ("off", False)])
async def test_destructive_tools_wait_by_themselves_wherever_keys_are_asked_for(
    tmp_path: Path, auth: str, asks: bool
) -> None:
    made = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(made, backend=ScriptedBackend([]), asks_for_keys=auth == "on") as hub:
        assert hub.approvals is not None
        assert hub.approvals.asks_for_destructive is asks


async def test_what_goes_by_keys_does_so_from_the_moment_that_one_is_made(tmp_path: Path) -> None:
    """S-50, S-56: the hub need not be started anew for it."""
    made = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(made, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        await hub.manager.register(ServerRecord(name="files", config={"url": "http://127.0.0.1:9/mcp"}))
        guard, told = hub.manager.guard, list[Change]()
        hub.manager.subscribe(told.append)
        assert hub.approvals is not None
        assert isinstance(guard, PolicyGuard)
        async with client(app, "") as asking:
            assert (await asking.get("/api/approvals")).status_code == 200
            assert not hub.approvals.asks_for_destructive
            assert not guard.quarantines
            hub.keys.create("user")
            assert (await asking.get("/api/approvals")).status_code == 401
        assert hub.approvals.asks_for_destructive
        assert guard.quarantines
        assert Change("files", "tools") in told, "clients hear that tools may be hidden now"


def rpc(number: int, method: str, params: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
