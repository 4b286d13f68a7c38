"""The settings file of a running hub: what can change does, what cannot is named (issue 21 line 7)."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest

from naru.config import Settings, load_settings
from naru.config.live import LIVE, changed, take_up
from naru.errors import ConfigError
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, TransportType
from naru.web.app import App, open_app
from naru.web.following import SettingsFollower
from naru.web.gate.access import RateLimiter
from naru.web.gate.security import Gate
from tests.connections.conftest import SERVERS

KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"


@dataclass
class Running:
    hub: Hub
    app: App
    client: httpx.AsyncClient
    follower: SettingsFollower
    file: Path

    async def write(self, text: str) -> None:
        """Change the file, and have the hub look at it."""
        self.file.write_text(text, encoding="utf-8")
        await self.follower.look()


@asynccontextmanager
async def running(folder: Path, text: str = "") -> AsyncIterator[Running]:
    file = folder / "naru.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    sections = {"hub": {"data_dir": folder, "store": "memory:"}, "server": {"api_key": KEY}}
    settings = load_settings(file, **sections)
    backend = ScriptedBackend(["Hi."])
    async with open_hub(settings, backend=backend, settings_file=file) as hub, open_app(hub) as app:
        gate = app.asgi
        assert isinstance(gate, Gate)
        transport = httpx.ASGITransport(gate)
        headers = {"Authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", headers=headers) as client:
            yield Running(hub, app, client, SettingsFollower(hub, gate, _limiter(gate)), file)


def _limiter(gate: Gate) -> RateLimiter:
    limits = gate._limits  # what the application was made with
    assert isinstance(limits, RateLimiter)
    return limits


async def test_line7_a_limit_holds_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as one:
        await one.write("server: {rate_limit_per_minute: 2}")
        statuses = [(await one.client.get("/v1/models")).status_code for _ in range(4)]
    assert 429 in statuses


async def test_line7_a_host_is_answered_at_once_and_no_longer(tmp_path: Path) -> None:
    async with running(tmp_path) as one:
        other = {"Host": "naru.example.com"}
        assert (await one.client.get("/v1/models", headers=other)).status_code == 421
        await one.write("server: {allowed_hosts: [naru.example.com]}")
        assert (await one.client.get("/v1/models", headers=other)).status_code == 200
        await one.write("")
        assert (await one.client.get("/v1/models", headers=other)).status_code == 421


async def test_s08_mcp_takes_messages_as_long_as_the_settings_say(tmp_path: Path) -> None:
    """At first, and as they are changed."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    long = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {**hello, "pad": ["x" * 500_000] * 10}}
    async with running(tmp_path, "server: {max_body_bytes: 8000000}") as one:
        for most, status in ((8_000_000, 200), (4_500_000, 413), (6_000_000, 200)):
            await one.write(f"server: {{max_body_bytes: {most}}}")
            assert (await one.client.post("/mcp", json=long)).status_code == status, most


@pytest.mark.slow
async def test_h12_a_server_whose_name_is_allowed_no_longer_is_let_go_at_once_and_comes_back(tmp_path: Path) -> None:
    config = {"command": sys.executable, "args": [str(SERVERS / "raw_server.py")]}
    async with running(tmp_path) as one:
        call = {"name": "raw__echo", "arguments": {"text": "here"}}
        await one.hub.manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
        assert await one.hub.manager.connect("raw")
        for allowed in ("other", "raw"):
            await one.write(f"mcp: {{security: {{allowed_server_names: [{allowed}]}}}}")
            tools = (await one.client.get("/api/tools")).json()["tools"]
            answer = (await one.client.post("/api/tools/call", json=call)).json()
            told = (await one.client.get("/api/mcp/servers/raw/explanation")).json()
            is_there = allowed == "raw"
            assert bool(tools) is is_there
            assert answer["isError"] is not is_there
            assert ("is not allowed here" in told["summary"]) is not is_there


async def test_line7_aliases_rounds_and_approvals_hold_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as one:
        await one.write("chat: {aliases: {mine: scripted}}\nagent: {max_iterations: 3}\napprovals: {ask: ['a/*']}")
        names = [model["id"] for model in (await one.client.get("/v1/models")).json()["data"]]
        assert "mine" in names
        assert one.hub.limits.max_rounds == 3
        assert one.hub.approvals is not None
        assert one.hub.approvals.settings.ask == ["a/*"]


