"""A bare HTTP server that writes down what it is sent and answers 500."""

from __future__ import annotations

import asyncio


class Recorder:
    """Use as an async context manager; `seen` holds each request's head."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seen: list[bytes] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Recorder:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self.port)
        return self

    async def __aexit__(self, *failure: object) -> None:
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.seen.append(head)
        writer.write(b"HTTP/1.1 500 no\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        await writer.drain()
        writer.close()
