"""Unusual requests that an API's contract allows, as the official packages send them and read the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from naru.config import HubSettings, Settings
from naru.messages import ArgumentsDelta, CallEnd, CallStart, ChatEvent, Finish, Text, Usage
from naru.models.scripted import ScriptedBackend
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import post

ASK: list[Any] = [{"role": "user", "content": "Go."}]
GRAMMAR = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: WORD"}}
FREE: list[Any] = [{"type": "custom", "custom": {"name": "free", "description": "Write it.", "format": GRAMMAR}}]
CALL: Sequence[ChatEvent] = (
    CallStart(0, "a", "free"),
    ArgumentsDelta(0, '{"input": "a \\"'),
    ArgumentsDelta(0, 'b\\""}'),
    CallEnd(0, {"input": 'a "b"'}),
    Usage(5, 3),
    Finish("tool_calls"),
)


@asynccontextmanager
async def asking(tmp_path: Path, *answers: Any) -> AsyncIterator[tuple[str, ScriptedBackend]]:
    backend = ScriptedBackend(answers, repeat_last=True)
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with served(application(MemoryHub(backend, settings=settings))) as url:
        yield url, backend


async def test_a_tool_of_chat_completions_that_takes_plain_text_is_called_with_it(tmp_path: Path) -> None:
    choice: Any = {"type": "custom", "custom": {"name": "free"}}
    async with (
        asking(tmp_path, CALL) as (url, backend),
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client,
    ):
        whole = await client.chat.completions.create(model="m", messages=ASK, tools=FREE, tool_choice=choice)
        calls: Any = whole.choices[0].message.tool_calls
        (call,) = calls
        assert call.type == "custom"
        assert (call.custom.name, call.custom.input) == ("free", 'a "b"')
        stream = await client.chat.completions.create(model="m", messages=ASK, tools=FREE, stream=True)
        chunks = [chunk.choices[0] async for chunk in stream]
        turns = [*ASK, whole.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "written"}]
        await client.chat.completions.create(model="m", messages=turns, tools=FREE)
    pieces = [one.model_dump(exclude_none=True) for chunk in chunks for one in chunk.delta.tool_calls or ()]
    assert pieces[0] | {"id": ""} == {"index": 0, "id": "", "type": "custom", "custom": {"name": "free", "input": ""}}
    assert "".join(one["custom"]["input"] for one in pieces) == 'a "b"'
    assert chunks[-1].finish_reason == "tool_calls"
    asked = backend.requests[0]
    assert asked.tool_choice == {"type": "function", "function": {"name": "free"}}
    assert "lark grammar:\nstart: WORD" in asked.tools[0].description
    after = backend.requests[2].messages
    assert (after[1].tool_calls[0].arguments, after[2].text) == ({"input": 'a "b"'}, "written")


async def test_what_tools_of_anthropics_servers_gave_before_stays_in_the_history(tmp_path: Path) -> None:
    found = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "x" * 99}
    turns: list[Any] = [
        *ASK,
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]},
                {"type": "text", "text": "It says A.", "citations": []},
            ],
        },
        {"role": "user", "content": "And?"},
    ]
    async with asking(tmp_path, "ok") as (url, backend), anthropic.AsyncAnthropic(base_url=url, api_key="x") as client:
        await client.messages.create(model="m", max_tokens=9, messages=turns)
    _, called, given, said, _ = backend.requests[0].messages
    assert (called.tool_calls[0].name, called.tool_calls[0].arguments) == ("web_search", {"query": "a"})
    assert given.text == '[{"type":"web_search_result","url":"https://a.example","title":"A"}]'
    assert said.text == "It says A."


BY_ID: list[tuple[str, dict[str, Any]]] = [
    ("messages", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
    ("messages", {"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
    ("responses", {"type": "input_image", "file_id": "file_1", "detail": "auto"}),
]


@pytest.mark.parametrize(("api", "part"), BY_ID, ids=["picture of Messages", "document of Messages", "of Responses"])
async def test_a_file_that_is_kept_elsewhere_is_refused_in_words_that_say_so(
    api: str, part: dict[str, Any], tmp_path: Path
) -> None:
    turns: Any = [{"role": "user", "content": [part]}]
    path, body = {
        "messages": ("/v1/messages", {"max_tokens": 9, "messages": turns}),
        "responses": ("/v1/responses", {"input": turns}),
    }[api]
    async with asking(tmp_path, "ok") as (url, _):
        status, answer = await post(url + path, {"model": "m", **body})
    assert status == 400
    assert "content[0] names a file by its id" in answer["error"]["message"]


async def test_words_that_the_limit_cut_off_are_an_incomplete_item(tmp_path: Path) -> None:
    half = [Text("Half"), Usage(5, 3), Finish("length")]
    async with asking(tmp_path, half) as (url, _), openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client:
        whole = await client.responses.create(model="m", input="Go.", max_output_tokens=16)
    assert (whole.status, whole.output[0].status) == ("incomplete", "incomplete")  # type: ignore[union-attr]