async def test_line7_what_cannot_change_is_named_in_the_log_and_at_readyz(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as one:
        with caplog.at_level(logging.WARNING, logger="naru.hub"):
            await one.write("model: {model: another}\nserver: {port: 1234}")
        assert "waiting for the next start: server.port, model.model" in caplog.text
        problems = (await one.client.get("/readyz")).json()["problems"]
        assert "settings: model.model waits for the next start" in problems
        assert one.hub.settings.model.model != "another"


async def test_line7_what_is_changed_back_waits_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running(tmp_path) as one:
        await one.write("model: {model: another}\nserver: {port: 1234}")
        caplog.clear()
        await one.write("server: {port: 1234}")
        problems = (await one.client.get("/readyz")).json()["problems"]
        assert problems == ["settings: server.port waits for the next start"]
        assert "waiting" not in caplog.text
        await one.write("")
        assert (await one.client.get("/readyz")).json()["status"] == "ready"


@pytest.mark.parametrize(
    "text",
    [
        "server: {rate_limit_per_minute: many}",
        "nonsense: 1",
        "server: [",
        "server: 5",
        "chat: {client: nosuch}",
        "chat: {client_by_key: {k1: nosuch}}",
        "chat: {steps: {nosuch: text}}",
    ],
)
async def test_line7_a_file_that_cannot_be_used_changes_nothing(tmp_path: Path, text: str) -> None:
    async with running(tmp_path, "server: {rate_limit_per_minute: 50}") as one:
        with pytest.raises(ConfigError):
            await one.write(text)
        assert one.hub.settings.server.rate_limit_per_minute == 50
        await one.write("server: {rate_limit_per_minute: 60}")
        assert one.hub.settings.server.rate_limit_per_minute == 60


async def test_line7_flags_and_environment_stay_the_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARU_SERVER__RATE_LIMIT_PER_MINUTE", "7")
    async with running(tmp_path) as one:
        await one.write("server: {rate_limit_per_minute: 9}")
        assert one.hub.settings.server.rate_limit_per_minute == 7


@pytest.mark.slow
async def test_line7_a_running_hub_sees_the_change_by_itself(tmp_path: Path) -> None:
    async with running(tmp_path) as one:
        one.file.write_text("agent: {max_iterations: 4}", encoding="utf-8")
        for _ in range(600):
            if one.hub.limits.max_rounds == 4:
                break
            await asyncio.sleep(0.1)
        assert one.hub.limits.max_rounds == 4


@pytest.mark.slow
async def test_line7_a_change_while_the_hub_opens_is_taken_up_too(tmp_path: Path) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text("agent: {max_iterations: 3}", encoding="utf-8")
    file.chmod(0o600)
    settings = load_settings(file, hub={"data_dir": tmp_path, "store": "memory:"}, server={"api_key": KEY})
    async with open_hub(settings, backend=ScriptedBackend(["Hi."]), settings_file=file) as hub:
        file.write_text("agent: {max_iterations: 4}", encoding="utf-8")
        async with open_app(hub), asyncio.timeout(30):
            while hub.limits.max_rounds != 4:
                await asyncio.sleep(0.05)


async def test_line7_a_client_that_nobody_knows_is_refused_at_the_start_as_well(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"chat\.client: There is no client profile 'nosuch'"):
        async with running(tmp_path, "chat: {client: nosuch}"):
            pass


def test_every_live_setting_is_one() -> None:
    for path in LIVE:
        model: object = Settings()
        for part in path.split("."):
            model = getattr(model, part)


def test_what_differs_is_named_by_its_path() -> None:
    before, after = Settings(), Settings()
    after.mcp.security.quarantine = "on"
    after.mcp.security.max_tool_output_length = 9
    assert list(changed(before, after)) == ["mcp.security.max_tool_output_length", "mcp.security.quarantine"]
    mine = Settings()
    taken = take_up(mine, before, after)
    assert taken.live == ("mcp.security.max_tool_output_length",)
    assert taken.waiting == ("mcp.security.quarantine",)
    assert mine.mcp.security.max_tool_output_length == 9
    assert mine.mcp.security.quarantine == "auto"
