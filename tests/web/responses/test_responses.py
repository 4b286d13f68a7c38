"""POST /v1/responses before a scripted model: the `openai` package's types are the reference (issue 18, line 2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from openai.types.responses import Response as ResponseObject
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_item import ResponseItem

from naru.config import ChatSettings, HubSettings, Settings
from naru.errors import ModelError
from naru.messages import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    ChatEvent,
    Extra,
    Finish,
    ImagePart,
    Reasoning,
    Refusal,
    Text,
    Usage,
)
from naru.models.scripted import Answer, ScriptedBackend
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import events, post, strictly

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"type": "function", "name": "get_weather", "description": "W", "parameters": PARAMETERS, "strict": False}
BODY: dict[str, Any] = {"model": "m", "input": "날씨?"}
HUB_CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
HUB = {"type": "mcp", "server_label": "hub", "server_url": "https://hub.example/mcp", "require_approval": "never"}
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
    Usage(11, 7, {"prompt_tokens_details": {"cached_tokens": 4}}),
    Finish("tool_calls"),
)


def memory_hub(tmp_path: Path, answers: Any, **settings: Any) -> MemoryHub:
    chosen = Settings(hub=HubSettings(data_dir=tmp_path), chat=ChatSettings(**settings))
    return MemoryHub(ScriptedBackend(answers), settings=chosen)


async def told(tmp_path: Path, answers: Sequence[Answer], body: dict[str, Any] | None = None) -> list[Any]:
    """Ask once whole and once streamed; return both responses, checked against OpenAI's types."""
    asked = BODY | (body or {})
    async with served(application(memory_hub(tmp_path, [*answers, *answers]))) as url:
        status, whole = await post(f"{url}/v1/responses", asked)
        stream = await events(f"{url}/v1/responses", asked | {"stream": True})
    assert status == 200, whole
    for name, data in stream:
        assert name == data["type"]
        strictly(ResponseStreamEvent, data)
    assert [data["sequence_number"] for _, data in stream] == list(range(len(stream)))
    _expect_whole(stream)
    return [strictly(ResponseObject, one) for one in (whole, stream[-1][1]["response"])]


def _expect_whole(stream: list[tuple[str, Any]]) -> None:
    """Every item is added once and done once, and what is done is what the response holds."""
    added = [data["output_index"] for name, data in stream if name == "response.output_item.added"]
    done = {data["output_index"]: data["item"] for name, data in stream if name == "response.output_item.done"}
    output = stream[-1][1]["response"]["output"]
    assert added == list(range(len(output)))
    assert [done[position] for position in added] == output
    for kind, key in (("output_text", "text"), ("function_call_arguments", "arguments"), ("reasoning_text", "text")):
        joined: dict[str, str] = {}
        for name, data in stream:
            if name == f"response.{kind}.delta":
                joined[data["item_id"]] = joined.get(data["item_id"], "") + data["delta"]
        assert joined == {data["item_id"]: data[key] for name, data in stream if name == f"response.{kind}.done"}


async def test_thoughts_words_and_parallel_calls_become_items(tmp_path: Path) -> None:
    for response in await told(tmp_path, [PARALLEL], {"tools": [WEATHER]}):
        thought, said, first, second = response.output
        assert thought.content[0].text == "Two cities."
        assert said.content[0].text == "Let me look."
        assert [(one.name, one.arguments) for one in (first, second)] == [
            ("get_weather", '{"city": "Seoul"}'),
            ("get_weather", '{"city": "Busan"}'),
        ]
        assert first.call_id != second.call_id
        assert response.status == "completed"
        usage = response.usage
        assert (usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens) == (11, 7, 4)


async def test_thoughts_are_a_summary_where_one_was_asked_for_and_encrypted_ones_pass(tmp_path: Path) -> None:
    sealed = Extra("message", {"reasoning_details": [{"type": "reasoning.encrypted", "data": "eHh4"}]})
    answer = [Reasoning("Hm."), sealed, Text("Yes."), Usage(1, 1), Finish("stop")]
    for response in await told(tmp_path, [answer], {"reasoning": {"effort": "low", "summary": "auto"}}):
        assert response.output[0].summary[0].text == "Hm."
        assert response.output[0].encrypted_content == "eHh4"
        assert response.output_text == "Yes."


