"""POST /v1/messages before a scripted model: Anthropic's own types are the reference (issue 18, lines 1 and 3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import aiohttp
import anthropic
import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from anthropic.types.model_info import ModelInfo
from anthropic.types.shared.error_response import ErrorResponse

from naru.errors import ModelError
from naru.messages import (
    ArgumentsDelta,
    BrokenCall,
    CallEnd,
    CallStart,
    ChatEvent,
    Extra,
    Finish,
    ImagePart,
    Reasoning,
    Refusal,
    ResourcePart,
    Text,
    TextPart,
    Usage,
)
from naru.models.scripted import Answer, ScriptedBackend
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import events, post, strictly

WEATHER = {
    "name": "get_weather",
    "description": "Current weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ASK: list[Any] = [{"role": "user", "content": "날씨?"}]
BODY: dict[str, Any] = {"model": "m", "max_tokens": 100, "messages": ASK}
HUB_CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
HUB = [{"type": "url", "url": "https://hub.example/mcp", "name": "hub"}]
CACHED = {
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
PARALLEL: Sequence[ChatEvent] = (
    Reasoning("Two "),
    Reasoning("cities."),
    Text("Let me "),
    Text("look."),
    CallStart(0, "a", "get_weather"),
    ArgumentsDelta(0, '{"city": '),
    CallStart(1, "b", "get_weather"),  # Endpoints mix the pieces of parallel calls.
    ArgumentsDelta(1, '{"city": "Busan"}'),
    ArgumentsDelta(0, '"Seoul"}'),
    CallEnd(0, {"city": "Seoul"}),
    CallEnd(1, {"city": "Busan"}),
    Usage(11, 7),
    Finish("tool_calls"),
)


async def told(
    answers: Sequence[Answer], body: dict[str, Any] | None = None, *, beta: bool = False
) -> tuple[Any, Any, MemoryHub]:
    """Ask once whole and once streamed; return both messages, checked against Anthropic's types, and the hub."""
    hub = MemoryHub(ScriptedBackend([*answers, *answers]))
    asked = BODY | (body or {})
    async with served(application(hub)) as url:
        status, whole = await post(f"{url}/v1/messages", asked)
        stream = await events(f"{url}/v1/messages", asked | {"stream": True})
        async with anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client:
            hub.backend = ScriptedBackend(answers)
            messages: Any = client.beta.messages if beta else client.messages
            async with messages.stream(**asked) as accumulated:
                final = await accumulated.get_final_message()
    assert status == 200, whole
    for name, data in stream:
        assert name == data["type"]
        if name != "ping":
            strictly(BetaRawMessageStreamEvent if beta else RawMessageStreamEvent, data)
    return strictly(BetaMessage if beta else AnthropicMessage, whole), final, hub


def shape(message: Any) -> list[tuple[Any, ...]]:
    return [
        (one.type, one.name, one.input) if hasattr(one, "input") else (one.type, getattr(one, one.type, None))
        for one in message.content
    ]


async def test_thoughts_words_and_parallel_calls_become_blocks_one_after_the_other() -> None:
    whole, streamed, _ = await told([PARALLEL], {"tools": [WEATHER]})
    wanted = [
        ("thinking", "Two cities."),
        ("text", "Let me look."),
        ("tool_use", "get_weather", {"city": "Seoul"}),
        ("tool_use", "get_weather", {"city": "Busan"}),
    ]
    for message in (whole, streamed):
        assert shape(message) == wanted
        assert message.stop_reason == "tool_use"
        assert (message.usage.input_tokens, message.usage.output_tokens) == (11, 7)
    ids = [one.id for one in streamed.content if one.type == "tool_use"]
    assert len(set(ids)) == 2
    assert all(one.startswith("toolu_") for one in ids)


