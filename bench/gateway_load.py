"""A raw MCP client for benchmarks: HTTP/1.1 on asyncio.Protocol, closed loop, many sessions."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass

import orjson
import psutil

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Wire(asyncio.Protocol):
    """One connection; `ask` sends a request and waits for its whole answer."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.waiting: asyncio.Future | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self.waiting and not self.waiting.done():
            self.waiting.set_exception(ConnectionError("the server hung up"))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0 or self.waiting is None or self.waiting.done():
            return
        head = bytes(self.buffer[:end])
        low = head.lower()
        if b"transfer-encoding: chunked" in low:
            if not self.buffer.endswith(b"0\r\n\r\n"):
                return
            body = bytes(self.buffer[end + 4 :])
        else:
            at = low.find(b"content-length:")
            length = int(low[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + length])
        self.buffer.clear()
        self.waiting.set_result((head, body))

    async def ask(self, raw: bytes) -> tuple[bytes, bytes]:
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(raw)
        return await self.waiting


class StreamWire:
    """A legacy SSE client: answers come on a stream of its own, posts are only taken."""

    def __init__(self, posts: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.posts, self.reader, self.writer = posts, reader, writer
        self.transport = posts.transport

    async def ask(self, raw: bytes) -> tuple[bytes, bytes]:
        await self.posts.ask(raw)
        if b'"id"' not in raw:
            return b"", b""
        while True:
            line = await self.reader.readline()
            if not line:
                raise ConnectionError("the stream ended")
            if line.startswith(b"data: {"):
                return b"", line[6:]


@dataclass
class Target:
    """Where to send, and whose CPU counts."""

    port: int
    pid: int
    path: str = "/mcp"
    key: str = ""
    tool: str = "echo"
    modern: bool = False
    stream: bool = False
    """Speak HTTP+SSE: `path` is the stream's."""
    most: int = 64
    """Sessions beyond which it is not asked: some peers take minutes."""

    def request(self, method: str, params: dict, *, session: str = "", request_id: object = 1) -> bytes:
        message: dict = {"jsonrpc": "2.0", "method": method}
        if request_id is not None:
            message["id"] = request_id
        path = session if self.stream else self.path
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json"]
        lines.append("Accept: application/json, text/event-stream")
        if self.key:
            lines.append(f"Authorization: Bearer {self.key}")
        if self.modern:
            params = {**params, "_meta": MODERN}
            lines += ["MCP-Protocol-Version: 2026-07-28", f"Mcp-Method: {method}"]
            if "name" in params:
                lines.append(f"Mcp-Name: {params['name']}")
        elif session and not self.stream:
            lines += [f"Mcp-Session-Id: {session}", "MCP-Protocol-Version: 2025-11-25"]
        message["params"] = params
        body = orjson.dumps(message)
        lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def open(self) -> tuple[Wire | StreamWire, str]:
        _, wire = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", self.port)
        if self.modern:
            return wire, ""
        if self.stream:
            return await self._open_stream(wire)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        head, _ = await wire.ask(self.request("initialize", hello))
        at = head.lower().find(b"mcp-session-id:")
        session = head[at + 15 :].split(b"\r\n", 1)[0].strip().decode() if at >= 0 else ""
        await wire.ask(self.request("notifications/initialized", {}, session=session, request_id=None))
        return wire, session

    async def _open_stream(self, posts: Wire) -> tuple[StreamWire, str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=16 * 1024 * 1024)
        key = f"Authorization: Bearer {self.key}\r\n" if self.key else ""
        head = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{key}Accept: text/event-stream\r\n\r\n"
        writer.write(head.encode())
        line = b""
        while not line.startswith(b"data: "):
            line = await asyncio.wait_for(reader.readline(), 30)
        place, wire = line[6:].decode().strip(), StreamWire(posts, reader, writer)
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        await wire.ask(self.request("initialize", hello, session=place))
        await wire.ask(self.request("notifications/initialized", {}, session=place, request_id=None))
        return wire, place


def own_cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


@dataclass
class Cell:
    """One measurement."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float

    def __str__(self) -> str:
        return f"{self.per_second:8.0f}/s  p50 {self.p50_ms:7.2f}  p99 {self.p99_ms:7.2f} ms  CPU {self.cpu_ms:6.3f} ms"


async def load(target: Target, sessions: int, seconds: float, method: str = "tools/call", **arguments: object) -> Cell:
    """Have each session make one request after the other for a while."""
    opened = list(await asyncio.gather(*(target.open() for _ in range(sessions))))
    params = {"name": target.tool, "arguments": arguments or {"text": "x" * 20}} if method == "tools/call" else {}
    took: list[float] = []
    head, body = await opened[0][0].ask(target.request(method, params, session=opened[0][1]))
    assert b'"result"' in body, (head, body[:500])
    before, began = own_cpu(target.pid), time.perf_counter()
    end = began + seconds

    async def work(wire: Wire | StreamWire, session: str) -> None:
        raw = target.request(method, params, session=session)
        while (now := time.perf_counter()) < end:
            await wire.ask(raw)
            took.append(time.perf_counter() - now)

    await asyncio.gather(*(work(*each) for each in opened))
    elapsed = time.perf_counter() - began
    cpu = own_cpu(target.pid) - before
    for wire, _ in opened:
        wire.transport.close()
        if isinstance(wire, StreamWire):
            wire.writer.close()
    took.sort()
    return Cell(
        len(took) / elapsed,
        statistics.median(took) * 1000,
        took[int(len(took) * 0.99)] * 1000,
        cpu / len(took) * 1000,
    )
