"""What a gateway does when things go wrong: its server dies, it is told to stop under load, too many ask at once."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

import orjson
import psutil

from gateway_load import Cell, StreamWire, Target, Wire, load, own_cpu


async def recovery(target: Target, restart: Callable[[], Awaitable[None]], kill: Callable[[], Awaitable[None]]) -> str:
    """Kill the server behind a target, bring it back, and see how its one client fares."""
    wire, session = await target.open()
    raw = target.request("tools/call", {"name": target.tool, "arguments": {"text": "x"}}, session=session)

    async def call() -> tuple[bool, float]:
        nonlocal wire
        began = time.perf_counter()
        try:
            head, body = await asyncio.wait_for(wire.ask(raw), 20)
        except (ConnectionError, TimeoutError):
            _, wire = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", target.port)
            return False, time.perf_counter() - began
        return b" 200 " in head.split(b"\r\n", 1)[0] and b'"result"' in body, time.perf_counter() - began

    assert (await call())[0]
    slow = target.request(
        "tools/call", {"name": target.tool, "arguments": {"text": "x", "delay": 5}}, session=session, request_id=2
    )
    other = (await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", target.port))[1]
    under_way = asyncio.create_task(other.ask(slow))
    await asyncio.sleep(0.2)
    died = time.perf_counter()
    await kill()
    body = b""
    with contextlib.suppress(ConnectionError, TimeoutError):
        _, body = await asyncio.wait_for(under_way, 20)
    told = time.perf_counter() - died
    longest = 0.0
    for _ in range(5):
        good, took = await call()
        longest = max(longest, took)
        assert not good
        await asyncio.sleep(0.1)
    await restart()
    back = time.perf_counter()
    while not (await call())[0]:
        if time.perf_counter() - back > 20:
            return "never came back within 20 s"
        await asyncio.sleep(0.005)
    text = orjson.loads(body).get("error", {}).get("message", "") if body.startswith(b"{") else body[:80].decode()
    return (
        f"back after {time.perf_counter() - back:.2f} s on the same client session; the call under way was told after "
        f"{told:.2f} s; longest failed call {longest:.2f} s\n    it said: {text[:110]}"
    )


async def aborts(target: Target, count: int) -> str:
    """Have stateless clients hang up in the middle of a call; nothing of it may stay (R-28)."""
    modern = replace(target, modern=True)
    raw = modern.request("tools/call", {"name": modern.tool, "arguments": {"delay": 0.3}})
    process = psutil.Process(target.pid)
    gate = asyncio.Semaphore(32)

    async def one() -> None:
        async with gate:
            wire, _ = await modern.open()
            wire.transport.write(raw)
            await asyncio.sleep(0.02)
            wire.transport.abort()

    before = len(process.net_connections())
    await asyncio.gather(*(one() for _ in range(count)))
    await asyncio.sleep(1.0)
    after = len(process.net_connections())
    cell = await load(target, 1, 0.5)
    return f"{count} aborts: {after - before} connections more than before, a second later; a call then: {cell}"


async def stop(target: Target, child: asyncio.subprocess.Process, per_second: int = 50) -> str:
    """Send SIGTERM while calls of half a second arrive steadily (R-29)."""
    seen: Counter[str] = Counter()
    told = asyncio.Event()
    raw = target.request("tools/call", {"name": target.tool, "arguments": {"delay": 0.5}}, session="")

    async def one(wire: Wire, session: str) -> None:
        mine = (
            raw
            if target.modern
            else target.request("tools/call", {"name": target.tool, "arguments": {"delay": 0.5}}, session=session)
        )
        sent_before = not told.is_set()
        if wire.transport.is_closing():
            seen["closed while idle, not sent"] += 1
            return
        try:
            head, body = await asyncio.wait_for(wire.ask(mine), 40)
            answer = "answered" if b'"result"' in body else f"refused {head.split()[1].decode()}"
        except (ConnectionError, TimeoutError):
            answer = "RESET"
        seen[f"{answer}, sent {'before' if sent_before else 'after'} the stop"] += 1
        wire.transport.close()

    tasks = []
    opened = await asyncio.gather(*(target.open() for _ in range(per_second * 2)))
    began = 0.0
    for number, (wire, session) in enumerate(opened):
        if number == per_second:
            told.set()
            began = time.perf_counter()
            child.send_signal(signal.SIGTERM)
        tasks.append(asyncio.create_task(one(wire, session)))
        await asyncio.sleep(1 / per_second)
    await asyncio.gather(*tasks)
    code = await asyncio.wait_for(child.wait(), 40)
    said = ", ".join(f"{count} {what}" for what, count in sorted(seen.items()))
    return f"{per_second} a second: {said}; exit {code} after {time.perf_counter() - began:.1f} s"


async def overload(target: Target, inflight: int, seconds: float) -> str:
    """Offer five times what the gateway takes at a time; what is too much must be told at once (R-36)."""
    delay = 0.05
    peak = await _offer(target, inflight, seconds, delay)
    in_step = sorted((await _offer(target, inflight * 5, seconds, delay, in_step=True))["shed"]) or [0.0]
    before = psutil.Process(target.pid).memory_info().rss
    much = await _offer(target, inflight * 5, seconds, delay)
    grown = psutil.Process(target.pid).memory_info().rss - before
    shed = sorted(much["shed"]) or [0.0]
    worst = in_step[int(len(in_step) * 0.99)] * 1000
    return (
        f"{len(much['good']) / seconds:.0f}/s good of {inflight * 5} at a time, {len(peak['good']) / seconds:.0f}/s at "
        f"the limit: {len(much['good']) / max(1, len(peak['good'])) * 100:.0f} %; {len(much['shed'])} told 503 in p50 "
        f"{statistics.median(shed) * 1000:.1f}, p99 {shed[int(len(shed) * 0.99)] * 1000:.1f} ms "
        f"({worst:.1f} ms when all of them ask in the same instant); RSS +{grown / 1e6:.1f} MB"
    )


async def _offer(
    target: Target, clients: int, seconds: float, delay: float, *, in_step: bool = False
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"good": [], "shed": []}
    opened = await asyncio.gather(*(target.open() for _ in range(clients)))
    end = time.perf_counter() + seconds

    async def work(wire: Wire, session: str) -> None:
        raw = target.request("tools/call", {"name": target.tool, "arguments": {"delay": delay}}, session=session)
        chance = (lambda: 1.0) if in_step else random.Random(session).random
        await asyncio.sleep(0.0 if in_step else 0.25 * chance())
        while (began := time.perf_counter()) < end:
            head, body = await wire.ask(raw)
            good = b'"result"' in body
            assert good or head.startswith(b"HTTP/1.1 503"), head
            found["good" if good else "shed"].append(time.perf_counter() - began)
            if not good:
                await asyncio.sleep(0.25 * (0.5 + chance() / 2))  # clients that heed Retry-After a little

    await asyncio.gather(*(work(*each) for each in opened))
    for wire, _ in opened:
        wire.transport.close()
    return found


async def sessions(target: Target, seconds: float) -> str:
    """Have clients say hello, call once and leave without a word."""
    process = psutil.Process(target.pid)
    await load(target, 1, 0.3)
    rss, cpu, began, count = process.memory_info().rss, own_cpu(target.pid), time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        wire, session = await target.open()
        params = {"name": target.tool, "arguments": {"text": "x"}}
        await wire.ask(target.request("tools/call", params, session=session))
        wire.transport.close()
        count += 1
    grown = (process.memory_info().rss - rss) / count / 1000
    return f"{(own_cpu(target.pid) - cpu) / count * 1000:.2f} CPU ms each, {grown:.1f} kB kept each ({count} sessions)"


async def lag(target: Target) -> list[float]:
    """Return p50, p99 and most of the loop's lags since the last question, in milliseconds."""
    _, wire = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", target.port)
    head = f"GET /lag HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\n\r\n".encode()
    _, body = await wire.ask(head)
    wire.transport.close()
    return list(orjson.loads(body))


