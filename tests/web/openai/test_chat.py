"""POST /v1/chat/completions through a real server and the real `openai` client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import openai
import pytest

from naru.errors import ModelError
from naru.messages import ArgumentsDelta, CallEnd, CallStart, ChatEvent, ChatRequest, Finish, Text, Usage
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from tests.web.conftest import MemoryHub, application, served

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "서울"}}\n</tool_call>'
FENCED = '```json\n{"name": "get_weather", "arguments": {"city": "서울"}}\n```'
BARE = '{"name": "get_weather", "arguments": {"city": "서울"}}'
ASK: list[Any] = [{"role": "user", "content": "날씨?"}]


def client_of(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=60)


async def raw_stream(url: str, body: dict[str, Any]) -> list[str]:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/chat/completions", json=body) as response:
        assert response.status == 200, await response.text()
        return [line for line in (await response.text()).split("\n\n") if line]


def chunks_of(lines: Sequence[str]) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


async def test_who_offers_functions_is_answered_with_a_function_call() -> None:
    """As before there were tools: `message.tool_calls` is what such a client does not look at."""
    offered: Any = {"functions": [WEATHER["function"]], "function_call": "auto"}
    hub = MemoryHub(ScriptedBackend([HERMES, HERMES, "맑음"]))
    async with served(application(hub)) as url, client_of(url) as client:
        whole = (await client.chat.completions.create(model="m", messages=ASK, **offered)).choices[0]
        called = whole.message.function_call
        assert called is not None
        assert (called.name, json.loads(called.arguments)) == ("get_weather", {"city": "서울"})
        assert (whole.message.tool_calls, whole.message.content, whole.finish_reason) == (None, None, "function_call")

        name, arguments, reasons = "", "", []
        async for chunk in await client.chat.completions.create(model="m", messages=ASK, stream=True, **offered):
            (choice,) = chunk.choices
            assert choice.delta.tool_calls is None
            if choice.delta.function_call is not None:
                name += choice.delta.function_call.name or ""
                arguments += choice.delta.function_call.arguments or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
        assert (name, json.loads(arguments), reasons) == ("get_weather", {"city": "서울"}, ["function_call"])

        history: Any = [
            *ASK,
            {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": arguments}},
            {"role": "function", "name": name, "content": "sunny"},
        ]
        last = await client.chat.completions.create(model="m", messages=history, **offered)
        assert (last.choices[0].message.content, last.choices[0].finish_reason) == ("맑음", "stop")
    assert isinstance(hub.backend, ScriptedBackend)
    asked, answered = hub.backend.requests[-1].messages[1:]
    assert asked.tool_calls[0].id == answered.tool_call_id


@pytest.mark.parametrize("model_text", [HERMES, FENCED, BARE], ids=["hermes", "fenced", "bare"])
async def test_a_call_written_as_text_reaches_the_client_as_a_strict_tool_call(model_text: str) -> None:
    async with served(application(MemoryHub(ScriptedBackend([model_text] * 2)))) as url, client_of(url) as client:
        whole = await client.chat.completions.create(model="m", messages=ASK, tools=[WEATHER])  # type: ignore[list-item]
        call = whole.choices[0].message.tool_calls[0]  # type: ignore[index]
        assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "서울"})  # type: ignore[union-attr]
        assert whole.choices[0].finish_reason == "tool_calls"
        assert whole.choices[0].message.content is None

        async with client.chat.completions.stream(model="m", messages=ASK, tools=[WEATHER]) as stream:  # type: ignore[list-item]
            streamed = await stream.get_final_completion()
        again = streamed.choices[0].message.tool_calls[0]  # type: ignore[index]
        assert (again.function.name, json.loads(again.function.arguments)) == ("get_weather", {"city": "서울"})
        assert again.id != call.id


async def test_the_stream_has_one_finish_one_done_and_usage_only_on_request() -> None:
    answer = [Text("Hello"), Text(" world"), Usage(5, 2), Finish("stop")]
    body = {"model": "m", "messages": ASK, "stream": True}
    async with served(application(MemoryHub(ScriptedBackend([answer, answer])))) as url:
        plain = await raw_stream(url, body)
        asked = await raw_stream(url, body | {"stream_options": {"include_usage": True}})
    for lines in (plain, asked):
        assert lines[-1] == "data: [DONE]"
        assert lines.count("data: [DONE]") == 1
        reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks_of(lines) if chunk["choices"]]
        assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    assert chunks_of(plain)[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert not any("usage" in chunk for chunk in chunks_of(plain))
    assert chunks_of(asked)[-1] | {"choices": []} == chunks_of(asked)[-1]
    assert chunks_of(asked)[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"mcp_servers": ["hub"]}, {}),
        ({"mcp_servers": "all"}, {}),
        ({}, {"x-mcp-servers": "hub"}),
        ({"model": "m+tools"}, {}),
    ],
    ids=["list", "all", "header", "model-name"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_hub_tools_are_run_by_naru_and_only_the_answer_is_given(
    body: dict[str, Any], headers: dict[str, str], stream: bool
) -> None:
    call = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
    hub = MemoryHub(ScriptedBackend([call, "The tool said hi."]))
    asked = {"model": "m", "messages": ASK, "stream": stream} | body
    async with (
        served(application(hub)) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=asked, headers=headers) as response,
    ):
        text = await response.text()
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]
    if stream:
        chunks = chunks_of(text.split("\n\n"))
        content = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        last = chunks[-1]
    else:
        last = json.loads(text)
        content = last["choices"][0]["message"]["content"]
    assert content == "The tool said hi."
    assert "tool_calls" not in text
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["naru"]["ended"] == "answered"
    assert last["model"] == asked["model"]


async def test_without_a_wish_for_hub_tools_none_are_offered() -> None:
    backend = ScriptedBackend(["hello"])
    async with served(application(MemoryHub(backend))) as url, client_of(url) as client:
        await client.chat.completions.create(model="m", messages=ASK, seed=7, extra_body={"top_k": 3})
    assert backend.requests[0].tools == ()
    assert backend.requests[0].extra == {"seed": 7, "top_k": 3}


async def test_an_unknown_server_is_a_404_that_names_it() -> None:
    async with served(application(MemoryHub(ScriptedBackend([])))) as url, client_of(url) as client:
        with pytest.raises(openai.NotFoundError, match="nosuch"):
            await client.chat.completions.create(model="m", messages=ASK, extra_body={"mcp_servers": ["nosuch"]})


async def test_models_are_listed_with_the_names_that_ask_for_hub_tools() -> None:
    async with served(application(MemoryHub(ScriptedBackend([])))) as url, client_of(url) as client:
        names = [model.id async for model in client.models.list()]
        assert names[:2] == ["scripted", "scripted+tools"]
        assert (await client.models.retrieve("scripted+tools")).id == "scripted+tools"
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("nosuch")


class Breaking(ScriptedBackend):
    """Says something and then breaks off."""

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        yield Text("half")
        yield CallStart(0, "", "get_weather")
        yield ArgumentsDelta(0, '{"city": "Seo')
        raise ModelError("The endpoint broke off.", status=502)


# d27
async def test_a_break_in_mid_stream_is_one_error_object_and_no_invented_success() -> None:
    async with served(application(MemoryHub(Breaking([])))) as url:
        lines = await raw_stream(url, {"model": "m", "messages": ASK, "tools": [WEATHER], "stream": True})
    chunks = chunks_of(lines)
    assert "broke off" in chunks[-1]["error"]["message"]
    assert sum("error" in chunk for chunk in chunks) == 1
    assert "data: [DONE]" not in lines
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks[:-1])


# d25
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("upstream", "status"), [(400, 400), (404, 404), (429, 429), (401, 502), (500, 502), (503, 502)]
)
async def test_a_refusal_before_the_first_byte_is_a_true_status(stream: bool, upstream: int, status: int) -> None:
    error = ModelError("Refused.", status=upstream, retry_after_seconds=7 if upstream == 429 else None)
    body = {"model": "m", "messages": ASK, "stream": stream}
    async with (
        served(application(MemoryHub(ScriptedBackend([error])))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=body) as response,
    ):
        assert response.status == status
        assert response.content_type == "application/json"
        assert response.headers.get("retry-after") == ("7" if upstream == 429 else None)
        assert (await response.json())["error"]["message"] == "Refused."


async def test_a_bug_becomes_an_answer_and_not_a_dead_connection() -> None:
    class Buggy(ScriptedBackend):
        async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
            raise ZeroDivisionError
            yield Text("")

    async with served(application(MemoryHub(Buggy([])))) as url, client_of(url) as client:
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="m", messages=ASK)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"not json", "not JSON"),
        (b"[]", "JSON object"),
        (b'{"model": "m"}', "messages"),
        (b'{"messages": []}', "messages"),
        (b'{"messages": [5]}', "messages[0]"),
        (b'{"messages": [{"role": "wizard", "content": ""}]}', "messages[0].role"),
        (b'{"messages": [{"role": "user", "content": "x"}], "tools": [{}]}', "tools[0]"),
        (b'{"messages": [{"role": "user", "content": "x"}], "base_url": "http://evil"}', "base_url"),
        (b"[" * 100_000, "nested"),
    ],
)
async def test_a_request_that_cannot_be_taken_is_a_400_that_names_the_place(body: bytes, named: str) -> None:
    async with (
        served(application(MemoryHub(ScriptedBackend([])))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", data=body) as response,
    ):
        assert response.status == 400
        assert named in (await response.json())["error"]["message"]


def test_a_complete_call_carries_its_arguments_even_when_no_delta_came() -> None:
    from naru.web.openai.wire import ChunkWriter

    writer = ChunkWriter("m")
    sent = b"".join(writer.feed(event) for event in (CallStart(0, "x", "f"), CallEnd(0, {}), Finish("stop")))
    chunks = chunks_of((sent + writer.end()).decode().split("\n\n"))
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert "".join(call["function"]["arguments"] for call in calls) == "{}"
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


ANSWERED: list[Any] = [
    *ASK,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"서울"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "sunny"},
]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_small_model_that_only_repeats_an_answered_call_is_asked_once_more_without_tools(stream: bool) -> None:
    backend = ScriptedBackend([HERMES, "It is sunny."], profile=Profile(small=True))
    async with served(application(MemoryHub(backend))) as url, client_of(url) as client:
        if stream:
            async with client.chat.completions.stream(model="m", messages=ANSWERED, tools=[WEATHER]) as events:  # type: ignore[list-item]
                answer = await events.get_final_completion()
        else:
            answer = await client.chat.completions.create(model="m", messages=ANSWERED, tools=[WEATHER])  # type: ignore[list-item,assignment]
    assert answer.choices[0].message.content == "It is sunny."
    assert not answer.choices[0].message.tool_calls
    assert answer.choices[0].finish_reason == "stop"
    assert [len(request.tools) for request in backend.requests] == [1, 0]


@pytest.mark.parametrize(
    ("profile", "messages", "second"),
    [
        (Profile(small=False), ANSWERED, HERMES),
        (Profile(small=True), [*ANSWERED, *ASK], HERMES),
        (Profile(small=True), ANSWERED, HERMES.replace("서울", "부산")),
    ],
    ids=["a-large-model-may-ask-again", "a-new-question", "another-argument"],
)
async def test_a_call_that_is_no_mere_repeat_goes_to_the_client(profile: Profile, messages: Any, second: str) -> None:
    backend = ScriptedBackend([second], profile=profile)
    async with served(application(MemoryHub(backend))) as url, client_of(url) as client:
        answer = await client.chat.completions.create(model="m", messages=messages, tools=[WEATHER])  # type: ignore[list-item]
    assert answer.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_wants_one_call_a_turn_gets_one_whatever_the_model_writes(stream: bool) -> None:
    backend = ScriptedBackend([HERMES + HERMES.replace("서울", "부산"), "맑음"])
    turns = list(ASK)
    async with served(application(MemoryHub(backend))) as url, client_of(url) as client:
        for city in ("서울", "부산"):
            asked = {"model": "m", "messages": turns, "tools": [WEATHER], "parallel_tool_calls": False}
            if stream:
                async with client.chat.completions.stream(**asked) as events:  # type: ignore[arg-type]  # plain dicts
                    choice = (await events.get_final_completion()).choices[0]
            else:
                choice = (await client.chat.completions.create(**asked)).choices[0]  # type: ignore[call-overload]  # plain dicts
            (call,) = choice.message.tool_calls  # type: ignore[misc]  # there are calls
            assert json.loads(call.function.arguments) == {"city": city}  # type: ignore[union-attr]  # of a function
            assert choice.finish_reason == "tool_calls"
            turns.append(choice.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
            turns.append({"role": "tool", "tool_call_id": call.id, "content": "맑음"})
    assert len(backend.requests) == 1


@pytest.mark.parametrize("other", ["another-model", "takes-several", "asked-anew"])
async def test_a_call_that_waits_is_handed_to_nobody_but_the_turn_that_it_waits_for(other: str) -> None:
    """Two conversations of one caller may begin with the same words and the same call (V8)."""
    both, one = HERMES + HERMES.replace("서울", "부산"), HERMES
    backend = ScriptedBackend([both, one, "맑음"])
    first: dict[str, Any] = {"model": "m", "messages": ASK, "tools": [WEATHER], "parallel_tool_calls": False}
    second = first | {"another-model": {"model": "n"}, "takes-several": {"parallel_tool_calls": True}}.get(other, {})
    async with served(application(MemoryHub(backend))) as url, client_of(url) as client:
        await client.chat.completions.create(**first)
        turn = (await client.chat.completions.create(**second)).choices[0].message
        turns = [*ASK, turn, {"role": "tool", "tool_call_id": turn.tool_calls[0].id, "content": "맑음"}]
        answer = await client.chat.completions.create(**second | {"messages": turns})
    assert (answer.choices[0].message.content, answer.choices[0].message.tool_calls) == ("맑음", None)