async def test_sealed_thoughts_are_items_of_their_own_and_go_back_as_their_endpoint_gave_them(tmp_path: Path) -> None:
    """N19: OpenAI refuses a seal that comes back under another id."""
    details: list[dict[str, Any]] = [
        {"type": "reasoning.encrypted", "data": "YQ==", "id": "rs_theirs", "format": "openai-responses-v1"},
        {"type": "reasoning.encrypted", "data": "Yg==", "id": "rs_second"},
    ]
    seals = [Extra("message", {"reasoning_details": [one]}) for one in details]
    for sealed in (
        [Reasoning("Hm."), seals[0], Reasoning("More."), seals[1]],
        [
            Reasoning("Hm."),
            Extra("message", {"reasoning_details": details}),
        ],
    ):
        for response in await told(tmp_path, [[*sealed, Text("Yes."), Usage(1, 1), Finish("stop")]]):
            assert [item.type for item in response.output] == ["reasoning", "reasoning", "message"]
            hub = memory_hub(tmp_path, ["ok"])
            items = [item.to_dict() for item in response.output]
            async with served(application(hub)) as url:
                asked = [{"role": "user", "content": "a"}, *items, {"role": "user", "content": "b"}]
                status, answer = await post(f"{url}/v1/responses", BODY | {"input": asked})
            assert status == 200, answer
            said = hub.backend.requests[0].messages[1]  # type: ignore[attr-defined]
            assert said.carried == {"reasoning_details": details}
            assert said.reasoning.strip() == ("Hm.\nMore." if len(sealed) > 2 else "Hm.")


async def test_the_streams_events_come_in_the_documented_order(tmp_path: Path) -> None:
    answer = [Text("A"), Text("b"), CallStart(0, "x", "get_weather"), CallEnd(0, {"city": "S"}), Finish("tool_calls")]
    async with served(application(memory_hub(tmp_path, [answer]))) as url:
        found = await events(f"{url}/v1/responses", BODY | {"tools": [WEATHER], "stream": True})
    assert [name.removeprefix("response.") for name, _ in found] == [
        *("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.delta", "output_text.done", "content_part.done", "output_item.done", "output_item.added"),
        *("function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"),
    ]


@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
async def test_an_answer_that_was_cut_is_incomplete(tmp_path: Path, finish: str, reason: str) -> None:
    for response in await told(tmp_path, [[Text("Half"), Usage(3, 1), Finish(finish)]]):
        assert (response.status, response.incomplete_details.reason) == ("incomplete", reason)
        assert response.output_text == "Half"


async def test_free_form_tools_the_clients_shell_and_namespaces_are_called_in_their_own_items(tmp_path: Path) -> None:
    calls = [
        *(CallStart(0, "a", "apply_patch"), CallEnd(0, {"input": "*** Begin"})),
        *(CallStart(1, "b", "local_shell"), CallEnd(1, {"command": ["ls", "-l"]})),
        *(CallStart(2, "c", "mcp__files__read"), CallEnd(2, {"city": "S"}), Finish("tool_calls")),
    ]
    tools = [
        {"type": "custom", "name": "apply_patch", "description": "P", "format": {"type": "text"}},
        {"type": "local_shell"},
        {"type": "namespace", "name": "mcp__files__", "description": "F", "tools": [{**WEATHER, "name": "read"}]},
    ]
    for response in await told(tmp_path, [calls], {"tools": tools}):
        patch, shell, read = response.output
        assert (patch.type, patch.name, patch.input) == ("custom_tool_call", "apply_patch", "*** Begin")
        assert (shell.type, shell.action.command) == ("local_shell_call", ["ls", "-l"])
        assert (read.type, read.namespace, read.name) == ("function_call", "mcp__files__", "read")


