"""`naru approvals` against a hub that serves (N9)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import served

from naru.cli.main import main
from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, TransportType
from naru.tools.toolset import CallContext
from naru.web.app import open_app

PROGRAM = Path(__file__).parent.parent / "fixtures" / "servers" / "raw_server.py"


@pytest.mark.slow
async def test_a_waiting_call_is_shown_with_its_arguments_and_allowed_or_denied(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "hub": {"data_dir": tmp_path, "store": "memory:"},
            "server": {"allowed_hosts": ["127.0.0.1:*"]},
            "approvals": {"ask": ["raw/*"]},
        }
    )
    async with (
        open_hub(settings, backend=ScriptedBackend([])) as hub,
        open_app(hub) as app,
        served(app.asgi) as url,
    ):
        port = urlsplit(url).port or 0
        config = {"command": sys.executable, "args": [str(PROGRAM)]}
        await hub.manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
        assert await hub.manager.connect("raw")
        call = asyncio.ensure_future(hub.tools().call("raw__echo", {"text": "hello"}, CallContext()))
        shown = await until_it_shows(port, tmp_path, "raw/echo")
        assert '"text": "hello"' in shown
        await naru(port, tmp_path, "approvals", "allow", shown.split()[0])
        assert (await call).text == "hello"
        assert "raw/echo" not in await naru(port, tmp_path, "approvals", "list")


async def until_it_shows(port: int, folder: Path, text: str) -> str:
    for _ in range(50):
        shown = await naru(port, folder, "approvals", "list")
        if text in shown:
            return shown
    raise AssertionError(f"no call waits: {shown}")


async def naru(port: int, folder: Path, *arguments: str) -> str:
    env = {
        "NARU_SERVER__PORT": str(port),
        "NARU_HUB__DATA_DIR": str(folder),
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", main.__module__, *arguments, env=env, stdout=-1, stderr=-1
    )
    out, errors = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode == 0, errors.decode()
    return out.decode()
