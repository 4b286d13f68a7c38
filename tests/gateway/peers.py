"""One client by hand for each face, with the same few verbs: what holds on one face must hold on all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from naru.gateway.faces.stdio import StdioFace
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.by_hand import META, Client, Json, gateway, request
from tests.gateway.scripted import ScriptedUpstream
from tests.gateway.test_legacy_sse import stream

CAPABILITIES: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
SESSION_FACES = ("http", "sse", "stdio")
FACES = ("http", "stateless", "sse", "stdio", "stateless sse", "stateless stdio")


class Peer(Protocol):
    """A client that has said hello."""

    gateway: Client
    face: str
    modern: bool

    async def ask(self, message: Json) -> list[Json]:
        """Send a request; return all that comes up to its answer."""
        ...

    async def tell(self, message: Any) -> None:
        """Send what has no answer."""
        ...


class HttpPeer:
    """Streamable HTTP."""

    def __init__(self, client: Client, session: str, face: str = "http") -> None:
        self.gateway, self.session, self.face, self.modern = client, session, face, not session

    async def ask(self, message: Json) -> list[Json]:
        got = (await self.gateway.post(message, **self._heads(message)))[1]
        return got if isinstance(got, list) else [got]

    async def tell(self, message: Any) -> None:
        await self.gateway.post(message, **self._heads(message))

    def _heads(self, message: Any) -> dict[str, str]:
        if self.session:
            return {"mcp_session_id": self.session}
        heads = {"mcp_protocol_version": "2026-07-28", "mcp_method": str(message.get("method"))}
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        name = params.get("uri") if message.get("method") == "resources/read" else params.get("name")
        if isinstance(name, str):
            heads["mcp_name"] = name
        return heads


class StreamPeer:
    """One stream for everything: legacy SSE or stdio."""

    def __init__(self, client: Client, face: str, *, modern: bool) -> None:
        self.gateway, self.face, self.modern = client, face, modern
        self.incoming: asyncio.Queue[Json] = asyncio.Queue()

    async def send(self, message: Any) -> None:
        raise NotImplementedError

    async def ask(self, message: Json) -> list[Json]:
        await self.send(message)
        got: list[Json] = []
        async with asyncio.timeout(30):
            while not got or "method" in got[-1]:
                got.append(await self.incoming.get())
        return got

    async def tell(self, message: Any) -> None:
        await self.send(message)


class SsePeer(StreamPeer):
    """GET /sse and POST to the address that it says."""

    endpoint = ""

    async def send(self, message: Any) -> None:
        heads = {"content-type": "application/json"}
        async with self.gateway.http.post(self.endpoint, data=json.dumps(message), headers=heads) as response:
            text = await response.text()
            if response.status != 202:  # a stdio client would read it on the stream
                self.incoming.put_nowait(json.loads(text))


class StdioPeer(StreamPeer):
    """Lines on a pair of sockets."""

    writer: asyncio.StreamWriter

    async def send(self, message: Any) -> None:
        self.writer.write(json.dumps(message).encode() + b"\n")
        await self.writer.drain()


@contextlib.asynccontextmanager
async def peers(
    *servers: ScriptedUpstream,
    faces: Sequence[str] = FACES,
    version: str = "2025-11-25",
    settings: GatewaySettings | None = None,
) -> AsyncIterator[list[Peer]]:
    """Give a client of each of these faces of one gateway, which can be asked anything."""
    async with gateway(*servers, settings=settings) as client, contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(_peer(client, face, version)) for face in faces]


@contextlib.asynccontextmanager
async def _peer(client: Client, face: str, version: str) -> AsyncIterator[Peer]:
    modern = face.startswith("stateless")
    if face in ("http", "stateless"):
        yield HttpPeer(client, "" if modern else await client.initialize(version, **CAPABILITIES), face)
        return
    async with contextlib.AsyncExitStack() as stack:
        made: StreamPeer
        if face.endswith("sse"):
            made = SsePeer(client, face, modern=modern)
            response, made.endpoint = await stack.enter_async_context(stream(client))
            lines = response.content
        else:
            made = StdioPeer(client, face, modern=modern)
            lines, made.writer = await stack.enter_async_context(_stdio(client))
        reading = asyncio.create_task(_read(lines, made.incoming))
        stack.callback(reading.cancel)
        if not modern:
            hello = {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": {"name": "t"}}
            assert (await made.ask(request("initialize", hello, "hello")))[0]["result"]["protocolVersion"] == version
            await made.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield made


@contextlib.asynccontextmanager
async def _stdio(client: Client) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=16 * 1024 * 1024)
    with theirs.makefile("rb") as source, theirs.makefile("wb") as sink:
        face = asyncio.create_task(StdioFace(client.engine, source, sink).serve())
        try:
            yield reader, writer
        finally:
            writer.write_eof()
            await asyncio.wait_for(face, 30)
            writer.close()
            theirs.shutdown(socket.SHUT_RDWR)
    theirs.close()


async def _read(lines: Any, queue: asyncio.Queue[Json]) -> None:
    async for line in lines:
        text = line.decode().removeprefix("data: ").strip()
        if text.startswith(("{", "[")):
            value = json.loads(text)
            for each in value if isinstance(value, list) else [value]:
                queue.put_nowait(each)


def asked(peer: Peer, method: str, params: Json | None = None, request_id: Any = 1, **meta: Any) -> Json:
    """Return a request as this peer's era writes it."""
    whole = {**META, **meta} if peer.modern else meta
    given = {**(params or {}), **({"_meta": whole} if whole else {})}
    return request(method, given if given or params is not None else None, request_id)