async def test_the_streams_events_come_in_the_documented_order() -> None:
    async with served(application(MemoryHub(ScriptedBackend([PARALLEL])))) as url:
        found = await events(f"{url}/v1/messages", BODY | {"tools": [WEATHER], "stream": True})
    kinds = [name.removeprefix("content_block_") for name, _ in found if name != "ping"]
    assert kinds == [
        *("message_start", "start", "delta", "delta", "delta", "stop"),  # thinking; its signature is the last delta
        *("start", "delta", "delta", "stop"),
        *("start", "delta", "stop"),
        *("start", "delta", "stop", "message_delta", "message_stop"),
    ]
    places = [data["index"] for name, data in found if name == "content_block_start"]
    assert places == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("finish", "stop_reason"), [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")]
)
async def test_the_reason_of_the_end_is_said_in_anthropics_words(finish: str, stop_reason: str) -> None:
    whole, streamed, _ = await told([[Text("Half"), Usage(3, 1), Finish(finish)]])
    assert whole.stop_reason == streamed.stop_reason == stop_reason
    assert shape(whole) == shape(streamed) == [("text", "Half")]


async def test_signatures_of_thoughts_refusals_and_cut_calls_are_told() -> None:
    signed = Extra("message", {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]})
    cut = BrokenCall("", "get_weather", '{"city": "Se', "cut", was_cut=True)
    answer = [Reasoning("Hm."), signed, Refusal("I will not."), cut, Usage(9, 3, CACHED), Finish("length")]
    whole, streamed, _ = await told([answer], {"tools": [WEATHER]})
    for message in (whole, streamed):
        assert message.content[0].signature == "c2ln"
        assert shape(message) == [("thinking", "Hm."), ("text", 'I will not.get_weather({"city": "Se)')]
        assert message.stop_reason == "max_tokens"
        used = message.usage
        assert (used.input_tokens, used.cache_read_input_tokens, used.cache_creation_input_tokens) == (3, 4, 2)
        assert used.output_tokens_details.thinking_tokens == 1


async def test_thoughts_that_are_shown_to_nobody_reach_the_client_block_by_block_and_come_back_as_they_were() -> None:
    """N19: an endpoint that signs thoughts refuses the next turn without all of them."""
    redacted = {"type": "redacted_thinking", "data": "eHh4"}
    shown = {"type": "thinking", "thinking": "Hm.", "signature": "YQ=="}
    omitted = {"type": "thinking", "thinking": "", "signature": "Yg=="}
    sealed = [Extra("message", {"thinking_blocks": [one]}) for one in (redacted, shown, omitted)]
    answer = [sealed[0], Reasoning("Hm."), *sealed[1:], Reasoning("More."), Text("Yes."), Finish("stop")]
    whole, streamed, hub = await told([answer])
    for message in (whole, streamed):
        blocks = [block.to_dict() for block in message.content]
        assert blocks[:3] == [redacted, shown, omitted]
        assert [block["type"] for block in blocks[3:]] == ["thinking", "text"]
        assert blocks[3] == {"type": "thinking", "thinking": "More.", "signature": ""}
    backend = hub.backend = ScriptedBackend(["ok"])
    async with served(application(hub)) as url:
        said = {"role": "assistant", "content": [block.to_dict() for block in whole.content[:3]]}
        status, _ = await post(f"{url}/v1/messages", BODY | {"messages": [*ASK, said, *ASK]})
    assert status == 200
    assert backend.requests[0].messages[1].carried == {"thinking_blocks": [redacted, shown, omitted]}


async def test_the_text_that_ended_an_answer_is_told_where_the_endpoint_says_it() -> None:
    for said, reason in (("END", "stop_sequence"), ("other", "end_turn"), (17, "end_turn")):
        stopped = Extra("choice", {"stop_reason": said})
        whole, streamed, _ = await told([[Text("Half"), stopped, Finish("stop")]], {"stop_sequences": ["END"]})
        for message in (whole, streamed):
            assert message.stop_reason == reason
            assert message.stop_sequence == ("END" if reason == "stop_sequence" else None)