async def slow_reader(target: Target, posts: int) -> str:
    """Have a client of legacy SSE ask for much and read nothing; others must not feel it (R-37).

    What others feel of it is set beside what they feel of a client that asks as much and reads it all.
    """
    process = psutil.Process(target.pid)
    alone = await load(target, 8, 1.0)
    read, _, _ = await _asks_much(target, posts, reads=True)
    before = process.memory_info().rss
    unread, statuses, stream = await _asks_much(target, posts, reads=False)
    await asyncio.sleep(0.5)
    grown = (process.memory_info().rss - before) / 1e6
    stream.writer.transport.abort()
    said = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    felt = f"others' p99 {alone.p99_ms:.1f} ms alone, {read.p99_ms:.1f} beside one that reads, {unread.p99_ms:.1f} ms"
    return f"{posts} calls of 100 kB: {said}; RSS +{grown:.1f} MB; {felt}"


async def _asks_much(target: Target, posts: int, *, reads: bool) -> tuple[Cell, Counter[str], StreamWire]:
    """Return what eight others measure while one client asks, what its posts were told, and its stream."""
    client = replace(target, path="/sse", stream=True)
    stream, place = await client.open()
    params = {"name": client.tool, "arguments": {"size": 100_000}}
    statuses: Counter[str] = Counter()

    async def ask() -> None:
        for number in range(posts):
            head, _ = await stream.posts.ask(client.request("tools/call", params, session=place, request_id=number))
            statuses[head.split()[1].decode()] += 1

    async def read() -> None:
        while await stream.reader.read(1 << 20):
            pass

    reading = asyncio.create_task(read()) if reads else None
    if reading is None:
        stream.writer.transport.pause_reading()
    beside, _ = await asyncio.gather(load(target, 8, 1.0), ask())
    if reading is not None:
        stream.writer.transport.abort()
        await asyncio.wait({reading})
    return beside, statuses, stream


