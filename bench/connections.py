"""Connections beside the bare SDK and fastmcp's proxy: `python bench/connections.py [ROUNDS] [SECONDS]`.

Starts and stops everything on loopback. Targets take turns, each in a process of its own; medians over the rounds.
Further rows: memory of a held server, and how long recovery takes when the server dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from naru.connections.manager import Manager  # noqa: E402  # the path comes first
from naru.connections.state.settings import ConnectionSettings  # noqa: E402
from naru.records import ServerRecord, TransportType  # noqa: E402
from naru.stores.memory import MemoryStore  # noqa: E402
from naru.stores.open import open_store  # noqa: E402

RAW = str(ROOT / "tests" / "fixtures" / "servers" / "raw_server.py")
SDK = str(ROOT / "tests" / "fixtures" / "servers" / "sdk_server.py")
HERE = Path(__file__).parent
_WORKER_SECONDS = 40
FIGURES = ("connect_ms", "list_ms", "p50_ms_1", "p99_ms_1", "cpu_ms_1", "calls_per_second_100", "cpu_ms_100", "rss_mib")


@contextlib.contextmanager
def upstream(port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, str(HERE / "connections_upstream.py"), str(port)])
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def pythons() -> dict[str, str]:
    """Return the Python of each target; fastmcp has an environment of its own, and is left out when it cannot."""
    import pytest
    from tests.client_environments import python_environment

    found = {"naru": sys.executable, "sdk": sys.executable}
    try:
        found["fastmcp"] = str(python_environment("fastmcp==4.2.3"))
    except pytest.skip.Exception as error:
        print(f"fastmcp is left out: {error}")
    return found


def measured(command: list[str]) -> dict[str, float]:
    """Run one worker; nothing when it fails or does not end."""
    # Byte code is what users have, and starts would otherwise be compiled anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    name = f"{command[2]} over {command[3]}"
    try:
        done = subprocess.run(command, capture_output=True, timeout=_WORKER_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode().splitlines()
        print(f"{name}: a cell did not end within {_WORKER_SECONDS} s")
        return json.loads(said[-1]) if said else {}
    if done.returncode:
        print(f"{name} failed: {done.stderr.decode().strip()[-300:]}")
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def compare(rounds: int, seconds: float) -> None:
    found = pythons()
    port = free_port()
    with upstream(port):
        for transport, place in (("http", f"http://127.0.0.1:{port}/mcp"), ("stdio", SDK)):
            figures: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in found}
            for _ in range(rounds):
                for name, python in found.items():
                    command = [python, str(HERE / "connections_worker.py"), name, transport, place, str(seconds)]
                    for figure, value in measured(command).items():
                        figures[name][figure].append(value)
            show(transport, figures)


def show(transport: str, figures: dict[str, dict[str, list[float]]]) -> None:
    print(f"\n{transport}: {' | '.join(['target', *FIGURES])}")
    for name, values in figures.items():
        if values:
            shown = (f"{statistics.median(values[figure]):.2f}" if values[figure] else "-" for figure in FIGURES)
            print(f"{name:8}", " | ".join(shown))
    ours = figures["naru"]
    for name, values in figures.items():
        for figure in ("cpu_ms_1", "cpu_ms_100"):
            if name != "naru" and values[figure] and ours[figure]:
                ratio = statistics.median(values[figure]) / statistics.median(ours[figure])
                print(f"{name}: {figure} is {ratio:.1f} times Naru's")


async def held_and_lost() -> None:
    """Show the memory of a held HTTP server, and recovery of both transports."""
    port = free_port()
    manager = Manager(MemoryStore())
    try:
        with upstream(port):
            await hold(manager, port)
        with upstream(port):
            start = time.perf_counter()
            await manager.call_tool("first", "echo", {"text": "x"})
            print(f"HTTP server back: first call after {(time.perf_counter() - start) * 1000:.0f} ms")
            await kill_children(manager)
    finally:
        await manager.close()


async def hold(manager: Manager, port: int) -> None:
    async def add(name: str) -> None:
        config = {"url": f"http://127.0.0.1:{port}/mcp"}
        await manager.register(ServerRecord(name=name, transport_type=TransportType.HTTP, config=config))
        assert await manager.connect(name)

    await add("first")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await asyncio.gather(*(add(f"s{n}") for n in range(200)))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"\nmemory of a held HTTP server: {grown / 200:.0f} kB (200 held)")


async def kill_children(manager: Manager) -> None:
    config = {"command": sys.executable, "args": ["-S", RAW]}
    await manager.register(ServerRecord(name="child", transport_type=TransportType.STDIO, config=config))
    start = time.perf_counter()
    await manager.connect("child")
    first = time.perf_counter() - start
    taken = []
    for _ in range(5):
        os.kill(manager.connection("child").pid or 0, signal.SIGKILL)
        start = time.perf_counter()
        while manager.connection("child").is_live:
            await asyncio.sleep(0)
        await manager.call_tool("child", "echo", {"text": "x"})
        taken.append(time.perf_counter() - start)
    back = statistics.median(taken)
    print(f"stdio child killed: back after {back * 1000:.0f} ms (its start takes {first * 1000:.0f})")


async def stuck_beside() -> None:
    """Show what 1,000 calls that hang on one server do to another one's p99 (R-35: 1.2 times at most)."""
    manager = Manager(MemoryStore(), settings=ConnectionSettings(queue_timeout_seconds=30))
    alone, beside = [], []
    try:
        for name in ("stuck", "other"):
            config = {"command": sys.executable, "args": ["-S", RAW]}
            await manager.register(ServerRecord(name=name, transport_type=TransportType.STDIO, config=config))
            assert await manager.connect(name)
        await p99(manager)
        for _ in range(7):
            alone.append(await p99(manager))
            calls = [asyncio.ensure_future(manager.call_tool("stuck", "sleep", {"seconds": 60})) for _ in range(1000)]
            await asyncio.sleep(0.1)
            beside.append(await p99(manager))
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(0.1)
    finally:
        await manager.close()
    ratio = statistics.median(after / before for before, after in zip(alone, beside, strict=True))
    print(
        f"R-35: p99 of another server {statistics.median(alone) * 1000:.2f} ms alone, "
        f"{statistics.median(beside) * 1000:.2f} ms beside 1,000 stuck calls: median ratio {ratio:.2f}"
    )