async def test_mcp_tools_run_here_and_are_told_as_items(tmp_path: Path) -> None:
    for response in await told(tmp_path, [HUB_CALL, "It said hi."], {"tools": [HUB]}):
        listed, called, said = response.output
        assert (listed.type, [tool.name for tool in listed.tools]) == ("mcp_list_tools", ["echo"])
        assert isinstance(listed.tools[0].annotations, dict), "the AI SDK takes no null"
        assert (called.type, called.server_label, called.name, called.output) == ("mcp_call", "hub", "echo", "echo: hi")
        assert called.status == "completed"
        assert said.content[0].text == "It said hi."


async def test_no_more_tools_of_the_hub_run_than_a_request_allows(tmp_path: Path) -> None:
    again = HUB_CALL.replace('"hi"', '"again"')
    hub = memory_hub(
        tmp_path, lambda request: (again if hub.toolset.called else HUB_CALL) if request.tools else "So far."
    )
    async with served(application(hub)) as url:
        _, response = await post(f"{url}/v1/responses", {**BODY, "tools": [HUB], "max_tool_calls": 1})
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]
    assert response["output"][-1]["content"][0]["text"] == "So far."


async def test_a_persons_yes_is_asked_for_through_the_client_and_then_the_call_runs_once(tmp_path: Path) -> None:
    asks = {key: value for key, value in HUB.items() if key != "require_approval"}
    [request, *_] = [
        next(item for item in response.output if item.type == "mcp_approval_request")
        for response in await told(tmp_path, [HUB_CALL], {"tools": [asks]})
    ]
    assert (request.server_label, request.name, request.arguments) == ("hub", "echo", '{"text":"hi"}')
    hub = memory_hub(tmp_path, [HUB_CALL, "It said hi.", "Then not."])
    async with served(application(hub)) as url:
        _, first = await post(f"{url}/v1/responses", BODY | {"tools": [asks]})
        assert hub.toolset.called == []
        wanted = first["output"][-1]["id"]
        answer = {"type": "mcp_approval_response", "approval_request_id": wanted, "approve": True}
        body = {"previous_response_id": first["id"], "tools": [asks], "model": "m"}
        status, second = await post(f"{url}/v1/responses", body | {"input": [answer]})
        assert status == 200, second
        called = next(item for item in second["output"] if item["type"] == "mcp_call")
        assert (called["approval_request_id"], called["output"]) == (wanted, "echo: hi")
        assert strictly(ResponseObject, second).output_text == "It said hi."
        await post(f"{url}/v1/responses", body | {"input": [answer | {"approve": False, "reason": "Not now."}]})
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]
    assert "Not now." in hub.backend.requests[-1].messages[-1].text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "limits",
    [{"allowed_tools": ["other"]}, {"allowed_tools": {"read_only": True}}],
    ids=["named", "read-only"],
)
async def test_a_tool_that_is_not_allowed_is_not_offered(tmp_path: Path, limits: dict[str, Any]) -> None:
    hub = memory_hub(tmp_path, [HUB_CALL, "No."])
    async with served(application(hub)) as url:
        await post(f"{url}/v1/responses", BODY | {"tools": [HUB | limits]})
    assert hub.toolset.called == []


async def test_a_conversation_goes_on_from_what_was_kept_and_can_be_asked_for_and_deleted(tmp_path: Path) -> None:
    hub = memory_hub(tmp_path, [[Text("Blue."), Usage(1, 1), Finish("stop")], "Because.", "Gone?"])
    async with (
        served(application(hub)) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up", max_retries=0) as client,
    ):
        first = await client.responses.create(model="m", input="Which colour?", metadata={"a": "b"})
        second = await client.responses.create(model="m", input="Why?", previous_response_id=first.id)
        assert [turn.text for turn in hub.backend.requests[1].messages] == ["Which colour?", "Blue.", "Why?"]  # type: ignore[attr-defined]
        again = await client.responses.retrieve(first.id)
        assert (again.output_text, again.metadata) == ("Blue.", {"a": "b"})
        items = [item async for item in client.responses.input_items.list(second.id)]
        assert [strictly(ResponseItem, item.to_dict()).content[0].text for item in items] == ["Why?"]
        with pytest.raises(openai.BadRequestError, match="completed"):
            await client.responses.cancel(first.id)
        await client.responses.delete(first.id)
        with pytest.raises(openai.NotFoundError, match="is kept here"):
            await client.responses.retrieve(first.id)
        with pytest.raises(openai.NotFoundError, match="is kept here"):
            await client.responses.create(model="m", input="x", previous_response_id=first.id)
        unkept = await client.responses.create(model="m", input="x", store=False)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(unkept.id)


