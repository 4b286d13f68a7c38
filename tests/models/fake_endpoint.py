"""An HTTP endpoint that answers what a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.loopback import listening


@dataclass
class Reply:
    """One answer: `chunks` are written as they are, with an optional pause before the end."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    """Never end after the last chunk, but send pings."""
    silent: bool = False
    """Neither end nor send anything."""


@dataclass
class FakeEndpoint:
    """What was asked, and where."""

    base_url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    """With their queries."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client leaves a hanging answer."""


Answering = Callable[[dict[str, Any]], Reply] | Sequence[Reply]


@asynccontextmanager
async def serve(answers: Answering) -> AsyncIterator[FakeEndpoint]:
    """Serve replies in order (or by function of the body) on a free loopback port."""
    endpoint = FakeEndpoint()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else {}
        endpoint.bodies.append(body)
        endpoint.headers.append(dict(request.headers))
        endpoint.paths.append(request.path)
        endpoint.urls.append(request.path_qs)
        reply = answers(body) if callable(answers) else answers[min(len(endpoint.bodies), len(answers)) - 1]
        response = web.StreamResponse(
            status=reply.status, headers={"Content-Type": reply.content_type, **reply.headers}
        )
        await response.prepare(request)
        try:
            for chunk in reply.chunks:
                await response.write(chunk)
            if reply.silent:
                await asyncio.Event().wait()
            while reply.hang:
                await asyncio.sleep(0.02)
                await response.write(b": ping\n\n")
        except ConnectionResetError:
            endpoint.gone.set()
        except asyncio.CancelledError:
            endpoint.gone.set()
            raise
        return response

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner, port = await listening(app, handler_cancellation=True, shutdown_timeout=0.1)
    endpoint.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


def sse(*chunks: dict[str, Any], done: bool = True) -> list[bytes]:
    """Encode chunks as an event stream."""
    events = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n" for chunk in chunks]
    return [*events, b"data: [DONE]\n\n"] if done else events


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Make a chat completion chunk."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def tool_delta(index: int | None = 0, *, call_id: str = "", name: str = "", arguments: Any = "") -> dict[str, Any]:
    """Make a chunk with a piece of a native call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call: dict[str, Any] = {"type": "function", "function": function}
    if index is not None:
        call["index"] = index
    if call_id:
        call["id"] = call_id
    return delta(tool_calls=[call])


def json_reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer."""
    return Reply([json.dumps(body).encode()], status, "application/json", headers)
