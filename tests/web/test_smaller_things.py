"""What people trip over round their servers (issue 16, line 9)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from naru.config import Settings
from naru.errors import StoreError
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, TransportType
from naru.web.app import open_app
from tests.connections.conftest import http, managed
from tests.connections.fake_http import FakeHttpServer
from tests.fixtures.odd_server import OddServer, serve_http
from tests.waiting import until
from tests.web.conftest import served


@asynccontextmanager
async def hub_served(folder: Path) -> AsyncIterator[tuple[Hub, str]]:
    sections = {
        "hub": {"data_dir": folder, "store": "memory:"},
        "server": {"allowed_hosts": ["127.0.0.1:*"]},
        "mcp": {"reconnection": {"enabled": False}},
    }
    settings = Settings.model_validate(sections)
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(open_hub(settings, backend=ScriptedBackend([])))
        app = await stack.enter_async_context(open_app(hub))
        yield hub, await stack.enter_async_context(served(app.asgi))


async def test_the_list_of_tools_says_which_servers_are_missing_and_why(tmp_path: Path) -> None:
    async with hub_served(tmp_path) as (hub, url), aiohttp.ClientSession() as client:
        await hub.manager.register(http("away", "http://127.0.0.1:9/mcp"))
        await hub.manager.connect("away")
        async with client.get(f"{url}/api/tools") as response:
            (missing,) = (await response.json())["missing"]
        assert (missing["server"], missing["status"]) == ("away", "FAILED")
        assert "no connection to http://127.0.0.1:9" in missing["why"]
        assert "Start the server" in missing["why"]


async def test_a_rest_caller_that_hangs_up_cancels_the_call_upstream(tmp_path: Path) -> None:
    server = OddServer(modern=False)
    async with serve_http(server) as address, hub_served(tmp_path) as (hub, url):
        await hub.manager.register(http("odd", address))
        assert await hub.manager.connect("odd")
        async with aiohttp.ClientSession() as client:
            body = {"name": "odd__silent", "arguments": {}}
            call = asyncio.create_task(client.post(f"{url}/api/tools/call", json=body))
            await until(lambda: hub.manager.connection("odd").in_flight == 1)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await until(lambda: hub.manager.connection("odd").in_flight == 0)
        await until(lambda: len(server.cancelled) == 1)


@pytest.mark.parametrize(
    "address", ["host:8080/mcp", "npx -y x", "ftp://h/x", "http://", "//h/mcp", "http://h:99999999/"]
)
async def test_what_is_no_url_is_not_added(address: str, tmp_path: Path) -> None:
    async with hub_served(tmp_path) as (hub, url), aiohttp.ClientSession() as client:
        async with client.post(f"{url}/mcp/add", json={"name": "a", "url": address}) as response:
            assert response.status == 400
            assert "must be a URL such as" in await response.text()
        assert list(hub.manager.connections) == []


@pytest.mark.slow
@pytest.mark.parametrize("transport", [TransportType.HTTP, TransportType.SSE])
@pytest.mark.parametrize("configured", ["", "Bearer own"])
async def test_a_user_in_a_url_goes_beside_a_configured_authorization(
    transport: TransportType, configured: str
) -> None:
    async with FakeHttpServer() as server, managed() as manager:
        headers = {"Authorization": configured} if configured else {}
        url = server.url.replace("http://", "http://ann:secret-1@")
        await manager.register(
            ServerRecord(name="s", transport_type=transport, config={"url": url, "headers": headers})
        )
        await manager.connect("s")
        basic = f"Basic {base64.b64encode(b'ann:secret-1').decode()}"
        assert {one.get("authorization") for one in server.headers} == {configured or basic}


async def test_readyz_says_when_the_store_refuses_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hub_served(tmp_path) as (hub, url), aiohttp.ClientSession() as client:

        async def full(record: ServerRecord) -> None:
            raise StoreError("The disk is full.")

        with monkeypatch.context() as patched:
            patched.setattr(hub.manager._store, "save", full)
            with pytest.raises(StoreError):
                await hub.manager.register(http("a", "http://127.0.0.1:9/mcp"))
        async with client.get(f"{url}/readyz") as response:
            assert (await response.json()) == {"status": "degraded", "problems": ["store: The disk is full."]}
        await hub.manager.register(http("a", "http://127.0.0.1:9/mcp"))
        assert hub.manager.write_trouble == ""