async def p99(manager: Manager) -> float:
    taken = []
    for _ in range(1500):
        start = time.perf_counter()
        await manager.call_tool("other", "echo", {"text": "x"})
        taken.append(time.perf_counter() - start)
    return statistics.quantiles(taken, n=100)[98]


async def registered() -> None:
    """Show start, list and memory with 1,000 registered servers, 100 of them connected (R-31)."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, upstream(port):
        store = open_store(f"sqlite:{folder}/naru.db")
        await store.open()
        config = {"url": f"http://127.0.0.1:{port}/mcp"}
        for number in range(1000):
            is_wanted = number < 100
            await store.save(
                ServerRecord(
                    name=f"s{number}", transport_type=TransportType.HTTP, config=config, auto_connect=is_wanted
                )
            )
        before = rss_mib()
        manager = Manager(store)
        start = time.perf_counter()
        await manager.initialize_from_store()
        ready = time.perf_counter() - start
        while sum(one.is_live for one in manager.connections.values()) < 100:
            await asyncio.sleep(0.005)
        live = time.perf_counter() - start
        taken = []
        for _ in range(40):
            start = time.perf_counter()
            for record in await manager.list_servers():
                manager.explain(record.name)
            taken.append(time.perf_counter() - start)
        p95 = statistics.quantiles(taken, n=20)[18]
        print(
            f"R-31: 1,000 registered: ready in {ready:.2f} s, 100 live after {live:.2f} s, list with explanations p95 "
            f"{p95 * 1000:.0f} ms, memory {rss_mib():.0f} MiB (+{rss_mib() - before:.0f})"
        )
        await manager.close()
        await store.close()


def rss_mib() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else 5, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    asyncio.run(held_and_lost())
    asyncio.run(stuck_beside())
    asyncio.run(registered())