async def test_items_of_kept_answers_can_be_sent_by_their_ids_alone(tmp_path: Path) -> None:
    """As the AI SDK does: no previous response is named, and each item of the model is a reference (N18)."""
    hub = memory_hub(tmp_path, [PARALLEL, "Sunny.", "Bye."])
    async with (
        served(application(hub)) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up", max_retries=0) as client,
    ):
        first = await client.responses.create(model="m", input="날씨?", tools=[WEATHER])  # type: ignore[list-item]
        calls = [item for item in first.output if item.type == "function_call"]
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": "sun"} for call in calls]
        turns: list[Any] = [{"role": "user", "content": "날씨?"}, *map(_reference, first.output), *results]
        second = await client.responses.create(model="m", input=turns, tools=[WEATHER])  # type: ignore[list-item]
        given = [item.id async for item in client.responses.input_items.list(first.id)]
        turns = [{"type": "item_reference", "id": given[0]}, *map(_reference, second.output), *turns[:1]]
        await client.responses.create(model="m", input=turns)
        await client.responses.delete(second.id)
        with pytest.raises(openai.BadRequestError, match=r"input\[1\] refers to .* Send the item itself"):
            await client.responses.create(model="m", input=turns)
    told, asked, *answered = hub.backend.requests[1].messages[0:4]  # type: ignore[attr-defined]
    assert (told.text, asked.reasoning, asked.text) == ("날씨?", "Two cities.", "Let me look.")
    assert [call.arguments for call in asked.tool_calls] == [{"city": "Seoul"}, {"city": "Busan"}]
    assert [(turn.role, turn.tool_call_id) for turn in answered] == [("tool", call.id) for call in asked.tool_calls]
    assert [turn.text for turn in hub.backend.requests[2].messages] == ["날씨?", "Sunny.", "날씨?"]  # type: ignore[attr-defined]


def _reference(item: Any) -> dict[str, str]:
    return {"type": "item_reference", "id": item.id}


async def test_items_of_every_kind_reach_the_model_as_turns(tmp_path: Path) -> None:
    items: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look."},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "low"},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "x",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Seoul"}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "***"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "Sunny"}]},
        {"type": "mcp_list_tools", "id": "l", "server_label": "hub", "tools": []},
        {"type": "mcp_call", "id": "m", "server_label": "hub", "name": "echo", "arguments": "{}", "output": "echo"},
        {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "c3", "output": "files"},
        {"role": "user", "content": "And?"},
    ]
    hub = memory_hub(tmp_path, ["ok"])
    async with served(application(hub)) as url:
        status, answer = await post(f"{url}/v1/responses", BODY | {"input": items, "instructions": "Be kind."})
    assert status == 200, answer
    turns = hub.backend.requests[0].messages  # type: ignore[attr-defined]
    assert [turn.role for turn in turns] == [
        *("system", "system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool", "user")
    ]
    assert any(isinstance(part, ImagePart) and part.detail == "low" for part in turns[2].content)
    said = turns[3]
    assert (said.text, said.reasoning, [call.name for call in said.tool_calls]) == (
        *("I look.", "Hm."),
        ["get_weather", "apply_patch"],
    )
    assert said.carried["reasoning_details"][0]["data"] == "x"
    assert {turn.tool_call_id: turn.text for turn in turns[4:6]} == {"c1": "Sunny", "c2": "done"}
    assert [turns[place].tool_calls[0].name for place in (6, 8)] == ["hub__echo", "local_shell"]


