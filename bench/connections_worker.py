"""One target of `connections.py` in a process of its own. Arguments: target, transport, URL or script, seconds a cell.

Prints JSON lines, the last one complete: connect and list ms, at 1 and 100 in flight calls/s, CPU ms a call, p50 and
p99 ms, and memory. On uvloop where it is installed, as Naru serves.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import json
import resource
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable

Call = Callable[[str], Awaitable[str]]


@contextlib.asynccontextmanager
async def naru(transport: str, place: str) -> AsyncIterator[tuple[Call, Callable[[], Awaitable[int]]]]:
    from naru.connections.manager import Manager
    from naru.connections.state.settings import ConnectionSettings
    from naru.records import ServerRecord, TransportType
    from naru.stores.memory import MemoryStore

    manager = Manager(MemoryStore(), settings=ConnectionSettings(max_concurrent=100, max_queued=1000))
    stdio = {"command": sys.executable, "args": [place, "stdio"]}
    kind = TransportType.STDIO if transport == "stdio" else TransportType.HTTP
    config = stdio if transport == "stdio" else {"url": place}
    await manager.register(ServerRecord(name="up", transport_type=kind, config=config))
    if not await manager.connect("up"):
        raise SystemExit(manager.explain("up").summary)

    async def call(text: str) -> str:
        return (await manager.call_tool("up", "echo", {"text": text})).text

    async def count() -> int:
        await manager.connection("up").refresh()
        return len(manager.tools())

    yield call, count
    await manager.close()


@contextlib.asynccontextmanager
async def sdk(transport: str, place: str) -> AsyncIterator[tuple[Call, Callable[[], Awaitable[int]]]]:
    from mcp import Client, StdioServerParameters

    target = StdioServerParameters(command=sys.executable, args=[place, "stdio"]) if transport == "stdio" else place
    async with Client(target, read_timeout_seconds=30) as client:

        async def call(text: str) -> str:
            return (await client.call_tool("echo", {"text": text})).content[0].text  # type: ignore[union-attr]

        async def count() -> int:
            return len((await client.list_tools()).tools)

        yield call, count


@contextlib.asynccontextmanager
async def fastmcp(transport: str, place: str) -> AsyncIterator[tuple[Call, Callable[[], Awaitable[int]]]]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy

    target = StdioTransport(sys.executable, [place, "stdio"]) if transport == "stdio" else place
    async with Client(create_proxy(target)) as client:

        async def call(text: str) -> str:
            return (await client.call_tool("echo", {"text": text})).content[0].text

        async def count() -> int:
            return len(await client.list_tools())

        yield call, count


async def cell(call: Call, width: int, seconds: float) -> dict[str, float]:
    """Keep so many calls in flight for so long."""
    taken: list[float] = []
    end = time.perf_counter() + seconds

    async def run() -> None:
        while (start := time.perf_counter()) < end:
            assert await call("x" * 20) == "x" * 20
            taken.append(time.perf_counter() - start)

    await call("warm")
    cpu, start = time.process_time(), time.perf_counter()
    await asyncio.gather(*(run() for _ in range(width)))
    wall = time.perf_counter() - start
    ranks = statistics.quantiles(taken, n=100) if len(taken) > 1 else [taken[0]] * 99
    return {
        f"calls_per_second_{width}": len(taken) / wall,
        f"cpu_ms_{width}": (time.process_time() - cpu) * 1000 / len(taken),
        f"p50_ms_{width}": ranks[49] * 1000,
        f"p99_ms_{width}": ranks[98] * 1000,
    }


async def main(target: str, transport: str, place: str, seconds: float) -> None:
    start = time.perf_counter()
    async with {"naru": naru, "sdk": sdk, "fastmcp": fastmcp}[target](transport, place) as (call, count):
        figures = {"connect_ms": (time.perf_counter() - start) * 1000}
        start = time.perf_counter()
        await count()
        figures["list_ms"] = (time.perf_counter() - start) * 1000
        for width in (1, 100):
            figures |= await cell(call, width, seconds)
            figures["rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(json.dumps(figures), flush=True)  # what is known so far, should the next cell not end


if importlib.util.find_spec("uvloop"):
    importlib.import_module("uvloop").install()
asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])))
