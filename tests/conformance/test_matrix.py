"""Every client we know × every face × every upstream transport; prints its table (V1, V2, N11).

One gateway before four servers, one process for each client: what is tested is what passes between them, not how often
a process can be started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from naru.gateway.engine import Engine
from naru.gateway.faces.stdio import StdioFace
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.serving import Served, fixture_record, serving

HERE = Path(__file__).parent / "clients"
CLIENTS = Path("~/.cache/naru-mcp-clients").expanduser()
UPSTREAMS = ("stdio", "http", "http-legacy", "sse")
INSPECTOR = "inspector"
SIMPLE = "This is a simple text response for testing."
EVERY = ("sse", "http", "stdio")


@dataclass(frozen=True)
class Client:
    """A client and the faces it can use."""

    name: str
    command: Sequence[str]
    faces: Sequence[str] = EVERY
    mode: str = ""
    version: str = "2025-11-25"
    """What it negotiates."""


@dataclass(frozen=True)
class Cell:
    """One field of the table."""

    client: Client
    face: str
    upstream: str
    address: str


def clients() -> list[Client]:
    node = shutil.which("node")
    missing = [name for name in ("mcp-1.2", "mcp-1.30", "node_modules") if not (CLIENTS / name).exists()]
    if node is None or missing:
        pytest.skip(
            f"clients are missing ({missing or 'node'}): run tests/conformance/clients/install, and install node"
        )
    python = str(HERE / "python_client.py")
    script = [node, str(HERE / "typescript_client.mjs"), str(CLIENTS / "node_modules")]
    return [
        Client("mcp 1.2", [str(CLIENTS / "mcp-1.2/bin/python"), python], ("sse", "stdio"), version="2024-11-05"),
        Client("mcp 1.30", [str(CLIENTS / "mcp-1.30/bin/python"), python]),
        Client("mcp 2.3", [sys.executable, python], mode="auto", version="2026-07-28"),
        Client("mcp 2.3 legacy", [sys.executable, python], mode="legacy"),
        Client("TypeScript 1", [*script, "1"]),
        Client("TypeScript 2", [*script, "2"]),
        Client(INSPECTOR, [node, str(CLIENTS / "node_modules/.bin/mcp-inspector"), "--cli"]),
    ]


@contextlib.asynccontextmanager
async def stdio_faces(engine: Engine, folder: Path) -> AsyncIterator[dict[str, str]]:
    """Serve a stdio face of each server on a Unix socket; gives the command, as JSON, that leads to it."""
    tasks: list[asyncio.Task[None]] = []
    commands: dict[str, str] = {}
    loop = asyncio.get_running_loop()

    async def face(end: socket.socket, view: str) -> None:
        with end, end.makefile("rb") as source, end.makefile("wb") as sink:
            await StdioFace(engine, source, sink, view=view).serve()
            end.shutdown(socket.SHUT_RDWR)

    async def accept(listener: socket.socket, view: str) -> None:
        while True:
            end, _ = await loop.sock_accept(listener)
            end.setblocking(True)
            tasks.append(asyncio.create_task(face(end, view)))

    for upstream in UPSTREAMS:
        path = str(folder / upstream)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        listener.setblocking(False)
        tasks.append(asyncio.create_task(accept(listener, upstream)))
        commands[upstream] = json.dumps([sys.executable, "-S", str(HERE / "pipe.py"), path])
    try:
        yield commands
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run(*command: str) -> str:
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    try:
        out, err = await asyncio.wait_for(child.communicate(), 300)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0, err.decode()[-1500:]
    return out.decode()


async def inspect(cell: Cell) -> str:
    """The inspector does one thing at a time: its list is looked at before one server, its call before each."""
    target = json.loads(cell.address) if cell.face == "stdio" else [cell.address, "--transport", cell.face]
    done = []
    if cell.upstream == "http":
        listed = json.loads(await run(*cell.client.command, *target, "--method", "tools/list"))
        assert len(listed["tools"]) > 30
        done.append("list")
    call = ("--method", "tools/call", "--tool-name", "test_simple_text")
    called = json.loads(await run(*cell.client.command, *target, *call))
    assert called["content"][0]["text"] == SIMPLE
    return " ".join([*done, "call"])


async def inspected(cell: Cell) -> str | BaseException:
    """Return what worked, or why it did not."""
    try:
        return await inspect(cell)
    except (AssertionError, KeyError, TimeoutError, ValueError) as error:
        return error


def judge(cell: Cell, seen: dict[str, Any]) -> str:
    """Return what worked; AssertionError when anything was not as it must be."""
    assert "error" not in seen, seen["error"]
    assert seen["tools"] > 30
    assert seen["text"] == SIMPLE
    assert seen["version"] in ("", cell.client.version)
    if cell.client.version == "2024-11-05":
        return "list call"
    # The TypeScript SDKs drop notes that they read together with the reply, before any server: all, on a busy machine.
    least = 0 if cell.client.name.startswith("TypeScript") else 3
    assert seen["progress"] == [0, 50, 100][: max(least, len(seen["progress"]))]
    assert seen["elicited"]
    assert seen["answer"].startswith("User response: action=accept")
    assert seen["changed"]
    return "list call progress ask changed"


async def use(cells: Sequence[Cell]) -> list[str]:
    """Run one client through its cells; returns what each shows."""
    client = cells[0].client
    if client.name == INSPECTOR:
        return [_shown(each) for each in [await inspected(cell) for cell in cells]]
    where = json.dumps([[cell.face, cell.address] for cell in cells])
    lines = (await run(*client.command, where, *filter(None, [client.mode]))).splitlines()
    results: list[str | BaseException] = []
    for cell, line in zip(cells, [line for line in lines if line.startswith("{")], strict=True):
        try:
            results.append(judge(cell, json.loads(line)))
        except (AssertionError, KeyError) as error:
            results.append(error)
    return [_shown(each) for each in results]


def _shown(result: str | BaseException) -> str:
    return result if isinstance(result, str) else f"FAILED {result!r:.600}"


def cells_of(client: Client, served: Served, commands: dict[str, str]) -> list[Cell]:
    paths = {"sse": "sse", "http": "mcp"}
    return [
        Cell(
            client,
            face,
            upstream,
            commands[upstream] if face == "stdio" else f"{served.url}/servers/{upstream}/{paths[face]}",
        )
        for upstream in UPSTREAMS
        for face in client.faces
    ]


@pytest.mark.slow
@pytest.mark.node
async def test_every_client_works_over_every_face_before_every_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = clients()
    async with contextlib.AsyncExitStack() as stack:
        opened = (stack.enter_async_context(fixture_record(upstream)) for upstream in UPSTREAMS)
        records = await asyncio.gather(*opened)
        records = [record.model_copy(update={"name": name}) for record, name in zip(records, UPSTREAMS, strict=True)]
        served = await stack.enter_async_context(serving(records, settings=GatewaySettings()))
        commands = await stack.enter_async_context(stdio_faces(served.gateway.engine, tmp_path))
        table = [cells_of(client, served, commands) for client in every]
        # One after the other: a question that does not name its call is nobody's while two clients call (S-14).
        results = [await use(cells) for cells in table]
    rows = [
        (cell, shown) for cells, own in zip(table, results, strict=True) for cell, shown in zip(cells, own, strict=True)
    ]
    with capsys.disabled():
        print(f"\n{'client':<15} {'face':<6} {'upstream':<12} what worked")
        for cell, shown in rows:
            print(f"{cell.client.name:<15} {cell.face:<6} {cell.upstream:<12} {shown}")
    assert not [shown for _, shown in rows if shown.startswith("FAILED")]
