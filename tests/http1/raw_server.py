"""A TCP server that answers each request with bytes, and counts connections: for what no HTTP library would send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

CLOSE = None
"""In an answer: close the connection here."""
HANG = object()
"""In an answer: send no more, keep the connection."""


@dataclass
class RawServer:
    """What was asked, and how."""

    base_url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """A client has left a connection."""


@asynccontextmanager
async def serve_raw(*answers: Sequence[bytes | object | None]) -> AsyncIterator[RawServer]:
    """Answer the n-th request with the n-th answer's pieces (the last one for all others), each in its own write.

    An event among them is waited for.
    """
    server = RawServer()
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await _request(reader)) is not None:
            server.requests.append(request)
            for piece in answers[min(len(server.requests), len(answers)) - 1]:
                if piece is CLOSE:
                    return
                if piece is HANG:
                    await reader.read()
                    return
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                    continue
                assert isinstance(piece, bytes)
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        server.open_connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await talk(reader, writer)
        finally:
            server.open_connections -= 1
            server.gone.set()
            tasks.discard(task)
            writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    server.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=30)


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        return head + await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return None


def chunked(*pieces: bytes) -> list[bytes]:
    """Frame pieces as a chunked answer that is an event stream, its head first, its end last."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return [head, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n"]


def whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> list[bytes]:
    """Frame a body with its length."""
    lines = b"".join(line + b"\r\n" for line in headers)
    return [b"HTTP/1.1 %b\r\n%bcontent-length: %d\r\n\r\n%b" % (status, lines, len(body), body)]