async def test_what_a_request_sets_goes_to_the_wire_by_the_names_that_all_wires_know(tmp_path: Path) -> None:
    hub = memory_hub(tmp_path, ["ok"])
    form = {"type": "json_schema", "name": "n", "schema": PARAMETERS, "strict": True}
    body = {
        "temperature": 0.2,
        "top_p": 0.9,
        "max_output_tokens": 50,
        "truncation": "auto",
        "text": {"format": form, "verbosity": "low"},
        "reasoning": {"effort": "high"},
        "tools": [WEATHER, {"type": "web_search"}],
        "tool_choice": {"type": "function", "name": "get_weather"},
        "parallel_tool_calls": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k",
    }
    async with served(application(hub)) as url:
        status, answer = await post(f"{url}/v1/responses", BODY | body)
    assert status == 200, answer
    response = strictly(ResponseObject, answer)
    assert (response.max_output_tokens, response.text.format.type, response.tools[0].name) == (
        *(50, "json_schema"),
        "get_weather",
    )
    request = hub.backend.requests[0]  # type: ignore[attr-defined]
    assert (request.temperature, request.max_tokens) == (0.2, 50)
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.extra["response_format"]["json_schema"] == {"name": "n", "schema": PARAMETERS, "strict": True}
    assert (request.extra["reasoning_effort"], request.extra["parallel_tool_calls"]) == ("high", False)
    assert any("web_search" in note and "servers or models" in note for note in request.notes)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"input": None}, 400, "input"),
        ({"input": [{"type": "computer_call"}]}, 400, "input[0]"),
        ({"input": [{"role": "user", "content": "x"}, {"content": "Be kind."}]}, 400, "input[1] has no role"),
        ({"background": True, "store": False}, 400, "store"),
        ({"conversation": "conv_1"}, 404, "conv_1"),
        ({"conversation": "conv_1", "previous_response_id": "resp_1"}, 400, "exclude each other"),
        ({"previous_response_id": "resp_none"}, 404, "resp_none"),
        ({"tools": [{**HUB, "server_label": "none"}]}, 404, "none"),
        ({"tools": [{"type": "mcp"}]}, 400, "server_label"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, 400, "input[0]"),
        ({"instructions": 5}, 400, "instructions"),
    ],
)
async def test_what_cannot_be_taken_is_refused_by_its_place(
    tmp_path: Path, body: dict[str, Any], status: int, says: str
) -> None:
    async with served(application(memory_hub(tmp_path, ["ok"]))) as url:
        got, answer = await post(f"{url}/v1/responses", BODY | body)
    assert got == status, answer
    assert says in answer["error"]["message"]


async def test_an_endpoint_that_fails_is_an_error_before_and_within_a_stream(tmp_path: Path) -> None:
    class Breaking(ScriptedBackend):
        async def stream(self, request: Any) -> Any:
            yield Text("Half")
            raise ModelError("The line broke.", status=429)

    hub = memory_hub(tmp_path, [ModelError("No room.", status=429)])
    async with served(application(hub)) as url:
        status, answer = await post(f"{url}/v1/responses", BODY)
        assert (status, "No room" in answer["error"]["message"]) == (429, True)
        hub.backend = Breaking([])
        found = await events(f"{url}/v1/responses", BODY | {"stream": True})
    name, last = found[-1]
    assert name == "response.failed"
    failed = strictly(ResponseStreamEvent, last).response
    assert (failed.status, failed.error.code, failed.error.message) == (
        *("failed", "rate_limit_exceeded"),
        "The line broke.",
    )


async def test_a_chat_completion_takes_mcp_tools_too_and_says_that_it_cannot_ask(tmp_path: Path) -> None:
    ask = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    hub = memory_hub(tmp_path, [HUB_CALL, "It said hi."])
    async with served(application(hub)) as url:
        status, answer = await post(f"{url}/v1/chat/completions", ask | {"tools": [HUB]})
        assert status == 200, answer
        assert answer["choices"][0]["message"]["content"] == "It said hi."
        assert hub.toolset.called == [("hub__echo", {"text": "hi"})]
        status, answer = await post(
            f"{url}/v1/chat/completions", ask | {"tools": [HUB | {"require_approval": "always"}]}
        )
    assert status == 400
    assert "/v1/responses" in answer["error"]["message"]


