"""Naru's MCP face beside a raw forwarder and other gateways, in one run: `python bench/gateway.py [--quick]`.

Starts and stops everything on loopback. CPU is the target's own process; wall numbers depend on what else runs.
Peers (fastmcp, mcp-proxy, mcp-hub) are measured when `bench/peers` has installed them. `--only PART,PART` runs some
of its parts; each takes less than four minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil

from gateway_held import hold
from gateway_load import Cell, Target, load
from gateway_targets import KEY
from gateway_trouble import aborts, child_dies, lag, overload, recovery, sessions, shouting, slow_reader, stop

HERE = Path(__file__).parent
ECHO = str(HERE / "gateway_echo.py")
TARGETS = str(HERE / "gateway_targets.py")
PEERS = Path("~/.cache/naru-bench").expanduser()
PYTHON, MCP_PROXY = PEERS / "py/bin/python", PEERS / "proxy/bin/mcp-proxy"
MCP_HUB = PEERS / "node_modules/mcp-hub/dist/cli.js"


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
    targets = {key: target for key, target in targets.items() if sessions <= target.most}
    for _ in range(options.rounds):
        for key, target in targets.items():
            try:
                cells[key].append(await asyncio.wait_for(load(target, sessions, options.seconds, **more), 20))
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


@contextlib.asynccontextmanager
async def on_port(*command: str) -> AsyncIterator[tuple[int, int]]:
    """Run a program that takes its port as `{port}` in its command and says nothing; gives port and pid."""
    port = free_port()
    child = await asyncio.create_subprocess_exec(
        *(part.replace("{port}", str(port)) for part in command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await listening(port)
        yield port, child.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


async def peers_of(stack: contextlib.AsyncExitStack, server: str, *, is_url: bool) -> dict[str, Target]:
    """Start the peers that are installed, before this server (a URL, or a command as JSON)."""
    found: dict[str, Target] = {}
    if PYTHON.exists():
        port, child = await stack.enter_async_context(program(str(PYTHON), TARGETS, "fastmcp", server))
        await listening(port)
        found["fastmcp proxy"] = Target(port, child.pid, most=8)
    if MCP_PROXY.exists() and not is_url:
        port, pid = await stack.enter_async_context(on_port(str(MCP_PROXY), "--port={port}", "--", *json.loads(server)))
        found["mcp-proxy"] = Target(port, pid, path="/mcp/")
    node = shutil.which("node")
    if MCP_HUB.exists() and node:
        command = [] if is_url else json.loads(server)
        entry = {"url": server} if is_url else {"command": command[0], "args": command[1:]}
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        config = Path(folder) / "hub.json"
        config.write_text(json.dumps({"mcpServers": {"s0": entry}}), encoding="utf-8")
        port, pid = await stack.enter_async_context(
            on_port(node, str(MCP_HUB), "--port={port}", "--config", str(config))
        )
        await asyncio.sleep(3)  # it listens before its server is there
        found["mcp-hub (SSE)"] = Target(port, pid, path="/mcp", stream=True, tool="s0__echo")
    return found


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
        targets["naru, SSE client"] = Target(naru_port, naru.pid, key=KEY, path="/sse", stream=True)
        targets |= await peers_of(stack, f"http://127.0.0.1:{old_port}/mcp", is_url=True)
        await lag(targets["naru"])
        for sessions in (1, 8, 64):
            await rounds("tools/call over HTTP", targets, sessions, options)
        p50, p99, most = await lag(targets["naru"])
        print(f"  lag of naru's loop in all that: p50 {p50}, p99 {p99}, at most {most} ms")
        await rounds("tools/call, 100 kB result", targets, 8, options, size=100_000)
        print(f"  RSS of naru after load: {psutil.Process(naru.pid).memory_info().rss / 1e6:.0f} MB")


async def sdk_calls(options: argparse.Namespace) -> None:
    """Calls of a server that is slow by itself: how much of its speed is left behind Naru."""
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        port, server = await start(program(sys.executable, TARGETS, "sdk"))
        await listening(port)
        url = f"http://127.0.0.1:{port}/mcp"
        naru_port, naru = await start(program(sys.executable, TARGETS, "naru", url))
        await listening(naru_port)
        targets = {"direct": Target(port, server.pid), "naru": Target(naru_port, naru.pid, key=KEY)}
        for sessions in (1, 8, 64):
            await rounds("tools/call of a server on the SDK", targets, sessions, options)


async def stdio_calls(options: argparse.Namespace) -> None:
    command = [sys.executable, ECHO, "--stdio"]
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        port, naru = await start(program(sys.executable, TARGETS, "naru", json.dumps(command)))
        await listening(port)
        targets = {"naru": Target(port, naru.pid, key=KEY)}
        targets |= await peers_of(stack, json.dumps(command), is_url=False)
        for sessions in (1, 8, 64):
            await rounds("tools/call over stdio", targets, sessions, options)


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


async def trouble(options: argparse.Namespace) -> None:
    """Rows of R-28, R-29 and R-36, of recovery, and of sessions that come and go."""
    async with contextlib.AsyncExitStack() as stack:
        start = stack.enter_async_context
        port, _ = await start(program(sys.executable, ECHO))
        url = f"http://127.0.0.1:{port}/mcp"
        naru_port, naru = await start(program(sys.executable, TARGETS, "naru", url))
        await listening(naru_port)
        target = Target(naru_port, naru.pid, key=KEY)
        print("\nnew session, one call, gone:", await sessions(target, 1.0 if options.quick else 5.0))
        print("clients that hang up (R-28):", await aborts(target, 100 if options.quick else 1000))
        small_port, small = await start(program(sys.executable, TARGETS, "naru", "--inflight", "64", url))
        await listening(small_port)
        limited = Target(small_port, small.pid, key=KEY)
        print("overload (R-36):", await overload(limited, 64, 1.0 if options.quick else 5.0))
        print("a client that reads nothing (R-37):", await slow_reader(target, 300 if options.quick else 2000))
        print("SIGTERM under load (R-29):", await stop(target, naru))
    for name, arguments in (("HTTP", ()), ("HTTP, sessions", ("--legacy",))):
        print(f"an upstream that dies and comes back, {name}:", await _recovered(arguments))
    await _stdio_trouble(options)


async def _stdio_trouble(options: argparse.Namespace) -> None:
    command = [sys.executable, ECHO, "--stdio"]
    times = 2 if options.quick else 5
    bare = statistics.median([await _bare_start(command) for _ in range(times)])
    async with program(sys.executable, TARGETS, "naru", json.dumps(command)) as (port, naru):
        await listening(port)
        came = await child_dies(Target(port, naru.pid, key=KEY), times)
        print(f"a stdio server that is killed: {came}; its bare start takes {bare:.2f} s")
    megabytes = 100 if options.quick else 1024
    noisy = json.dumps([*command, "--noise", str(megabytes)])
    async with program(sys.executable, TARGETS, "naru", noisy) as (port, naru):
        await listening(port)
        print("a stdio server that shouts (R-40):", await shouting(Target(port, naru.pid, key=KEY), megabytes))


async def _bare_start(command: list[str]) -> float:
    """Return how long a stdio server takes from its launch to its first answer."""
    began = time.perf_counter()
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await asyncio.wait_for(child.stdout.readline(), 30)
    took = time.perf_counter() - began
    child.kill()
    await child.wait()
    return took


async def _recovered(arguments: tuple[str, ...]) -> str:
    async with contextlib.AsyncExitStack() as stack:
        port = free_port()
        server: list[contextlib.AsyncExitStack] = []

        async def start_server() -> None:
            server.append(await stack.enter_async_context(contextlib.AsyncExitStack()))
            await server[-1].enter_async_context(program(sys.executable, ECHO, "--port", str(port), *arguments))

        await start_server()
        served = program(sys.executable, TARGETS, "naru", f"http://127.0.0.1:{port}/mcp")
        naru_port, naru = await stack.enter_async_context(served)
        await listening(naru_port)
        return await recovery(Target(naru_port, naru.pid, key=KEY), start_server, lambda: server[-1].aclose())


async def main(options: argparse.Namespace) -> None:
    for part in (http_calls, sdk_calls, stdio_calls, lists, held, trouble):
        if not options.only or part.__name__ in options.only.split(","):
            await part(options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", default="", help="of http_calls,sdk_calls,stdio_calls,lists,held,trouble")
    chosen = parser.parse_args()
    chosen.rounds, chosen.seconds = (1, 0.5) if chosen.quick else (5, 0.5)
    import uvloop

    uvloop.run(main(chosen))