@pytest.mark.parametrize(
    ("asked", "effort"),
    [
        ({"thinking": {"type": "adaptive"}}, "high"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, "low"),
        ({"thinking": {"type": "disabled"}}, "none"),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}}, "none"),
    ],
    ids=["adaptive", "adaptive with an effort", "disabled", "disabled with an effort"],
)
async def test_thoughts_are_asked_for_in_every_way_that_the_api_has(asked: dict[str, Any], effort: str) -> None:
    backend = ScriptedBackend(["ok"])
    async with served(application(MemoryHub(backend))) as url:
        status, answer = await post(f"{url}/v1/messages", BODY | asked)
    assert status == 200, answer
    assert backend.requests[0].extra.get("reasoning_effort") == effort


async def test_a_refusal_is_the_reason_of_the_end() -> None:
    whole, streamed, _ = await told([[Refusal("I will not."), Usage(9, 3), Finish("stop")]])
    assert shape(whole) == shape(streamed) == [("text", "I will not.")]
    assert whole.stop_reason == streamed.stop_reason == "refusal"


async def test_the_packages_tool_runner_goes_on_with_the_whole_conversation() -> None:
    """It asks the server to hold the conversation, and sends all of it where a server says that it does not (N19)."""

    @anthropic.beta_async_tool
    async def weather(city: str) -> str:
        """Tell the weather."""
        return f"Sun in {city}."

    called = [CallStart(0, "", "weather"), CallEnd(0, {"city": "Seoul"}), Finish("tool_calls")]
    hub = MemoryHub(ScriptedBackend([called, "It is sunny."]))
    async with (
        served(application(hub)) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client,
    ):
        runner = client.beta.messages.tool_runner(**BODY, tools=[weather])
        last = await runner.until_done()
        with pytest.raises(anthropic.BadRequestError, match="thread is not possible here: send the whole conversation"):
            await client.beta.messages.create(**BODY, thread={"type": "create"})
    assert shape(last) == [("text", "It is sunny.")]
    assert [(turn.role, turn.text) for turn in hub.backend.requests[1].messages[-2:]] == [  # type: ignore[attr-defined]
        ("assistant", ""),
        ("tool", "Sun in Seoul."),
    ]


@pytest.mark.parametrize(
    ("content", "told_of"),
    [
        ("no such city", "Error: no such city"),
        ("Error 5: no room", "Error 5: no room"),
        ([{"type": "text", "text": "no such city"}], "Error:\nno such city"),
        (None, "Error:"),
    ],
)
async def test_a_tool_that_failed_is_told_to_the_model_as_that(content: Any, told_of: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "is_error": True}
    turns = [
        *ASK,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}]},
        {"role": "user", "content": [result | ({"content": content} if content else {})]},
    ]
    _, _, hub = await told(["I see."], {"messages": turns})
    assert hub.backend.requests[0].messages[-1].text == told_of  # type: ignore[attr-defined]


async def test_a_tool_that_the_model_writes_into_its_text_is_a_tool_use() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "서울"}}\n</tool_call>'
    whole, streamed, _ = await told([text], {"tools": [WEATHER]})
    assert shape(whole) == shape(streamed) == [("tool_use", "get_weather", {"city": "서울"})]


@pytest.mark.parametrize("tools", [[], [{"type": "mcp_toolset", "mcp_server_name": "hub"}]], ids=["alone", "toolset"])
async def test_servers_named_in_anthropics_form_run_here_and_their_calls_are_shown(tools: list[Any]) -> None:
    body = {"mcp_servers": HUB, "tools": tools, "betas": ["mcp-client-2025-11-20"]}
    body = body if tools else {key: value for key, value in body.items() if key != "tools"}
    hub = MemoryHub(ScriptedBackend([HUB_CALL, "It said hi."]))
    async with served(application(hub)) as url:
        _, whole = await post(f"{url}/v1/messages", BODY | body)
        hub.backend = ScriptedBackend([HUB_CALL, "It said hi."])
        async with (
            anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client,
            client.beta.messages.stream(**(BODY | body)) as stream,
        ):
            streamed = await stream.get_final_message()
    for message in (strictly(BetaMessage, whole), streamed):
        called, gave, said = message.content
        assert (called.type, called.name, called.server_name, called.input) == (
            *("mcp_tool_use", "echo", "hub"),
            {"text": "hi"},
        )
        assert (gave.type, gave.tool_use_id, gave.is_error) == ("mcp_tool_result", called.id, False)
        assert [one.text for one in gave.content] == ["echo: hi"]
        assert said.text == "It said hi."
        assert message.stop_reason == "end_turn"
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})] * 2


