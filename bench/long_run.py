"""A long run over twelve real servers: `python bench/long_run.py [SECONDS] [KILLS] [RECONNECTS] [CALLS_A_SECOND]`.

Eight programs and four HTTP servers behind one gateway, of the standard library and of the SDK. All the while servers
are killed, and disconnected and connected again. Every call must come back with its own text, or say why it could not;
no server that is connected, or was only killed, may be unknown. Defaults: 600 s, 40 kills, 40 reconnects, 5 calls a
second.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import aiohttp  # noqa: E402  # the path comes first
import psutil  # noqa: E402
from tests.gateway.serving import Served, http_record, serving, stdio_record  # noqa: E402

from naru.records import ServerRecord  # noqa: E402

SERVERS = ROOT / "tests" / "fixtures" / "servers"
PATIENCE_SECONDS = 60.0
"""A call that takes longer hangs."""
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "long run", "version": "1"}}


class HttpServer:
    """An SDK server over HTTP on a port of its own, started again when it was killed."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-W", "ignore", str(SERVERS / "sdk_server.py"), "http", str(self.port)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def until_open(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            await asyncio.sleep(0.1)

    def restart(self) -> None:
        self.end()
        self.process = self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Run:
    """One run and its counts."""

    def __init__(self, served: Served, https: dict[str, HttpServer]) -> None:
        self.served = served
        self.https = https
        self.names = list(served.manager.connections)
        self.counts: Counter[str] = Counter()
        self.away: Counter[str] = Counter()
        """Server → how often it was taken away on purpose; odd while it is away."""
        self.slowest = 0.0
        self.examples: list[str] = []

    async def call(self, http: aiohttp.ClientSession, number: int, session: str) -> None:
        name = random.choice([each for each in self.names if self.away[each] % 2 == 0])  # noqa: S311  # a choice
        before, text, began = self.away[name], f"text {number}", time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await self.post(
                    http, "tools/call", {"name": f"{name}__echo", "arguments": {"text": text}}, session
                )
        except TimeoutError:
            self.note("hung", name, "")
            return
        self.slowest = max(self.slowest, time.monotonic() - began)
        said = answer.get("error", {}).get("message", "")
        if "result" in answer:
            came = "".join(part.get("text", "") for part in answer["result"]["content"])
            is_told = answer["result"].get("isError") is True
            self.note("right" if text in came else "told why" if is_told else "wrong", name, came)
        elif "Unknown tool" in said and before == self.away[name]:
            self.note("unknown", name, said)
        else:
            self.note("told why", name, said)

    def note(self, what: str, name: str, said: str) -> None:
        self.counts[what] += 1
        if what in ("wrong", "hung", "unknown") and len(self.examples) < 10:
            self.examples.append(f"{what} of {name}: {said[:200]}")

    async def post(self, http: aiohttp.ClientSession, method: str, params: dict, session: str = "") -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        if session:
            message["id"] = time.monotonic_ns()
        heads = {"Accept": "application/json, text/event-stream", **({"Mcp-Session-Id": session} if session else {})}
        async with http.post(f"{self.served.url}/mcp", json=message, headers=heads) as reply:
            body = await reply.text()
            if reply.content_type == "text/event-stream":
                data = [line[6:] for line in body.splitlines() if line.startswith("data: {")]
                body = data[-1]
            return {**json.loads(body), "session": reply.headers.get("Mcp-Session-Id", "")}

    async def open_session(self, http: aiohttp.ClientSession) -> str:
        session = (await self.post(http, "initialize", INITIALIZE))["session"]
        heads = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        async with http.post(f"{self.served.url}/mcp", json=told, headers=heads):
            return session

    async def callers(self, until: float, a_second: float) -> None:
        async with aiohttp.ClientSession() as http, asyncio.TaskGroup() as group:
            number, session = 0, ""
            while time.monotonic() < until:
                if number % 50 == 0:  # new clients as well as old ones
                    session = await self.open_session(http)
                number += 1
                group.create_task(self.call(http, number, session))
                await asyncio.sleep(1 / a_second)

    async def killer(self, until: float, kills: int) -> None:
        every = (until - time.monotonic()) / (kills + 1)
        for _ in range(kills):
            await asyncio.sleep(every * random.uniform(0.7, 1.3))  # noqa: S311
            name = random.choice(self.names)  # noqa: S311
            pid = self.served.manager.connection(name).pid
            if name in self.https:
                self.https[name].restart()
            elif pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.counts["kills"] += 1

    async def reconnector(self, until: float, times: int) -> None:
        every = (until - time.monotonic()) / (times + 1)
        for _ in range(times):
            await asyncio.sleep(every * random.uniform(0.7, 1.3))  # noqa: S311
            name = random.choice(self.names)  # noqa: S311
            self.away[name] += 1
            await self.served.manager.disconnect(name)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not await self.served.manager.connect(name) and time.monotonic() < deadline:
                await asyncio.sleep(0.5)
            self.away[name] += 1
            self.counts["reconnects"] += 1


def held() -> tuple[float, int, int]:
    """Return this process's memory in MB, its open files and its children."""
    gc.collect()
    own = psutil.Process()
    return own.memory_info().rss / 1e6, own.num_fds(), len(own.children(recursive=True))


@contextlib.asynccontextmanager
async def twelve() -> AsyncIterator[tuple[list[ServerRecord], dict[str, HttpServer]]]:
    https = {f"http{number}": HttpServer() for number in range(4)}
    try:
        await asyncio.gather(*(server.until_open() for server in https.values()))
        records = [stdio_record(f"raw{number}", SERVERS / "raw_server.py") for number in range(6)]
        records += [stdio_record(f"sdk{number}", SERVERS / "sdk_server.py", "stdio") for number in range(2)]
        records += [http_record(name, f"http://127.0.0.1:{server.port}/mcp") for name, server in https.items()]
        yield records, https
    finally:
        for server in https.values():
            server.end()


async def main(seconds: float, kills: int, reconnects: int, a_second: float) -> int:
    async with twelve() as (records, https):
        async with serving(records) as served:
            run = Run(served, https)
            await run.callers(time.monotonic() + min(30.0, seconds / 10), a_second)  # caches fill first
            run.counts.clear()
            before, until = held(), time.monotonic() + seconds
            async with asyncio.TaskGroup() as group:
                group.create_task(run.callers(until, a_second))
                group.create_task(run.killer(until, kills))
                group.create_task(run.reconnector(until, reconnects))
            after = held()
        left = len(psutil.Process().children(recursive=True)) - len(https)
        tasks = len(asyncio.all_tasks()) - 1
    calls = sum(run.counts[what] for what in ("right", "told why", "wrong", "hung", "unknown"))
    print(f"{seconds:g} s, {run.counts['kills']} kills, {run.counts['reconnects']} reconnects, {calls} calls")
    print(", ".join(f"{what} {run.counts[what]}" for what in ("right", "told why", "wrong", "hung", "unknown")))
    print(f"slowest {run.slowest:.1f} s; memory {before[0]:.0f} to {after[0]:.0f} MB, files {before[1]} to {after[1]}")
    print(f"left behind: {left} processes, {tasks} tasks")
    print("\n".join(run.examples))
    return 1 if run.counts["wrong"] or run.counts["hung"] or run.counts["unknown"] or left or tasks else 0


if __name__ == "__main__":
    given = [float(each) for each in sys.argv[1:]]
    chosen = [*given, *(600.0, 40.0, 40.0, 5.0)[len(given) :]]
    random.seed(23)
    sys.exit(asyncio.run(main(chosen[0], int(chosen[1]), int(chosen[2]), chosen[3])))
