"""A raw HTTP/1.1 load client on asyncio and uvloop: closed loop, kept connections, nothing parsed that need not be."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field

BENCH_KEY = "sk-bench-0123456789abcdef0123456789abcdef"
"""LiteLLM refuses to start without a key; the others do not ask for one."""


@dataclass
class Load:
    """What one cell of the table measured."""

    requests: int = 0
    errors: int = 0
    events: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    """Seconds to the first event with content."""
    gaps: list[float] = field(default_factory=list)
    """Seconds between the arrivals of a paced stream."""


class _Client(asyncio.Protocol):
    def __init__(self, request: bytes, load: Load, until: float, *, paced: bool) -> None:
        self.request, self.load, self.until, self.paced = request, load, until, paced
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._send()

    def _send(self) -> None:
        self.head = b""
        self.body_left = -1
        self.tail = b""
        self.started = self.last = time.perf_counter()
        self.seen_content = False
        self.transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        if self.body_left == -1:
            self.head += data
            head, found, rest = self.head.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                self.load.errors += 1
            lowered = head.lower()
            at = lowered.find(b"content-length:")
            self.body_left = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else -2
            data = rest
        if self.body_left >= 0:
            self.body_left -= len(data)
            if self.body_left <= 0:
                self._complete(now)
            return
        events = data.count(b"data: ")
        self.load.events += events
        if events and self.seen_content and self.paced:
            self.load.gaps.append(now - self.last)
        if events:
            self.last = now
        if not self.seen_content and (b'"content":"t' in data or b'"content":"H' in data):
            self.seen_content = True
            self.load.first.append(now - self.started)
        self.tail = (self.tail + data)[-5:]
        if self.tail == b"0\r\n\r\n":
            self._complete(now)

    def _complete(self, now: float) -> None:
        self.load.requests += 1
        self.load.latencies.append(now - self.started)
        if now >= self.until:
            self.transport.close()
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


def request_bytes(host: str, body: dict[str, object], path: str) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {BENCH_KEY}\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


async def run_load(
    port: int,
    body: dict[str, object],
    *,
    clients: int,
    seconds: float,
    paced: bool = False,
    path: str = "/v1/chat/completions",
) -> Load:
    """Keep `clients` connections busy for `seconds`; the last requests are let finish, within ten seconds."""
    loop = asyncio.get_running_loop()
    load = Load()
    until = time.perf_counter() + seconds
    request = request_bytes(f"127.0.0.1:{port}", body, path)
    started = time.perf_counter()
    made = await asyncio.gather(
        *(
            loop.create_connection(lambda: _Client(request, load, until, paced=paced), "127.0.0.1", port)
            for _ in range(clients)
        )
    )
    await asyncio.wait([protocol.done for _, protocol in made], timeout=seconds + 10)
    load.seconds = time.perf_counter() - started
    for transport, _ in made:
        transport.abort()
    return load