@pytest.mark.parametrize(
    "body",
    [
        {"mcp_servers": [HUB[0] | {"tool_configuration": {"allowed_tools": ["other"]}}]},
        {
            "mcp_servers": HUB,
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "hub", "configs": {"echo": {"enabled": False}}}],
        },
        {
            "mcp_servers": HUB,
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "hub", "default_config": {"enabled": False}}],
        },
    ],
    ids=["allowed_tools", "configs", "default_config"],
)
async def test_a_tool_that_the_toolset_leaves_out_is_neither_offered_nor_run(body: dict[str, Any]) -> None:
    hub = MemoryHub(ScriptedBackend([HUB_CALL, "No."], repeat_last=True))
    async with served(application(hub)) as url:
        await post(f"{url}/v1/messages", BODY | body)
    assert hub.toolset.called == []
    assert not hub.backend.requests[0].tools  # type: ignore[attr-defined]


async def test_hub_tools_asked_for_by_the_models_name_run_without_blocks_that_plain_clients_do_not_know() -> None:
    whole, streamed, hub = await told([HUB_CALL, "It said hi."], {"model": "m+tools"})
    assert shape(whole) == shape(streamed) == [("text", "It said hi.")]
    assert len(hub.toolset.called) == 3
    assert whole.model == "m+tools"


async def test_a_history_of_every_block_reaches_the_model_in_order() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    history: list[Any] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
                {"type": "image", "source": picture},
                {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
                {
                    "type": "document",
                    "title": "Notes",
                    "source": {"type": "text", "media_type": "text/plain", "data": "N"},
                },
                {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "C"}]}},
                {"type": "search_result", "source": "s", "title": "T", "content": [{"type": "text", "text": "S"}]},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "eHh4"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Seoul"}},
                {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Busan"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "image", "source": picture}]},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny", "is_error": False},
                {"type": "text", "text": "And?"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "mcp_tool_use", "id": "m1", "name": "echo", "server_name": "hub", "input": {"text": "hi"}},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "m1",
                    "is_error": False,
                    "content": [{"type": "text", "text": "hi"}],
                },
                {"type": "text", "text": "Done."},
            ],
        },
        {"role": "user", "content": "Thanks."},
    ]
    backend = ScriptedBackend(["ok"])
    system = [
        {"type": "text", "text": "Be"},
        {"type": "text", "text": "brief.", "cache_control": {"type": "ephemeral"}},
    ]
    async with served(application(MemoryHub(backend))) as url:
        status, answer = await post(
            f"{url}/v1/messages", BODY | {"messages": history, "system": system, "tools": [WEATHER]}
        )
    assert status == 200, answer
    turns = backend.requests[0].messages
    assert [turn.role for turn in turns] == [
        *("system", "user", "assistant", "tool", "tool", "user"),
        *("assistant", "tool", "assistant", "user"),
    ]
    assert turns[0].text == "Be\nbrief."
    first = turns[1].content
    assert first[0] == TextPart("Look.")
    assert [type(part) for part in first[1:]] == [ImagePart, ImagePart, ResourcePart, ResourcePart, ResourcePart]  # type: ignore[union-attr]
    assert [part.text for part in first[3:]] == ["N", "C", "T\nS"]  # type: ignore[union-attr]
    assert turns[2].reasoning == "Hm."
    assert [block["type"] for block in turns[2].carried["thinking_blocks"]] == ["thinking", "redacted_thinking"]
    assert [call.arguments["city"] for call in turns[2].tool_calls] == ["Seoul", "Busan"]
    results = {turn.tool_call_id: turn for turn in turns[3:5]}
    assert results["toolu_1"].text == "Sunny"
    assert any(isinstance(part, ImagePart) for part in results["toolu_2"].content)
    assert [call.name for call in turns[6].tool_calls] == ["hub__echo"]
    assert turns[8].text == "Done."


