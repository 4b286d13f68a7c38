"""The first seconds of a hub, through HTTP: `+tools` waits for servers that are on their way (issue 23, line 6)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from tests.waiting import HANG_SECONDS
from tests.web.conftest import served

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app

pytestmark = pytest.mark.slow
SERVER = Path(__file__).with_name("paper_server.py")
TOOL = {"name": "draw", "description": "Draws a square.", "inputSchema": {"type": "object"}}
CALL = f"<tool_call>\n{json.dumps({'name': 'late__draw', 'arguments': {}})}\n</tool_call>"


@asynccontextmanager
async def hub_with_a_late_server(folder: Path) -> AsyncIterator[tuple[Hub, str, Path]]:
    """Serve a hub whose server `late` begins when a file is there; gives the hub, its address and the file."""
    gate, tools = folder / "gate", folder / "tools.json"
    tools.write_text(json.dumps([TOOL]), encoding="utf-8")
    script = 'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"'
    late = {
        "name": "late",
        "transport": "stdio",
        "command": "sh",
        "args": ["-c", script, str(gate), sys.executable, str(SERVER), str(tools)],
    }
    settings = Settings.model_validate(
        {"hub": {"data_dir": folder / "data", "store": "memory:"}, "server": {"port": 0}, "mcp": {"servers": [late]}}
    )
    backend = ScriptedBackend([CALL, "It was drawn."])
    async with open_hub(settings, backend=backend) as hub, open_app(hub) as app, served(app.asgi) as url:
        yield hub, url, gate


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_that_comes_while_a_server_connects_has_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setattr("naru.hub.ARRIVAL_SECONDS", HANG_SECONDS)  # a busy machine may start a program in 10 s
    async with hub_with_a_late_server(tmp_path) as (hub, url, gate), httpx.AsyncClient(timeout=60) as client:
        body = {"model": "m+tools", "messages": [{"role": "user", "content": "Draw a square."}], "stream": stream}
        asked = asyncio.ensure_future(client.post(f"{url}/v1/chat/completions", json=body))
        done, _ = await asyncio.wait({asked}, timeout=0.5)
        assert not done, "it was answered without the tools"
        assert not hub.backend.requests  # type: ignore[attr-defined]
        gate.touch()
        reply = await asked
        assert reply.status_code == 200
        assert '"calls":["late__draw"]' in reply.text.replace(" ", "")
        offered = [tool.name for tool in hub.backend.requests[0].tools]  # type: ignore[attr-defined]
        assert offered == ["late__draw"]


async def test_a_server_that_does_not_come_holds_up_no_request_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long, and that it is waited for once, says `test_arrivals`, which has a clock of its own."""
    monkeypatch.setattr("naru.hub.ARRIVAL_SECONDS", 0.5)
    async with hub_with_a_late_server(tmp_path) as (hub, url, _), httpx.AsyncClient(timeout=90) as client:
        body = {"model": "m+tools", "messages": [{"role": "user", "content": "Draw a square."}]}
        for _ in range(2):
            assert (await client.post(f"{url}/v1/chat/completions", json=body)).status_code == 200
        assert not any(request.tools for request in hub.backend.requests)  # type: ignore[attr-defined]
