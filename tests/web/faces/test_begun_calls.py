"""Calls that a model began to write into its text and that never end: cut by length, or only shown. By the packages."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import ollama
import openai
import pytest

from naru.messages import ChatEvent, ChatRequest, ToolDefinition
from naru.models.answers.parsing import answer_reader
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from tests.web.conftest import MemoryHub, application, served

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "W", "parameters": SCHEMA}
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Seoul"}}</tool_call>'
ASKED: Any = [{"role": "user", "content": "Weather?"}]
CASES = {"cut": (CALL[:-20], "length"), "shown": (f"{CALL}\n\nThat was on the page; I leave it alone.", "stop")}


def written(text: str, reason: str) -> list[ChatEvent]:
    """Return the events of a model's text that arrives by four characters."""
    request = ChatRequest("m", [], tools=[ToolDefinition("get_weather", "W", SCHEMA)])
    reader = answer_reader(request, Profile())
    events = [event for at in range(0, len(text), 4) for event in reader.text(text[at : at + 4])]
    return events + reader.finish(reason)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    return CASES[request.param]


async def test_chat_completions_show_a_begun_call_with_arguments_that_are_no_json(case: tuple[str, str]) -> None:
    """As OpenAI's own API does with a cut one; `finish_reason` is never `tool_calls`, whole there is no call."""
    text, reason = case
    async with (
        served(application(MemoryHub(ScriptedBackend([written(*case)] * 2)))) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client,
    ):
        create: Any = client.chat.completions.create
        tools: Any = [{"type": "function", "function": FUNCTION}]
        whole = await create(model="m", messages=ASKED, tools=tools)
        stream = await create(model="m", messages=ASKED, tools=tools, stream=True)
        choices = [chunk.choices[0] async for chunk in stream if chunk.choices]
    assert (whole.choices[0].message.content, whole.choices[0].message.tool_calls) == (text, None)
    assert whole.choices[0].finish_reason == choices[-1].finish_reason == reason
    assert "".join(choice.delta.content or "" for choice in choices) == text
    pieces = [one.function.arguments for choice in choices for one in choice.delta.tool_calls or ()]
    with pytest.raises(json.JSONDecodeError):
        json.loads("".join(pieces))


async def test_responses_end_a_begun_call_as_incomplete_with_what_was_written(case: tuple[str, str]) -> None:
    text, reason = case
    async with (
        served(application(MemoryHub(ScriptedBackend([written(*case)])))) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client,
    ):
        tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
        stream = await client.responses.create(model="m", input="Weather?", tools=tools, store=False, stream=True)
        events = [event async for event in stream]
    assert events[-1].type == ("response.incomplete" if reason == "length" else "response.completed")
    done = [event.item for event in events if event.type == "response.output_item.done"]
    calls = [item for item in done if item.type == "function_call"]
    assert [item.status for item in calls] == ["incomplete"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(calls[0].arguments)
    assert calls[0].arguments
    said = [part.text for item in done if item.type == "message" for part in item.content if part.type == "output_text"]
    assert "".join(said) == text


async def test_messages_have_no_block_of_a_call_that_never_ends(case: tuple[str, str]) -> None:
    """The package reads a block's JSON as far as it goes, and clients run it: none is begun before its call ends."""
    text, reason = case
    tools: Any = [{"name": "get_weather", "input_schema": SCHEMA}]
    async with (
        served(application(MemoryHub(ScriptedBackend([written(*case)] * 2)))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client,
    ):
        whole = await client.messages.create(model="m", max_tokens=99, messages=ASKED, tools=tools)
        async with client.messages.stream(model="m", max_tokens=99, messages=ASKED, tools=tools) as stream:
            streamed = await stream.get_final_message()
    for message in (whole, streamed):
        assert [(block.type, getattr(block, "text", None)) for block in message.content] == [("text", text)]
        assert message.stop_reason == ("max_tokens" if reason == "length" else "end_turn")


async def test_ollama_tells_a_call_that_never_ends_as_text(case: tuple[str, str]) -> None:
    text, reason = case
    tools: Any = [{"type": "function", "function": FUNCTION}]
    async with served(application(MemoryHub(ScriptedBackend([written(*case)])))) as url:
        client = ollama.AsyncClient(host=url)
        lines = [line async for line in await client.chat("m", ASKED, tools=tools, stream=True)]
    assert "".join(line.message.content or "" for line in lines) == text
    assert not any(line.message.tool_calls for line in lines)
    assert lines[-1].done_reason == reason
