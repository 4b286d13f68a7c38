"""Streams start at once, arguments stream, nothing is held back that need not be, connections are kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from naru.models.limits.queue import Caller, RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.scripted import ScriptedBackend
from tests.web.conftest import MemoryHub, application, served
from tests.web.upstream import Reply, delta, text_reply, upstream

TOOL = {"type": "function", "function": {"name": "write_file", "parameters": {"type": "object"}}}
ARGUMENTS = json.dumps({"path": "a.txt", "content": "word " * 40})


async def shown(reply: Reply, *, after: int) -> str:
    """Return the text or the arguments; the model goes on in its middle only once `after` characters have arrived."""
    found = ""
    reply.held_at = len(reply.chunks) // 2
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": [TOOL], "stream": True}
    async with upstream([reply]) as model:
        backend = model.backend()
        async with (
            served(application(MemoryHub(backend))) as url,
            aiohttp.ClientSession() as session,
            asyncio.timeout(60),
            session.post(f"{url}/v1/chat/completions", json=body) as response,
        ):
            async for line in response.content:
                if line.startswith(b"data: {"):
                    found += "".join(map(said, json.loads(line[6:])["choices"]))
                if len(found) >= after:
                    reply.seen.set()
        await backend.close()
    return found


def said(choice: dict[str, Any]) -> str:
    calls = choice["delta"].get("tool_calls", ())
    return choice["delta"].get("content") or "".join(call["function"].get("arguments", "") for call in calls)


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def test_text_comes_as_it_is_written() -> None:
    text = "This is an ordinary answer of several words. " * 2
    assert await shown(text_reply(text, size=10), after=35) == text


@pytest.mark.parametrize("form", ["native", "hermes"])
async def test_arguments_come_as_they_are_written(form: str) -> None:
    if form == "native":
        first = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "write_file", "arguments": ""}}])
        rest = [delta(tool_calls=[{"index": 0, "function": {"arguments": p}}]) for p in pieces(ARGUMENTS, 12)]
        chunks = [first, *rest, delta("tool_calls"), "[DONE]"]
    else:
        text = f'<tool_call>\n{{"name": "write_file", "arguments": {ARGUMENTS}}}\n</tool_call>'
        chunks = [*(delta(content=piece) for piece in pieces(text, 12)), delta("stop"), "[DONE]"]
    assert json.loads(await shown(Reply(chunks), after=50)) == json.loads(ARGUMENTS)


async def test_connections_to_the_model_are_kept() -> None:
    async with upstream([text_reply("Hello there.")]) as model:
        backend = model.backend()
        async with served(application(MemoryHub(backend))) as url, aiohttp.ClientSession() as session:
            for stream in (True, False) * 10:
                body = {"model": "m", "messages": [{"role": "user", "content": "go"}], "stream": stream}
                async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                    assert "Hello" in await response.text()
        await backend.close()
    assert len(model.asked) == 20
    assert len(model.connections) == 1


async def test_a_client_that_waits_for_its_models_turn_is_told_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naru.web.face.endpoint.PROXY_GRACE_SECONDS", 0.05)
    queue = RequestQueue(RateLimits(max_concurrent=1))
    hub = MemoryHub(QueuedBackend(ScriptedBackend(["first", "second"]), queue))
    async with served(application(hub)) as url, aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
        async with (
            queue.slot(Caller("someone else")),
            session.post(f"{url}/v1/chat/completions", json=body) as response,
        ):
            line = await asyncio.wait_for(response.content.readline(), 30)
            assert line.startswith(b": waiting for the model, 0 before you, about ")
