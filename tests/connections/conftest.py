"""Servers to connect to, and a manager that leaves nothing behind."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from naru.connections.manager import Manager
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.records import ServerRecord, TransportType
from naru.stores.memory import MemoryStore
from tests.ports import free_port
from tests.waiting import HANG_SECONDS

SERVERS = Path(__file__).parent.parent / "fixtures" / "servers"
QUICK = ConnectionSettings(
    connect_timeout_seconds=60,
    probe_timeout_seconds=10,
    queue_timeout_seconds=60,
    reconnect=ReconnectPolicy(initial_delay_seconds=0.2, max_delay_seconds=2, stable_seconds=0.5),
)
"""Defaults with waits fit for tests."""
ONCE = replace(QUICK, reconnect=ReconnectPolicy(enabled=False))
"""The same without a second attempt: what the first one left stays as it is, however slow the machine."""
LATER = replace(QUICK, reconnect=ReconnectPolicy(initial_delay_seconds=600, max_delay_seconds=600))
"""The same with one that is planned, and comes in no test."""


def stdio(name: str, script: str, *arguments: str, **config) -> ServerRecord:
    """A record of a Python fixture over stdio."""
    return ServerRecord(
        name=name,
        transport_type=TransportType.STDIO,
        config={"command": sys.executable, "args": [str(SERVERS / script), *arguments], **config},
    )


def http(name: str, url: str, transport: TransportType | None = TransportType.HTTP, **config) -> ServerRecord:
    return ServerRecord(name=name, transport_type=transport, config={"url": url, **config})


@contextlib.asynccontextmanager
async def managed(settings: ConnectionSettings = QUICK, **kwargs) -> AsyncIterator[Manager]:
    manager = Manager(MemoryStore(), settings=settings, **kwargs)
    try:
        yield manager
    finally:
        await manager.close()


@pytest.fixture
async def manager() -> AsyncIterator[Manager]:
    async with managed() as made:
        yield made


def start_http(port: int, script: str = "sdk_server.py") -> subprocess.Popen[bytes]:
    """Start a fixture over HTTP and wait until it listens."""
    process = subprocess.Popen([sys.executable, str(SERVERS / script), "http", str(port)])
    deadline = time.monotonic() + 2 * HANG_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return process
        if process.poll() is not None:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    raise RuntimeError(f"{script} did not listen on {port}")


@pytest.fixture(scope="session")
def sdk_port() -> Iterator[int]:
    """The port of an SDK server with /mcp and /sse."""
    port = free_port()
    process = start_http(port)
    yield port
    process.kill()
    process.wait()
