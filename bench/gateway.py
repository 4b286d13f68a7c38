"""Naru's MCP face beside a raw forwarder and other gateways, in one run: `python bench/gateway.py [--quick]`.

Starts and stops everything on loopback. CPU is the target's own process; wall numbers depend on what else runs.
Peers are measured when they are named: --peers a Python with fastmcp, --mcp-proxy the program of that name.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import statistics
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil

from gateway_held import hold
from gateway_load import Cell, Target, load
from gateway_targets import KEY

HERE = Path(__file__).parent
ECHO = str(HERE / "gateway_echo.py")
TARGETS = str(HERE / "gateway_targets.py")


@contextlib.asynccontextmanager
async def program(*command: str) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    """Run a program that prints its port."""
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield int(await asyncio.wait_for(child.stdout.readline(), 180)), child
    finally:
        with contextlib.suppress(ProcessLookupError, psutil.Error):
            for each in psutil.Process(child.pid).children(recursive=True):
                each.kill()
            child.send_signal(signal.SIGKILL)
        await child.wait()


async def listening(port: int) -> None:
    for _ in range(1200):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(port)


async def rounds(
    name: str, targets: dict[str, Target], sessions: int, options: argparse.Namespace, **more: object
) -> None:
    """Measure all targets in turn, several times, and print medians with the ratio to the floor."""
    cells: dict[str, list[Cell]] = {key: [] for key in targets}
    for _ in range(options.rounds):
        for key, target in targets.items():
            try:
                cells[key].append(await asyncio.wait_for(load(target, sessions, options.seconds, **more), 60))
            except (TimeoutError, AssertionError, RuntimeError, OSError) as error:
                print(f"  {key}: {type(error).__name__} {str(error)[:120]}")
    medians = {
        key: Cell(*(statistics.median(getattr(cell, field) for cell in own) for field in Cell.__dataclass_fields__))
        for key, own in cells.items()
        if own
    }
    base = medians.get("floor") or next(iter(medians.values()))
    print(f"\n{name}, {sessions} session(s)")
    for key, cell in medians.items():
        print(f"  {key:<22} {cell}  {cell.cpu_ms / max(base.cpu_ms, 1e-6):5.1f}x floor's CPU")


async def http_calls(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        port, echo = await start(program(sys.executable, ECHO))
        url = f"http://127.0.0.1:{port}/mcp"
        floor_port, floor = await start(program(sys.executable, TARGETS, "floor", url))
        naru_port, naru = await start(program(sys.executable, TARGETS, "naru", url))
        old_port, _ = await start(program(sys.executable, ECHO, "--legacy"))
        bridge = await start(program(sys.executable, TARGETS, "naru", f"http://127.0.0.1:{old_port}/mcp"))
        for each in (floor_port, naru_port, bridge[0]):
            await listening(each)
        targets = {
            "direct": Target(port, echo.pid),
            "floor": Target(floor_port, floor.pid),
            "naru": Target(naru_port, naru.pid, key=KEY),
            "naru, stateless client": Target(naru_port, naru.pid, key=KEY, modern=True),
            "naru, session server": Target(bridge[0], bridge[1].pid, key=KEY),
            "naru, both crossed": Target(bridge[0], bridge[1].pid, key=KEY, modern=True),
        }
        if options.peers:
            peer_port, peer = await start(program(options.peers, TARGETS, "fastmcp", url))
            await listening(peer_port)
            targets["fastmcp proxy"] = Target(peer_port, peer.pid)
        for sessions in (1, 8, 64):
            await rounds("tools/call over HTTP", targets, sessions, options)
        await rounds("tools/call, 100 kB result", targets, 8, options, size=100_000)
        print(f"  RSS of naru after load: {psutil.Process(naru.pid).memory_info().rss / 1e6:.0f} MB")


async def stdio_calls(options: argparse.Namespace) -> None:
    command = [sys.executable, ECHO, "--stdio"]
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        port, naru = await start(program(sys.executable, TARGETS, "naru", json.dumps(command)))
        await listening(port)
        targets = {"naru": Target(port, naru.pid, key=KEY)}
        if options.peers:
            peer_port, peer = await start(program(options.peers, TARGETS, "fastmcp", json.dumps(command)))
            await listening(peer_port)
            targets["fastmcp proxy"] = Target(peer_port, peer.pid)
        if options.mcp_proxy:
            proxy_port = 42391
            proxy = await asyncio.create_subprocess_exec(
                options.mcp_proxy,
                f"--port={proxy_port}",
                "--",
                *command,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            stack.callback(_kill, proxy)
            await listening(proxy_port)
            targets["mcp-proxy"] = Target(proxy_port, proxy.pid, path="/mcp/")
        for sessions in (1, 8, 64):
            await rounds("tools/call over stdio", targets, sessions, options)


def _kill(child: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        child.kill()


async def lists(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        ports = [(await start(program(sys.executable, ECHO, "--tools", "50")))[0] for _ in range(10)]
        urls = [f"http://127.0.0.1:{port}/mcp" for port in ports]
        one_port, one = await start(program(sys.executable, TARGETS, "naru", urls[0]))
        ten_port, ten = await start(program(sys.executable, TARGETS, "naru", *urls))
        await listening(one_port)
        await listening(ten_port)
        all_tools = {"naru": Target(ten_port, ten.pid, key=KEY)}
        await rounds("tools/list, 500 tools of 10 servers", all_tools, 1, options, method="tools/list")
        called = {
            "one server": Target(one_port, one.pid, key=KEY),
            "ten servers": Target(ten_port, ten.pid, key=KEY, tool="s7__echo"),
        }
        await rounds("tools/call, ten servers against one", called, 8, options)


async def held(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        port, _ = await stack.enter_async_context(program(sys.executable, ECHO))
        served = program(sys.executable, TARGETS, "naru", f"http://127.0.0.1:{port}/mcp")
        naru_port, naru = await stack.enter_async_context(served)
        await listening(naru_port)
        await hold(Target(naru_port, naru.pid, key=KEY, path="/sse"), 500 if options.quick else 5000)


async def main(options: argparse.Namespace) -> None:
    for part in (http_calls, stdio_calls, lists, held):
        if options.only in ("", part.__name__):
            await part(options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--peers", default="", help="a Python with fastmcp")
    parser.add_argument("--mcp-proxy", default="", help="the program of PyPI's mcp-proxy")
    parser.add_argument("--only", default="", help="http_calls, stdio_calls, lists or held")
    chosen = parser.parse_args()
    chosen.rounds, chosen.seconds = (1, 1.0) if chosen.quick else (5, 2.0)
    import uvloop

    uvloop.run(main(chosen))