async def test_what_a_request_sets_goes_to_the_wire_by_the_names_that_all_wires_know() -> None:
    backend = ScriptedBackend(["ok"])
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = {
        "temperature": 0.2,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": ["END"],
        "metadata": {"user_id": "u"},
        "service_tier": "auto",
        "thinking": {"type": "enabled", "budget_tokens": 20_000},
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
        "tools": [WEATHER],
        "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
        "context_management": {"edits": []},
    }
    async with served(application(MemoryHub(backend))) as url:
        status, answer = await post(
            f"{url}/v1/messages?beta=true", BODY | body, {"anthropic-beta": "a-2025-01-01,b", "anthropic-version": "x"}
        )
    assert status == 200, answer
    request = backend.requests[0]
    assert (request.temperature, request.max_tokens, list(request.stop)) == (0.2, 100, ["END"])
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.extra["response_format"]["json_schema"]["schema"] == schema
    assert {key: request.extra.get(key) for key in ("top_p", "top_k", "reasoning_effort", "parallel_tool_calls")} == {
        "top_p": 0.9,
        "top_k": 5,
        "reasoning_effort": "high",
        "parallel_tool_calls": False,
    }
    assert not {"metadata", "thinking", "context_management", "service_tier"} & request.extra.keys()


async def test_tools_that_anthropics_servers_run_are_refused_by_name_and_those_of_the_client_are_offered() -> None:
    backend = ScriptedBackend(["ok"])
    async with served(application(MemoryHub(backend))) as url:
        status, answer = await post(
            f"{url}/v1/messages", BODY | {"tools": [{"type": "web_search_20260318", "name": "web_search"}]}
        )
        assert status == 400
        assert "'web_search_20260318'" in strictly(ErrorResponse, answer).error.message
        own = [{"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728", "name": "edit"}]
        own.append({"type": "memory_20250818", "name": "memory"})
        status, _ = await post(f"{url}/v1/messages", BODY | {"tools": own})
    assert status == 200
    assert [tool.name for tool in backend.requests[0].tools] == ["bash", "edit", "memory"]
    assert "command" in backend.requests[0].tools[0].input_schema["properties"]


