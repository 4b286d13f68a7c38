"""Faces × wires × what can happen, streamed and whole: a hub before a hub, so that each face is also an endpoint.

Gemini's API is no face of Naru's: an endpoint replays its shapes.

That the faces speak their APIs is held against the official packages in their own tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from naru.config import HubSettings, Settings
from naru.errors import ModelError
from naru.messages import CallEnd, CallStart, ChatRequest, Finish, ImagePart, Reasoning, Text, Usage
from naru.models.backend import Backend
from naru.models.known.profile import Profile
from naru.models.scripted import Answer, ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.gemini import GeminiBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend
from naru.models.wires.responses import ResponsesBackend
from tests.models.fake_endpoint import Reply, serve, sse
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces import gemini
from tests.web.faces.matrix import FACES, SCENARIOS, UNSAID, WIRES

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PICTURE = "iVBORw0KGgo="
CALLS = [("get_weather", {"city": "Seoul"}), ("get_weather", {"city": "Busan"})]


@dataclass
class Told:
    """What a client was told, in no API's form."""

    status: int = 200
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    end: str = ""


def script(request: ChatRequest) -> Answer:
    """Play a model: the person's words name the scenario."""
    asked = next(turn for turn in request.messages if turn.role == "user")
    first = next(turn.text for turn in reversed(request.messages) if turn.role in ("user", "tool"))
    if request.messages[-1].role == "tool":
        return [Text(f"It said {first}."), Usage(5, 3), Finish("stop")]
    call = [CallStart(0, "a", "get_weather"), CallEnd(0, {"city": "Seoul"})]
    answers: dict[str, Answer] = {
        "text": [Text("Good "), Text("day."), Usage(5, 3), Finish("stop")],
        "own tool": [*call, Usage(5, 3), Finish("tool_calls")],
        "hub tool": [CallStart(0, "h", "hub__echo"), CallEnd(0, {"text": "hi"}), Usage(5, 3), Finish("tool_calls")],
        "parallel": [*call, CallStart(1, "b", "get_weather"), CallEnd(1, {"city": "Busan"}), Finish("tool_calls")],
        "reasoning": [Reasoning("Hm."), Text("Yes."), Usage(5, 3), Finish("stop")],
        "cut": [Text("Half"), Usage(5, 3), Finish("length")],
        "error": ModelError("There is no room.", status=400),
    }
    if "image" in asked.text:
        seen = isinstance(asked.content, tuple) and any(
            isinstance(part, ImagePart) and part.data == PICTURE for part in asked.content
        )
        return [Text("A picture." if seen else "Nothing."), Usage(5, 3), Finish("stop")]
    return next(answer for name, answer in answers.items() if name in asked.text)


def wired(wire: str, url: str) -> Backend:
    """Return a backend over a wire to an endpoint."""
    profile = Profile(reasoning="reasoning_content")
    match wire:
        case "openai":
            return OpenAIBackend(Endpoint(f"{url}/v1"), profile, model="m")
        case "anthropic":
            return AnthropicBackend(Endpoint(f"{url}/v1", "made-up"), profile, model="m")
        case "responses":
            return ResponsesBackend(Endpoint(f"{url}/v1"), profile, model="m")
        case "gemini":
            return GeminiBackend(Endpoint(url, "made-up"), model="m")
    return OllamaBackend(Endpoint(url), profile, model="m", context_tokens=8192)


@contextlib.asynccontextmanager
async def before(wire: str, scripted: Callable[[ChatRequest], Answer], tmp_path: Path) -> AsyncIterator[str]:
    """Serve a hub whose model is at the other end of a wire: another hub's, or Gemini's API as it speaks."""
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with contextlib.AsyncExitStack() as stack:
        if wire == "gemini":
            fake = await stack.enter_async_context(serve(gemini.answering(scripted)))
            url = fake.base_url.removesuffix("/v1")
        else:
            inner = MemoryHub(ScriptedBackend(scripted, model="m"), settings=settings)
            url = await stack.enter_async_context(served(application(inner)))
        backend = wired(wire, url)
        stack.push_async_callback(backend.close)
        yield await stack.enter_async_context(served(application(MemoryHub(backend, settings=settings))))