async def test_nothing_is_kept_where_the_setting_says_so(tmp_path: Path) -> None:
    async with (
        served(application(memory_hub(tmp_path, ["ok"], keep_responses_days=0))) as url,
        aiohttp.ClientSession() as session,
    ):
        _, answer = await post(f"{url}/v1/responses", BODY)
        async with session.get(f"{url}/v1/responses/{answer['id']}") as response:
            assert response.status == 404


async def test_a_place_is_told_as_the_client_knows_it(tmp_path: Path) -> None:
    """Whatever stands before the item in the model's turns, and however many items made one turn."""
    picture = {"role": "user", "content": [{"type": "input_text", "text": "?"}, {"type": "input_image"}]}
    said = [{"role": "assistant", "content": "a"}, {"type": "function_call", "call_id": "c", "name": "f"}]
    async with served(application(memory_hub(tmp_path, ["ok"]))) as url:
        _, kept = await post(f"{url}/v1/responses", BODY)
        for before, place in (([], 0), (said, 2), ([{"role": "user", "content": "x"}, *said], 3)):
            for more in ({}, {"instructions": "Be kind."}, {"previous_response_id": kept["id"]}):
                status, answer = await post(f"{url}/v1/responses", BODY | more | {"input": [*before, picture]})
                told = f"input[{place}].content[1]"
                assert (status, answer["error"]["param"]) == (400, told)
                assert answer["error"]["message"].startswith(f"{told}.image_url has no url")
        status, answer = await post(f"{url}/v1/responses", BODY | {"input": [{"role": "nobody", "content": "x"}]})
    assert (status, answer["error"]["message"]) == (400, "input[0].role 'nobody' is not known.")


async def test_log_probabilities_and_refusals_are_told_in_their_own_form(tmp_path: Path) -> None:
    """N19: they travel whole."""
    token = {"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}
    answer = [Text("Hi"), Extra("choice", {"logprobs": {"content": [token]}}), Usage(1, 1), Finish("stop")]
    for response in await told(tmp_path, [answer]):
        (part,) = response.output[0].content
        assert [one.model_dump() for one in part.logprobs] == [token]
    for response in await told(tmp_path, [[Refusal("I will "), Refusal("not."), Usage(1, 1), Finish("stop")]]):
        assert [part.to_dict() for part in response.output[0].content] == [
            {"type": "refusal", "refusal": "I will not."}
        ]


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"include": ["message.output_text.logprobs"]}, {"logprobs": True}),
        ({"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}),
        ({"include": [], "top_logprobs": 0}, {}),
    ],
    ids=["included", "alternatives", "neither"],
)
async def test_log_probabilities_are_asked_for_in_either_way(
    tmp_path: Path, body: dict[str, Any], asked: dict[str, Any]
) -> None:
    hub = memory_hub(tmp_path, ["ok"])
    async with served(application(hub)) as url:
        status, answer = await post(f"{url}/v1/responses", BODY | body)
    assert status == 200, answer
    extra = hub.backend.requests[0].extra  # type: ignore[attr-defined]
    assert {name: value for name, value in extra.items() if "logprobs" in name} == asked


async def test_a_choice_of_a_server_means_its_tools_alone_and_another_is_refused_by_name(tmp_path: Path) -> None:
    hub = memory_hub(tmp_path, ["a"])
    async with served(application(hub)) as url:
        body = BODY | {"tools": [HUB, WEATHER], "tool_choice": {"type": "mcp", "server_label": "hub"}}
        status, answer = await post(f"{url}/v1/responses", body)
        assert status == 200, answer
        other = {"tool_choice": {"type": "mcp", "server_label": "deepwiki"}}
        status, refused = await post(f"{url}/v1/responses", body | other)
    asked = hub.backend.requests[0]  # type: ignore[attr-defined]
    assert ([tool.name for tool in asked.tools], asked.tool_choice) == (["hub__echo"], "required")
    assert (status, refused["error"]["param"]) == (400, "tool_choice")
    assert "deepwiki" in refused["error"]["message"]


