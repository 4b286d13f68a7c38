"""Servers that others made: each connects, lists, calls, is killed with -9, and is back by itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from naru.connections.manager import Manager
from naru.connections.state.settings import ConnectionSettings
from naru.messages import ResourcePart
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.tools.toolset import CallContext
from tests.client_environments import node_environment, python_environment
from tests.connections.conftest import SERVERS, managed
from tests.ports import free_port
from tests.sizes import IS_FULL
from tests.waiting import until

NPM = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
}
PATIENT = ConnectionSettings(connect_timeout_seconds=60, ping_interval_seconds=15 if IS_FULL else 1)
"""The product's own delays; the start may take longer, since test machines are busy, and silence shows sooner."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Real:
    """A server, how it is started, one call with what its answer contains."""

    name: str
    argv: list[str]
    tool: str
    arguments: dict[str, Any]
    answer: str
    version: str
    tools: int
    env: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with one file."""
    made = tmp_path_factory.mktemp("real")
    (made / "hello.txt").write_text("안녕하세요", encoding="utf-8")
    quiet = {"capture_output": True, "check": True}
    subprocess.run(["git", "init", "-q", str(made)], **quiet)
    subprocess.run(["git", "-C", str(made), "add", "."], **quiet)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "-C", str(made), *identity, "commit", "-qm", "first commit"], **quiet)
    return made


def npm(package: str, *arguments: str) -> list[str]:
    root = node_environment(NPM)
    return ["node", str(root / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js"), *arguments]


def pypi(requirement: str, module: str, *arguments: str) -> list[str]:
    return [str(python_environment(requirement)), "-m", module, *arguments]


def real(kind: str, folder: Path) -> Real:
    thought = {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    memory = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    old, new = "2025-11-25", "2026-07-28"
    made = {
        "everything": lambda: Real(
            kind, npm("server-everything", "stdio"), "echo", {"message": "hi"}, "Echo: hi", old, 13
        ),
        "filesystem": lambda: Real(
            kind,
            npm("server-filesystem", str(folder)),
            "read_text_file",
            {"path": str(folder / "hello.txt")},
            "안녕하세요",
            old,
            14,
        ),
        "memory": lambda: Real(kind, npm("server-memory"), "read_graph", {}, "entities", old, 9, memory),
        "sequential-thinking": lambda: Real(
            kind, npm("server-sequential-thinking"), "sequentialthinking", thought, "thoughtNumber", old, 1
        ),
        "time": lambda: Real(
            kind,
            pypi("mcp-server-time==2026.10.19", "mcp_server_time"),
            "get_current_time",
            {"timezone": "Asia/Seoul"},
            "+09:00",
            new,
            2,
        ),
        "git": lambda: Real(
            kind,
            pypi("mcp-server-git==2026.10.19", "mcp_server_git"),
            "git_log",
            {"repo_path": str(folder)},
            "first commit",
            new,
            12,
        ),
        "mcp-1.x": lambda: Real(
            kind,
            [str(python_environment("mcp==1.30.0")), str(SERVERS / "fastmcp1_server.py"), "stdio"],
            "add",
            {"a": 2, "b": 3},
            "5",
            old,
            2,
        ),
    }
    return made[kind]()


STDIO = ["everything", "filesystem", "memory", "sequential-thinking", "time", "git", "mcp-1.x"]


@pytest.mark.node
@pytest.mark.parametrize("kind", STDIO)
async def test_a_real_server_over_stdio_lives_dies_and_comes_back(kind: str, folder: Path) -> None:
    made = real(kind, folder)
    config = {"command": made.argv[0], "args": made.argv[1:], "env": made.env}
    async with managed(PATIENT) as manager:
        await manager.register(ServerRecord(name=kind, transport_type=TransportType.STDIO, config=config))
        start = time.monotonic()
        assert await manager.connect(kind), manager.explain(kind)
        connected = time.monotonic() - start
        connection = manager.connection(kind)
        assert connection.protocol_version == made.version
        assert len(connection.tools) == made.tools
        assert made.answer in await answer(manager, made)
        assert connection.pid is not None
        os.kill(connection.pid, signal.SIGKILL)
        start = time.monotonic()
        await until(lambda: connection.generation == 2 and connection.is_live, 60)
        back = time.monotonic() - start
        assert made.answer in await answer(manager, made)
        print(f"{kind}: {made.version}, {made.tools} tools, connected in {connected:.2f} s, back in {back:.2f} s")
        assert connection.counters.strays == 0


async def answer(manager: Manager, made: Real) -> str:
    return (await manager.call_tool(made.name, made.tool, made.arguments, CallContext(timeout_seconds=60))).text


HTTP = ["everything-http", "everything-sse", "mcp-1.x-http", "mcp-1.x-sse", "mcp-2-http", "mcp-2-sse"]


def command(kind: str, port: int) -> tuple[list[str], dict[str, str]]:
    """Return how a server is started over HTTP, and its variables."""
    name, _, transport = kind.rpartition("-")
    if name == "everything":
        return npm("server-everything", "sse" if transport == "sse" else "streamableHttp"), {"PORT": str(port)}
    if name == "mcp-1.x":
        way = "sse" if transport == "sse" else "streamable-http"
        return [str(python_environment("mcp==1.30.0")), str(SERVERS / "fastmcp1_server.py"), way, str(port)], {}
    return [str(python_environment("mcp==2.3.0")), str(SERVERS / "sdk_server.py"), "http", str(port)], {}


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def running(kind: str, port: int) -> Iterator[None]:
    argv, variables = command(kind, port)
    quiet = subprocess.DEVNULL
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}
    process = subprocess.Popen(argv, env={**path, **variables}, stdout=quiet, stderr=quiet)
    try:
        deadline = time.monotonic() + 120
        while not listens(port):
            assert process.poll() is None, f"{kind} ended with {process.returncode} before it listened"
            assert time.monotonic() < deadline, f"{kind} does not listen"
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.asynccontextmanager
async def started(kind: str, port: int) -> AsyncIterator[None]:
    """Run a server; leaving kills it with -9."""
    manager = running(kind, port)
    await asyncio.to_thread(manager.__enter__)
    try:
        yield
    finally:
        manager.__exit__(None, None, None)


@pytest.mark.node
@pytest.mark.parametrize("kind", HTTP)
async def test_a_real_server_over_http_lives_dies_and_comes_back(kind: str) -> None:
    """Whether its entry says which transport it is, or not."""
    port = free_port()
    transport = TransportType.SSE if kind.endswith("sse") else TransportType.HTTP
    url = f"http://127.0.0.1:{port}/{'sse' if transport is TransportType.SSE else 'mcp'}"
    tool = "add" if kind.startswith("mcp-1") else "echo"
    arguments = {"a": 2, "b": 3} if tool == "add" else {"message": "hi", "text": "hi"}
    expected = "5" if tool == "add" else "hi"
    async with managed(PATIENT) as manager:
        for name, said in (("declared", transport), ("undeclared", None)):
            await manager.register(ServerRecord(name=name, transport_type=said, config={"url": url}))
        connections = [manager.connection(name) for name in ("declared", "undeclared")]
        async with started(kind, port):
            for connection in connections:
                assert await manager.connect(connection.name), manager.explain(connection.name)
                assert connection.transport_type is transport
                assert expected in (await manager.call_tool(connection.name, tool, arguments)).text
            version = connection.protocol_version
        await until(lambda: all(each.status is ServerStatus.FAILED for each in connections))
        async with started(kind, port):
            back = await until(lambda: all(each.is_live for each in connections))
            for connection in connections:
                assert expected in (await manager.call_tool(connection.name, tool, arguments)).text
        print(f"{kind}: {version} over {transport}, back {back:.2f} s after its return")


@pytest.mark.node
async def test_every_kind_of_content_of_the_everything_server_arrives_as_typed_parts(folder: Path) -> None:
    """H6"""
    made = real("everything", folder)
    async with managed(PATIENT) as manager:
        config = {"command": made.argv[0], "args": made.argv[1:]}
        await manager.register(ServerRecord(name="e", transport_type=TransportType.STDIO, config=config))
        assert await manager.connect("e"), manager.explain("e")
        image = await manager.call_tool("e", "get-tiny-image", {})
        assert "[Image: image/png]" in image.text
        links = await manager.call_tool("e", "get-resource-links", {"count": 2})
        assert sum(isinstance(part, ResourcePart) for part in links.content) == 2
        structured = await manager.call_tool("e", "get-structured-content", {"location": "New York"})
        assert structured.structured
        heard: list[float] = []

        async def on_progress(progress: float, total: float | None, message: str) -> None:
            heard.append(progress)

        context = CallContext(timeout_seconds=60, on_progress=on_progress)
        await manager.call_tool("e", "trigger-long-running-operation", {"duration": 1, "steps": 4}, context)
        assert heard == [1, 2, 3, 4]
