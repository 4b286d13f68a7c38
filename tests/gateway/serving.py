"""A real gateway on a loopback port for tests: manager, gate, uvicorn, in this very loop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from naru.config import ServerSettings
from naru.connections.manager import Manager
from naru.connections.state.settings import ConnectionSettings
from naru.gateway.catalog import CatalogSettings
from naru.gateway.faces.stdio import StdioFace, take_stdout
from naru.gateway.gateway import Gateway
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.upstreams.upstream import Upstream
from naru.records import ServerRecord, TransportType
from naru.stores.memory import MemoryStore
from naru.web import mcp_faces
from naru.web.gate.security import guard
from naru.web.one_write import KEEP_ALIVE_SECONDS, OneWriteProtocol

FIXTURES = Path(__file__).parent.parent / "fixtures"
ASK = ["sampling", "elicitation", "roots"]


@dataclass
class Served:
    """A running gateway."""

    gateway: Gateway
    manager: Manager
    url: str


def stdio_record(name: str, program: Path, *args: str, **config: Any) -> ServerRecord:
    """Return the record of a Python program as a stdio server."""
    given = {"command": sys.executable, "args": [str(program), *args], "ask": ASK, **config}
    return ServerRecord(name=name, transport_type=TransportType.STDIO, config=given)


def http_record(name: str, url: str, kind: TransportType = TransportType.HTTP, **config: Any) -> ServerRecord:
    """Return the record of a server behind a URL."""
    return ServerRecord(name=name, transport_type=kind, config={"url": url, "ask": ASK, **config})


async def dispatch(scope: Any, receive: Any, send: Any) -> None:
    """Hand a request to the row that the gate matched."""
    if scope["type"] == "http":
        await scope["state"]["endpoint"].handler(scope, receive, send)


def app_of(gateway: Gateway, settings: ServerSettings | None = None, **gate: Any) -> Any:
    """Return the gateway's faces behind the real gate."""
    rows = mcp_faces.endpoints(gateway)
    return guard(dispatch, rows, settings or ServerSettings(port=0), **gate)


@contextlib.asynccontextmanager
async def serving(
    records: Sequence[ServerRecord] = (),
    *,
    settings: GatewaySettings | None = None,
    own: Sequence[Upstream] = (),
    connections: ConnectionSettings | None = None,
    port: int = 0,
    server: ServerSettings | None = None,
    **gate: Any,
) -> AsyncIterator[Served]:
    """Run a gateway in front of these servers; connected when the block begins."""
    manager = Manager(MemoryStore(), settings=connections)
    for record in records:
        await manager.register(record)
    results = await asyncio.gather(*(manager.connect(record.name) for record in records))
    assert all(results), [manager.explain(record.name) for record in records]
    gateway = Gateway(manager, settings, own=own)
    async with listening(app_of(gateway, server, **gate), port) as url:
        try:
            yield Served(gateway, manager, url)
        finally:
            gateway.end_streams()
            await gateway.close()
            await manager.close()


@contextlib.asynccontextmanager
async def listening(app: Any, port: int = 0, http: Any = OneWriteProtocol) -> AsyncIterator[str]:
    """Serve an ASGI application on loopback."""
    bound = socket.create_server(("127.0.0.1", port), backlog=2048)
    config = uvicorn.Config(
        app,
        http=http,
        lifespan="off",
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]  # pytest has its own
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, 30)


@contextlib.asynccontextmanager
async def running(program: Path, *args: str) -> AsyncIterator[int]:
    """Run a fixture program that prints its port."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "ignore", str(program), *args, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        yield int(await asyncio.wait_for(child.stdout.readline(), 90))
    finally:
        child.kill()
        await child.wait()


@contextlib.asynccontextmanager
async def fixture_record(upstream: str) -> AsyncIterator[ServerRecord]:
    """Give a record of the conformance fixture: `stdio`, `http`, `http-legacy` or `sse`."""
    program = FIXTURES / "conformance_server.py"
    if upstream == "stdio":
        yield stdio_record("fixture", program, "--stdio")
        return
    extra = {"http": (), "http-legacy": ("--legacy",), "sse": ()}[upstream]
    async with running(program, *extra) as port:
        if upstream == "sse":
            yield http_record("fixture", f"http://127.0.0.1:{port}/sse", TransportType.SSE)
        else:
            yield http_record("fixture", f"http://127.0.0.1:{port}/mcp")


async def _main() -> None:
    """Serve the conformance fixture without a prefix: for the official suite, and for clients over stdio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--upstream", choices=("stdio", "http", "http-legacy", "sse"), default="http")
    options = parser.parse_args()
    out = take_stdout() if options.stdio else None
    settings = GatewaySettings(catalog=CatalogSettings(flat=True))
    async with (
        fixture_record(options.upstream) as record,
        serving([record], settings=settings, port=options.port) as served,
    ):
        if out is not None:
            await StdioFace(served.gateway.engine, sys.stdin.buffer, out).serve()
            return
        print(served.url, served.manager.connection("fixture").era, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main())