async def child_dies(target: Target, times: int) -> str:
    """Kill a stdio server between calls and see how long the next one takes."""
    wire, session = await target.open()
    raw = target.request("tools/call", {"name": target.tool, "arguments": {"text": "x"}}, session=session)
    took, failed = [], 0
    for _ in range(times):
        assert b'"result"' in (await wire.ask(raw))[1]
        for child in psutil.Process(target.pid).children():
            child.kill()
        began = time.perf_counter()
        while b'"result"' not in (await asyncio.wait_for(wire.ask(raw), 20))[1]:
            failed += 1
        took.append(time.perf_counter() - began)
    wire.transport.close()
    return f"back after p50 {statistics.median(took):.2f} s, at most {max(took):.2f} s; {failed} calls failed meanwhile"


async def shouting(target: Target, megabytes: int) -> str:
    """Call a stdio server while it writes to stderr without end (R-40)."""
    process = psutil.Process(target.pid)
    before, began = process.memory_info().rss, time.perf_counter()
    cells = [await load(target, 1, 0.5)]
    while _written(process) < megabytes << 20 and time.perf_counter() - began < 60:
        cells.append(await load(target, 1, 0.5))
    grown = (process.memory_info().rss - before) / 1e6
    slowest = max(cell.p99_ms for cell in cells)
    return (
        f"{_written(process) >> 20} MiB in {time.perf_counter() - began:.1f} s, calls answered all the while "
        f"(p99 at most {slowest:.1f} ms), RSS +{grown:.1f} MB"
    )


def _written(process: psutil.Process) -> int:
    """Return what the children of a process have written."""
    return sum(child.io_counters().write_chars for child in process.children())
