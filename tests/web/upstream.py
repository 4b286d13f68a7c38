"""A model endpoint that answers with the bytes a test gives it, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from naru.models.known.profile import Profile
from naru.models.wires.openai_http import Endpoint, OpenAIBackend
from tests.loopback import listening


@dataclass
class Reply:
    """What the endpoint sends; `cut` ends the connection without a proper end."""

    chunks: list[Any] = field(default_factory=list)
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    held_at: int = -1
    """Before this piece the endpoint waits until `seen` is set."""
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    def pieces(self) -> list[bytes]:
        return [chunk if isinstance(chunk, bytes) else _event(chunk) for chunk in self.chunks]


def _event(chunk: Any) -> bytes:
    return b"data: " + (b"[DONE]" if chunk == "[DONE]" else json.dumps(chunk).encode()) + b"\n\n"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def text_reply(text: str, size: int = 5) -> Reply:
    """Stream a model's text in deltas of `size` characters."""
    pieces = [delta(content=text[start : start + size]) for start in range(0, len(text), size)]
    return Reply([*pieces, delta("stop"), "[DONE]"])


@dataclass
class Upstream:
    """The running endpoint."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Somebody closed a connection before its answer was complete."""
    plain: dict[str, Any] = field(default_factory=dict)
    """What is answered where no chat is."""

    def backend(self, profile: Profile | None = None) -> OpenAIBackend:
        return OpenAIBackend(Endpoint(f"{self.url}/v1"), profile or Profile(), model="m")


@contextlib.asynccontextmanager
async def upstream(script: list[Reply] | Callable[[dict[str, Any]], Reply]) -> AsyncIterator[Upstream]:
    """Serve replies in order, or by a function of the request."""
    served = Upstream("")

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        served.asked.append(body)
        served.connections.add(request.transport)
        reply = script(body) if callable(script) else script[min(len(served.asked), len(script)) - 1]
        if reply.content_type == "application/json":
            return web.json_response(reply.chunks[0], status=reply.status, headers=reply.headers)
        response = web.StreamResponse(status=reply.status, headers={"content-type": reply.content_type} | reply.headers)
        await response.prepare(request)
        try:
            for position, piece in enumerate(reply.pieces()):
                if position == reply.held_at:
                    await reply.seen.wait()
                await response.write(piece)
        except (ConnectionError, asyncio.CancelledError):
            served.left.set()
            raise
        if reply.cut and request.transport is not None:
            request.transport.close()
        return response

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def plain(request: web.Request) -> web.Response:
        served.asked.append(await request.json())
        return web.json_response(served.plain or {"object": "list", "path": request.path, "extra": {"kept": True}})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/embeddings", plain)
    app.router.add_post("/v1/completions", plain)
    runner, port = await listening(app, handler_cancellation=True, shutdown_timeout=0.2)
    served.url = f"http://127.0.0.1:{port}"
    try:
        yield served
    finally:
        await runner.cleanup()
