"""One request through the face to an endpoint that replays a recorded shape, told whole whichever way it came."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from starlette.types import ASGIApp

from naru.config import Settings
from naru.fields import merge
from naru.messages import ImagePart, JsonObject, TextPart, ToolDefinition, ToolResult
from naru.models.known.profile import Profile
from naru.tools.toolset import CallContext
from tests.web.conftest import EchoTools, MemoryHub, application, served
from tests.web.upstream import Reply, Upstream, upstream

ASK = [{"role": "user", "content": "go"}]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
Script = list[Reply] | Callable[[dict[str, Any]], Reply]


@dataclass
class Told:
    """What a client was told: of a stream, its chunks put together."""

    status: int
    message: JsonObject = field(default_factory=dict)
    choice: JsonObject = field(default_factory=dict)
    """Without the message."""
    top: JsonObject = field(default_factory=dict)
    """Without the choices."""
    chunks: list[JsonObject] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    """What the endpoint was sent."""
    called: list[tuple[str, JsonObject]] = field(default_factory=list)
    """What the hub's tools were called with."""

    @property
    def content(self) -> str:
        return self.message.get("content") or ""

    @property
    def finish(self) -> str:
        return str(self.choice.get("finish_reason"))

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [
            (one["function"]["name"], json.loads(one["function"]["arguments"]))
            for one in self.message.get("tool_calls") or ()
        ]

    @property
    def naru(self) -> JsonObject:
        return self.top.get("naru") or {}


class PictureTools(EchoTools):
    """A tool that echoes, and one that gives a picture."""

    async def tools(self) -> Sequence[ToolDefinition]:
        return (*await super().tools(), ToolDefinition("hub__screenshot", "Show the screen.", server="hub"))

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        if name == "hub__screenshot":
            self.called.append((name, arguments))
            return ToolResult((TextPart("the screen"), ImagePart("image/png", PNG)))
        return await super().call(name, arguments, context)


async def tell(
    script: Script,
    *,
    stream: bool,
    tools: bool = False,
    profile: Profile | None = None,
    settings: Settings | None = None,
    headers: dict[str, str] | None = None,
    **body: Any,
) -> Told:
    """Ask once, with the hub's tools if wanted, and put together what came."""
    async with upstream(script) as model:
        hub = MemoryHub(model.backend(profile), PictureTools(), settings=settings or Settings())
        told = await ask(hub, stream=stream, tools=tools, headers=headers, **body)
        return with_what_was_asked(told, model, hub)


def with_what_was_asked(told: Told, model: Upstream, hub: MemoryHub) -> Told:
    told.asked, told.called = model.asked, hub.toolset.called
    return told


async def ask(
    hub: MemoryHub | ASGIApp,
    *,
    stream: bool,
    tools: bool = False,
    own: Sequence[JsonObject] = (),
    headers: dict[str, str] | None = None,
    **body: Any,
) -> Told:
    """Ask a hub once, or its application; `own` are the client's tools, `tools` wants the hub's."""
    app = application(hub) if isinstance(hub, MemoryHub) else hub
    sent = {"model": "m+tools" if tools else "m", "messages": ASK, "stream": stream, **body}
    if own:
        sent["tools"] = list(own)
    if stream:
        sent["stream_options"] = {"include_usage": True}
    async with (
        served(app) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=sent, headers=headers) as response,
    ):
        text = await response.text()
        if response.status != 200 or not stream:
            return _of_whole(response.status, json.loads(text))
    chunks = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]
    return _of_chunks(chunks)


def put_together(reply: Reply) -> Told:
    """Read a reply of an endpoint as a client of its own would."""
    if reply.content_type == "application/json":
        return _of_whole(200, copy.deepcopy(reply.chunks[0]))
    return _of_chunks([chunk for chunk in reply.chunks if chunk != "[DONE]"])


def _of_whole(status: int, answer: JsonObject) -> Told:
    if status != 200:
        return Told(status, top=answer)
    (choice,) = answer.pop("choices")
    return Told(status, choice.pop("message"), choice, answer)


def _of_chunks(chunks: list[JsonObject]) -> Told:
    told = Told(200, chunks=chunks)
    calls: dict[int, JsonObject] = {}
    for chunk in chunks:
        for choice in chunk.get("choices", ()):
            delta = choice["delta"]
            for piece in delta.get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"function": {"name": "", "arguments": ""}})
                call["function"]["name"] += piece.get("function", {}).get("name", "")
                call["function"]["arguments"] += piece.get("function", {}).get("arguments", "")
                call |= {name: value for name, value in piece.items() if name not in ("function", "index")}
            for name, text in parted(delta.get("content")).items():
                told.message[name] = told.message.get(name, "") + text
            for name in ("content", "reasoning_content", "reasoning", "refusal"):
                if isinstance(delta.get(name), str) and delta[name]:
                    told.message[name] = told.message.get(name, "") + delta[name]
            merge(told.message, _further(delta))
            merge(told.choice, {k: v for k, v in choice.items() if k not in ("delta", "index") and v is not None})
        told.top |= {name: value for name, value in chunk.items() if name != "choices" and value is not None}
    if calls:
        told.message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return told


def _further(delta: JsonObject) -> JsonObject:
    known = ("tool_calls", "content", "reasoning_content", "reasoning", "refusal", "role")
    return {name: value for name, value in delta.items() if name not in known and value is not None}


def parted(content: Any) -> dict[str, str]:
    """Read Mistral's content in parts: what is thought, and what is said."""
    if not isinstance(content, list):
        return {}
    thought = "".join(one["text"] for part in content for one in part.get("thinking", ()))
    said = "".join(part.get("text", "") for part in content)
    return {"content[thinking]": thought, "content": said}