def body_of(face: str, scenario: str, *, stream: bool, answered: bool = False) -> dict[str, Any]:
    """Return a request in a face's form; `answered` goes on after the call with its result."""
    model = "m+tools" if scenario == "hub tool" else "m"
    picture, asks_tool = scenario == "image", scenario in ("own tool", "parallel")
    function = {"name": "get_weather", "description": "W", "parameters": SCHEMA}
    body: dict[str, Any] = {"model": model, "stream": stream}
    match face:
        case "chat completions":
            url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
            content: Any = [{"type": "text", "text": scenario}, url] if picture else scenario
            made = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Seoul"}'}}
            after = [
                {"role": "assistant", "tool_calls": [made]},
                {"role": "tool", "tool_call_id": "c", "content": "sun"},
            ]
            body["messages"] = [{"role": "user", "content": content}, *(after if answered else [])]
            body |= {"tools": [{"type": "function", "function": function}]} if asks_tool else {}
        case "Responses":
            seen = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}
            content = [{"type": "input_text", "text": scenario}, *([seen] if picture else [])]
            made = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": '{"city":"Seoul"}'}
            after = [made, {"type": "function_call_output", "call_id": "c", "output": "sun"}]
            body |= {"input": [{"role": "user", "content": content}, *(after if answered else [])], "store": False}
            body |= {"tools": [{"type": "function", **function}]} if asks_tool else {}
        case "Messages":
            source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
            content = [{"type": "text", "text": scenario}, *([{"type": "image", "source": source}] if picture else [])]
            made = {"type": "tool_use", "id": "c", "name": "get_weather", "input": {"city": "Seoul"}}
            result = {"type": "tool_result", "tool_use_id": "c", "content": "sun"}
            after = [{"role": "assistant", "content": [made]}, {"role": "user", "content": [result]}]
            body |= {"messages": [{"role": "user", "content": content}, *(after if answered else [])], "max_tokens": 99}
            body |= {"tools": [{"name": "get_weather", "input_schema": SCHEMA}]} if asks_tool else {}
        case _:
            turn: dict[str, Any] = {"role": "user", "content": scenario} | ({"images": [PICTURE]} if picture else {})
            made = {"function": {"name": "get_weather", "arguments": {"city": "Seoul"}}}
            after = [
                {"role": "assistant", "content": "", "tool_calls": [made]},
                {"role": "tool", "tool_name": "get_weather", "content": "sun"},
            ]
            body["messages"] = [turn, *(after if answered else [])]
            body |= {"tools": [{"type": "function", "function": function}]} if asks_tool else {}
    return body


async def ask(url: str, face: str, body: dict[str, Any]) -> Told:
    async with aiohttp.ClientSession() as session, session.post(url + FACES[face], json=body) as response:
        raw = await response.text()
    if response.status >= 400:
        said = json.loads(raw)["error"]
        return Told(response.status, text=said if isinstance(said, str) else said["message"])
    if face == "Ollama":
        return _from_ollama([json.loads(line) for line in raw.splitlines()])
    if body["stream"]:
        lines = [line[6:] for line in raw.splitlines() if line.startswith("data: {")]
        return _STREAMS[face]([json.loads(line) for line in lines])
    return _WHOLES[face](json.loads(raw))


def _from_ollama(lines: Sequence[Any]) -> Told:
    told = Told(end={"stop": "stop", "length": "length"}[lines[-1]["done_reason"]])
    for line in lines:
        message = line["message"]
        told.text += message["content"]
        told.reasoning += message.get("thinking") or ""
        told.calls += [(one["function"]["name"], one["function"]["arguments"]) for one in message.get("tool_calls", ())]
    return told


def _from_chat(answer: Any) -> Told:
    choice = answer["choices"][0]
    message = choice["message"]
    calls = [one["function"] for one in message.get("tool_calls") or ()]
    named = [(one["name"], json.loads(one["arguments"])) for one in calls]
    text, thought = message["content"] or "", message.get("reasoning_content") or ""
    return Told(text=text, reasoning=thought, calls=named, end=choice["finish_reason"])


def _from_chunks(chunks: Sequence[Any]) -> Told:
    told, calls = Told(), dict[int, list[str]]()
    for choice in (chunk["choices"][0] for chunk in chunks if chunk["choices"]):
        delta = choice["delta"]
        told.text += delta.get("content") or ""
        told.reasoning += delta.get("reasoning_content") or ""
        for one in delta.get("tool_calls") or ():
            call = calls.setdefault(one["index"], ["", ""])
            call[0] += one["function"].get("name") or ""
            call[1] += one["function"]["arguments"]
        told.end = choice["finish_reason"] or told.end
    told.calls = [(name, json.loads(arguments)) for name, arguments in calls.values()]
    return told


