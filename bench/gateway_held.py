"""Held SSE clients: how many kB each costs, how fast they come, and whether a call beside them is still quick."""

from __future__ import annotations

import asyncio
import resource
import time

import psutil

from gateway_load import Target, load


async def hold(target: Target, count: int) -> None:
    """Open streams and keep them; print what they cost."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 200)), hard))
    process = psutil.Process(target.pid)
    call = Target(target.port, target.pid, key=target.key)
    await load(call, 1, 0.3)
    before = process.memory_info().rss
    key = f"Authorization: Bearer {target.key}\r\n" if target.key else ""
    request = f"GET /sse HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\n{key}Accept: text/event-stream\r\n\r\n".encode()
    writers: list[asyncio.StreamWriter] = []
    gate = asyncio.Semaphore(64)

    async def open_one() -> None:
        async with gate:
            reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
            writer.write(request)
            await asyncio.wait_for(reader.readuntil(b"session_id="), 30)
            writers.append(writer)

    began = time.perf_counter()
    await asyncio.gather(*(open_one() for _ in range(count)))
    seconds = time.perf_counter() - began
    await asyncio.sleep(1)
    rss = process.memory_info().rss
    cell = await load(call, 1, 1.0)
    idle_from = process.cpu_times()
    await asyncio.sleep(5)
    idle = process.cpu_times()
    cpu = (idle.user + idle.system - idle_from.user - idle_from.system) / 5 * 100
    print(f"\nheld SSE clients: {count}")
    print(f"  {(rss - before) / count / 1000:.1f} kB each, RSS {rss / 1e6:.0f} MB, {count / seconds:.0f} connects/s")
    print(f"  a call beside them: {cell}; idle CPU {cpu:.1f} %")
    for writer in writers:
        writer.close()
