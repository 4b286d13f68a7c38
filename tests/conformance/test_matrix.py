"""Every client we know × every face × every upstream transport; prints its table (V1, V2, N11)."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from naru.gateway.catalog import CatalogSettings
from naru.gateway.core import GatewaySettings
from tests.gateway.serving import fixture_record, serving

HERE = Path(__file__).parent / "clients"
CLIENTS = Path("~/.cache/naru-mcp-clients").expanduser()
UPSTREAMS = ("stdio", "http", "http-legacy", "sse")
INSPECTOR = "inspector"


@dataclass(frozen=True)
class Client:
    """A client and the faces it can use."""

    name: str
    command: Sequence[str]
    faces: Sequence[str]
    mode: str = ""
    version: str = "2025-11-25"
    """What it negotiates."""


def clients() -> list[Client]:
    node = shutil.which("node")
    missing = [name for name in ("mcp-1.2", "mcp-1.30", "node_modules") if not (CLIENTS / name).exists()]
    if node is None or missing:
        pytest.skip(
            f"clients are missing ({missing or 'node'}): run tests/conformance/clients/install, and install node"
        )
    python = str(HERE / "python_client.py")
    script = [node, str(HERE / "typescript_client.mjs"), str(CLIENTS / "node_modules")]
    every = ("sse", "http", "stdio")
    return [
        Client("mcp 1.2", [str(CLIENTS / "mcp-1.2/bin/python"), python], ("sse", "stdio"), version="2024-11-05"),
        Client("mcp 1.30", [str(CLIENTS / "mcp-1.30/bin/python"), python], every),
        Client("mcp 2.3", [sys.executable, python], every, mode="auto", version="2026-07-28"),
        Client("mcp 2.3 legacy", [sys.executable, python], every, mode="legacy"),
        Client("TypeScript 1", [*script, "1"], every),
        Client("TypeScript 2", [*script, "2"], every),
        Client(INSPECTOR, [node, str(CLIENTS / "node_modules/.bin/mcp-inspector"), "--cli"], every),
    ]


def address(face: str, url: str, upstream: str) -> str:
    if face != "stdio":
        return f"{url}/{'mcp' if face == 'http' else 'sse'}"
    return json.dumps([sys.executable, str(HERE.parent / "stdio_gateway.py"), upstream])


async def run(*command: str) -> str:
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    try:
        out, err = await asyncio.wait_for(child.communicate(), 170)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0, err.decode()[-1500:]
    return out.decode()


async def use(client: Client, face: str, where: str) -> str:
    """Run one client; returns its cell of the table, raises AssertionError when it saw anything wrong."""
    if client.name == INSPECTOR:
        target = json.loads(where) if face == "stdio" else [where, "--transport", face]
        listed = json.loads(await run(*client.command, *target, "--method", "tools/list"))
        call = ("--method", "tools/call", "--tool-name", "test_simple_text")
        called = json.loads(await run(*client.command, *target, *call))
        assert len(listed["tools"]) > 30
        assert called["content"][0]["text"] == "This is a simple text response for testing."
        return "list call"
    seen: dict[str, Any] = json.loads(
        (await run(*client.command, face, where, *filter(None, [client.mode]))).splitlines()[-1]
    )
    assert seen["tools"] > 30
    assert seen["text"] == "This is a simple text response for testing."
    assert seen["version"] in ("", client.version)
    if client.version == "2024-11-05":
        return "list call"
    assert seen["progress"] == [0, 50, 100]
    assert seen["elicited"]
    assert seen["answer"].startswith("User response: action=accept")
    assert seen["changed"]
    return "list call progress ask changed"


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("upstream", UPSTREAMS)
async def test_every_client_works_over_every_face(upstream: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = GatewaySettings(catalog=CatalogSettings(flat=True))
    rows: list[tuple[str, str, str]] = []
    async with fixture_record(upstream) as record, serving([record], settings=settings) as served:
        for client in clients():
            for face in client.faces:
                try:
                    cell = await use(client, face, address(face, served.url, upstream))
                except (AssertionError, TimeoutError) as error:
                    cell = f"FAILED {str(error)[:600]}"
                rows.append((client.name, face, cell))
    with capsys.disabled():
        print(f"\nupstream {upstream}")
        for name, face, cell in rows:
            print(f"  {name:<15} {face:<6} {cell}")
    assert not [row for row in rows if row[2].startswith("FAILED")]