@pytest.mark.parametrize(
    ("body", "status", "kind", "says"),
    [
        ({"messages": []}, 400, "invalid_request_error", "at least one turn"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, 400, "invalid_request_error", "messages[0].role"),
        ({"max_tokens": "many"}, 400, "invalid_request_error", "max_tokens"),
        ({"mcp_servers": [{"type": "url", "name": "none", "url": "u"}]}, 404, "not_found_error", "'none'"),
        (
            {"mcp_servers": HUB, "tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]},
            400,
            "invalid_request_error",
            "'x'",
        ),
        ({"api_base": "http://elsewhere"}, 400, "invalid_request_error", "api_base"),
    ],
)
async def test_errors_have_anthropics_form_and_the_client_shows_their_reason(
    body: dict[str, Any], status: int, kind: str, says: str
) -> None:
    async with served(application(MemoryHub(ScriptedBackend(["ok"])))) as url:
        got, answer = await post(f"{url}/v1/messages", BODY | body)
    error = strictly(ErrorResponse, answer)
    assert (got, error.type, error.error.type) == (status, "error", kind)
    assert says in error.error.message


async def test_an_endpoint_that_fails_is_an_error_before_and_within_a_stream() -> None:
    failing = [ModelError("No room.", status=429, retryable=True, retry_after_seconds=2)]
    async with (
        served(application(MemoryHub(ScriptedBackend(failing)))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client,
    ):
        with pytest.raises(anthropic.RateLimitError, match="No room"):
            await client.messages.create(**BODY)

    class Breaking(ScriptedBackend):
        async def stream(self, request: Any) -> Any:
            yield Text("Half")
            raise ModelError("The line broke.")

    async with (
        served(application(MemoryHub(Breaking([])))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client,
    ):
        words: list[str] = []

        async def listen() -> None:
            async with client.messages.stream(**BODY) as stream:
                async for text in stream.text_stream:
                    words.append(text)  # noqa: PERF401 - what came before the break shall be seen

        with pytest.raises(anthropic.APIStatusError, match="The line broke"):
            await listen()
    assert words == ["Half"]


async def test_tokens_are_counted_with_the_tools_of_the_servers_that_are_named() -> None:
    async with served(application(MemoryHub(ScriptedBackend([])))) as url:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client:
            few = await client.messages.count_tokens(model="m", messages=ASK)
            more = await client.messages.count_tokens(model="m", messages=ASK, tools=[WEATHER], system="Be brief.")  # type: ignore[list-item]
        _, hubs = await post(f"{url}/v1/messages/count_tokens", {"model": "m", "messages": ASK, "mcp_servers": HUB})
        status, error = await post(f"{url}/v1/messages/count_tokens", {"model": "m"})
    assert 0 < few.input_tokens < more.input_tokens
    assert few.input_tokens < hubs["input_tokens"]
    assert (status, strictly(ErrorResponse, error).error.type) == (400, "invalid_request_error")


async def test_models_are_listed_by_pages_both_ways() -> None:
    async with (
        served(application(MemoryHub(ScriptedBackend([], model="m")))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client,
    ):
        whole = [model.id async for model in client.models.list()]
        first = await client.models.list(limit=1)
        second = await client.models.list(limit=1, after_id=whole[0])
        back = await client.models.list(limit=1, before_id=whole[1])
        paged = [model.id async for model in client.models.list(limit=1)]
        for wrong in ({"limit": 0}, {"limit": 1001}, {"after_id": "none"}):
            with pytest.raises(anthropic.BadRequestError, match=next(iter(wrong))):
                await client.models.list(**wrong)  # type: ignore[arg-type]
    assert ([one.id for one in first.data], first.has_more) == (whole[:1], True)
    assert [one.id for one in second.data] == whole[1:2]
    assert ([one.id for one in back.data], back.has_more) == (whole[:1], False)
    assert paged == whole


async def test_the_person_that_a_request_is_for_is_told_to_the_endpoint() -> None:
    _, _, hub = await told(["ok"], {"metadata": {"user_id": "u-1"}})
    assert hub.backend.requests[-1].extra["user"] == "u-1"  # type: ignore[attr-defined]


async def test_models_are_listed_in_the_form_that_the_asker_reads() -> None:
    async with served(application(MemoryHub(ScriptedBackend([], model="m")))) as url:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="made-up", max_retries=0) as client:
            listed = [model async for model in client.models.list()]
            one = await client.models.retrieve("m+tools")
            with pytest.raises(anthropic.NotFoundError, match="no model"):
                await client.models.retrieve("none")
        async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/models") as response:
            openais = json.loads(await response.text())
    assert [model.id for model in listed] == [row["id"] for row in openais["data"]]
    assert openais["object"] == "list"
    strictly(ModelInfo, one.to_dict())


async def test_what_a_clients_search_of_tools_found_is_told_by_name() -> None:
    found = [{"type": "tool_reference", "tool_name": "get_weather"}, {"type": "tool_reference", "tool_name": "mail"}]
    searched = {"type": "tool_use", "id": "t", "name": "find_tools", "input": {}}
    turns = [*ASK, {"role": "assistant", "content": [searched]}]
    turns.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": found}]})
    _, _, hub = await told(["Sunny."], {"messages": turns})
    assert hub.backend.requests[0].messages[-1].text == "[Tool: get_weather]\n[Tool: mail]"  # type: ignore[attr-defined]