def _from_response(response: Any) -> Told:
    told = Told(end="length" if response["status"] == "incomplete" else "stop")
    for item in response["output"]:
        match item["type"]:
            case "message":
                told.text += "".join(part["text"] for part in item["content"])
            case "reasoning":
                told.reasoning += "".join(part["text"] for part in item["content"])
            case "function_call":
                told.calls.append((item["name"], json.loads(item["arguments"])))
    return told


def _from_message(message: Any) -> Told:
    ends = {"max_tokens": "length", "tool_use": "tool_calls", "end_turn": "stop"}
    told = Told(end=ends[message["stop_reason"]])
    for block in message["content"]:
        told.text += block.get("text") or ""
        told.reasoning += block.get("thinking") or ""
        told.calls += [(block["name"], block["input"])] if block["type"] == "tool_use" else []
    return told


def _from_events(events: Sequence[Any]) -> Told:
    blocks: list[Any] = []
    reason = ""
    for event in events:
        match event["type"]:
            case "content_block_start":
                blocks.append(event["content_block"] | {"json": ""})
            case "content_block_delta":
                delta, block = event["delta"], blocks[event["index"]]
                for key, name in (("text", "text"), ("thinking", "thinking"), ("partial_json", "json")):
                    block[name] = block.get(name, "") + delta.get(key, "")
            case "message_delta":
                reason = event["delta"]["stop_reason"]
    for block in blocks:
        block["input"] = json.loads(block["json"] or "{}")
    return _from_message({"stop_reason": reason, "content": blocks})


_WHOLES = {"chat completions": _from_chat, "Responses": _from_response, "Messages": _from_message}
_STREAMS = {
    "chat completions": _from_chunks,
    "Responses": lambda events: _from_response(events[-1]["response"]),
    "Messages": _from_events,
}


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("face", FACES)
async def test_every_face_tells_what_happened_over_every_wire(
    face: str, wire: str, stream: bool, tmp_path: Path
) -> None:
    told: dict[str, Told] = {}
    async with before(wire, script, tmp_path) as url:
        for scenario in SCENARIOS:
            if scenario != "cancelled":
                told[scenario] = await ask(url, face, body_of(face, scenario, stream=stream))
        after = await ask(url, face, body_of(face, "own tool", stream=stream, answered=True))
    by_calls = "tool_calls" if face in ("chat completions", "Messages") else "stop"
    assert told["text"] == Told(text="Good day.", end="stop")
    assert told["own tool"] == Told(calls=CALLS[:1], end=by_calls)
    assert after == Told(text="It said sun.", end="stop")
    assert told["hub tool"] == Told(text="It said echo: hi.", end="stop")
    assert told["parallel"] == Told(calls=CALLS, end=by_calls)
    assert told["image"] == Told(text="A picture.", end="stop")
    assert told["reasoning"] == Told(text="Yes.", reasoning="Hm.", end="stop")
    assert told["cut"] == Told(text="Half", end="length")
    assert told["error"].status == 400
    assert "There is no room." in told["error"].text
    assert UNSAID == {}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("face", FACES)
async def test_a_client_that_leaves_is_no_longer_answered(face: str, wire: str, tmp_path: Path) -> None:
    left = asyncio.Event()

    class Slow(ScriptedBackend):
        async def stream(self, request: ChatRequest) -> Any:
            try:
                yield Text("Good ")
                await asyncio.Event().wait()
            finally:
                left.set()

    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with contextlib.AsyncExitStack() as stack:
        if wire == "gemini":
            held = Reply(sse(gemini.chunk({"text": "Good "}), done=False), hang=True)
            fake = await stack.enter_async_context(serve([held]))
            url, left = fake.base_url.removesuffix("/v1"), fake.gone
        else:
            url = await stack.enter_async_context(served(application(MemoryHub(Slow([]), settings=settings))))
        backend = wired(wire, url)
        stack.push_async_callback(backend.close)
        outer = await stack.enter_async_context(served(application(MemoryHub(backend, settings=settings))))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        response = await session.post(outer + FACES[face], json=body_of(face, "text", stream=True))
        await response.content.readany()
        response.close()
        await asyncio.wait_for(left.wait(), 30)