async def test_the_tokens_of_a_request_are_counted_with_what_was_kept_before_it(tmp_path: Path) -> None:
    async with (
        served(application(memory_hub(tmp_path, ["Blue."]))) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up", max_retries=0) as client,
    ):
        first = await client.responses.create(model="m", input="Which colour?")
        few = await client.responses.input_tokens.count(model="m", input="Why?")
        more = await client.responses.input_tokens.count(model="m", input="Why?", tools=[WEATHER])  # type: ignore[list-item]
        after = await client.responses.input_tokens.count(model="m", previous_response_id=first.id, input="Why?")
        with pytest.raises(openai.BadRequestError, match="input is missing"):
            await client.responses.input_tokens.count(model="m")
    assert few.object == "response.input_tokens"
    assert 0 < few.input_tokens < min(more.input_tokens, after.input_tokens)


@pytest.mark.parametrize("asked", [{}, {"store": False}], ids=["kept", "not-kept"])
async def test_a_response_says_whether_it_is_kept(tmp_path: Path, asked: dict[str, Any]) -> None:
    async with served(application(memory_hub(tmp_path, ["a"]))) as url:
        _, answer = await post(f"{url}/v1/responses", BODY | asked)
    assert answer["store"] is asked.get("store", True)


@pytest.mark.parametrize("face", ["chat/completions", "responses"])
async def test_of_the_hubs_tools_the_model_is_shown_those_that_are_allowed(tmp_path: Path, face: str) -> None:
    own = {"type": "function", "function": WEATHER} if face == "chat/completions" else WEATHER
    asked = {"messages": [{"role": "user", "content": "hi"}]} if face == "chat/completions" else {"input": "hi"}
    hub = memory_hub(tmp_path, ["a", "b"])
    async with served(application(hub)) as url:
        for name in ("get_weather", "hub__echo"):
            allowed = [{"type": "function", "function": {"name": name}, "name": name}]
            choice = {"type": "allowed_tools", "mode": "auto", "tools": allowed}
            body = {"model": "m+tools", "tools": [own], "tool_choice": choice, **asked}
            status, answer = await post(f"{url}/v1/{face}", body)
            assert status == 200, answer
    backend = hub.backend
    assert isinstance(backend, ScriptedBackend)
    assert [[tool.name for tool in request.tools] for request in backend.requests] == [["get_weather"], ["hub__echo"]]


async def test_a_conversation_is_made_short_and_gone_on_with(tmp_path: Path) -> None:
    hub = memory_hub(tmp_path, ["It is 12 °C in Seoul.", "Warm."])
    async with served(application(hub)) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client:
        call = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}
        gave = {"type": "function_call_output", "call_id": "c", "output": "12"}
        said: list[Any] = [{"role": "user", "content": "날씨?"}, call, gave]
        given = await client.responses.with_raw_response.compact(model="m", input=said, instructions="Be brief.")
        short, output = given.parse(), json.loads(given.text)["output"]
        assert (short.object, [one.type for one in short.output]) == ("response.compaction", ["message", "compaction"])
        await client.responses.create(model="m", input=[*output, {"role": "user", "content": "Warm?"}])
    asked, after = hub.backend.requests  # type: ignore[attr-defined]
    assert [turn.role for turn in asked.messages] == ["system", "user", "assistant", "tool", "user"]
    assert asked.messages[-1].text.startswith("Summarise the conversation above")
    assert [turn.text.rpartition("\n")[2] for turn in after.messages] == ["날씨?", "It is 12 °C in Seoul.", "Warm?"]


async def test_a_thought_that_nothing_is_told_of_is_no_turn(tmp_path: Path) -> None:
    """Some endpoints and templates refuse an empty turn of the model, which a client holds that was stopped there."""
    hub, said = memory_hub(tmp_path, ["Sunny."]), {"role": "user", "content": "날씨?"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": None}
    async with served(application(hub)) as url:
        status, _ = await post(f"{url}/v1/responses", {"model": "m", "input": [said, thought, said]})
    assert status == 200
    assert [turn.role for turn in hub.backend.requests[0].messages] == ["user", "user"]  # type: ignore[attr-defined]


async def test_a_summary_of_nothing_is_an_error(tmp_path: Path) -> None:
    async with served(application(memory_hub(tmp_path, [""]))) as url:
        status, answer = await post(f"{url}/v1/responses/compact", BODY)
    assert (status, answer["error"]["code"]) == (502, "model_error")
