"""Bodies and events of the wires of Messages and Responses; that both carry whole answers is in tests/web/faces."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from tests.models.fake_endpoint import Reply, json_reply, serve, sse
from tests.web.faces.strict import adapter_of

from naru.errors import ModelError
from naru.messages import (
    CallEnd,
    ChatRequest,
    Extra,
    Finish,
    ImagePart,
    Message,
    Notice,
    Reasoning,
    Refusal,
    ResourcePart,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.answers.parsing import answer_reader
from naru.models.asking.offer import offer
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires import anthropic_wire, responses_wire
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.responses import ResponsesBackend

PICTURE = ImagePart("image/png", data="QUJD")
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
STARTED = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}
ENDED = {"output_tokens": 3, "output_tokens_details": {"thinking_tokens": 1}}
SEALED = {"type": "reasoning.encrypted", "data": "eHh4", "id": "rs_1"}
REQUEST = ChatRequest(
    "m",
    [
        Message("system", "Be brief."),
        Message(
            "user",
            (
                TextPart("Look."),
                ImagePart("image/png", data="QUJD"),
                ResourcePart("a.pdf", "application/pdf", blob="QUJD"),
            ),
        ),
        Message(
            "assistant",
            "I look.",
            carried={"thinking_blocks": [SIGNED], "reasoning_details": [SEALED]},
            tool_calls=(ToolCall("c1", "f", {"a": 1}), ToolCall("c2", "f", {})),
        ),
        Message("tool", (TextPart("one"), PICTURE), tool_call_id="c1"),
        Message("tool", "two", tool_call_id="c2"),
        Message("user", "And?"),
    ],
    tools=(ToolDefinition("f", "F"),),
    tool_choice={"type": "function", "function": {"name": "f"}},
    max_tokens=100,
    stop=("END",),
    extra={"reasoning_effort": "low", "parallel_tool_calls": False, "user": "u-1"},
)


def events(reader_class: Any, told: list[dict[str, Any]]) -> list[Any]:
    reader = reader_class(answer_reader(ChatRequest("m", []), Profile()), "here")
    return [event for one in told for event in reader.feed(one)]


def test_a_conversation_goes_to_messages_whole_with_its_signatures_and_one_turn_a_side() -> None:
    tools = offer(REQUEST, "anthropic").declared(REQUEST)
    body = anthropic_wire.messages_body(REQUEST, model="m", tools=tools)
    adapter_of(MessageCreateParamsStreaming).validate_python(body)
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][0]["content"]] == ["text", "image", "document"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert body["messages"][1]["content"][0] == SIGNED
    results = body["messages"][2]["content"]
    assert [(one["type"], one.get("tool_use_id")) for one in results] == [
        ("tool_result", "c1"),
        ("tool_result", "c2"),
        ("text", None),
    ]
    assert [block["type"] for block in results[0]["content"]] == ["text", "image"]
    assert body["system"] == "Be brief."
    assert body["tool_choice"] == {"type": "tool", "name": "f", "disable_parallel_tool_use": True}
    assert body["max_tokens"] == 100 + body["thinking"]["budget_tokens"]
    assert body["metadata"] == {"user_id": "u-1"}


def test_a_conversation_goes_to_responses_whole_with_its_encrypted_thoughts() -> None:
    tools = offer(REQUEST, "openai").declared(REQUEST)
    body = responses_wire.responses_body(REQUEST, model="m", tools=tools)
    adapter_of(ResponseCreateParamsStreaming).validate_python(body)
    assert [item["type"] for item in body["input"]] == [
        *("message", "message", "reasoning", "message", "function_call", "function_call"),
        *("function_call_output", "function_call_output", "message"),
    ]
    assert body["input"][2]["encrypted_content"] == "eHh4"
    assert [part["type"] for part in body["input"][1]["content"]] == ["input_text", "input_image", "input_file"]
    assert [part["type"] for part in body["input"][6]["output"]] == ["input_text", "input_image"]
    assert (body["store"], body["tool_choice"], body["max_output_tokens"]) == (
        False,
        {"type": "function", "name": "f"},
        100,
    )


def test_signatures_come_back_beside_the_thoughts_of_messages_and_cached_tokens_count() -> None:
    told = [
        {"type": "message_start", "message": {"usage": STARTED}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": ENDED},
        {"type": "message_stop"},
    ]
    found = events(anthropic_wire.EventReader, told)
    assert found[:2] == [Reasoning("Hm."), Extra("message", {"thinking_blocks": [SIGNED]})]
    usage = next(event for event in found if isinstance(event, Usage))
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (11, 3, 4)
    assert (usage.cache_write_tokens, usage.reasoning_tokens) == (2, 1)
    assert found[-1].reason == "length"


@pytest.mark.parametrize(
    ("delta", "told"),
    [
        ({"stop_reason": "model_context_window_exceeded"}, [Usage(), Finish("length")]),
        (
            {"stop_reason": "stop_sequence", "stop_sequence": "END"},
            [Extra("choice", {"stop_reason": "END"}), Usage(), Finish("stop")],
        ),
    ],
    ids=["no room", "a stop"],
)
def test_why_an_answer_of_messages_ended_is_told(delta: dict[str, Any], told: list[Any]) -> None:
    ended = [{"type": "message_delta", "delta": delta, "usage": {}}, {"type": "message_stop"}]
    assert events(anthropic_wire.EventReader, ended) == told


@pytest.mark.parametrize("kind", ["json_object", "regex"])
async def test_a_form_of_the_answer_that_messages_have_no_word_for_is_told(kind: str) -> None:
    ends = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    asked = ChatRequest("m", [Message("user", "Go.")], extra={"response_format": {"type": kind}})
    async with serve([Reply(sse(*ends, done=False))]) as fake:
        backend = AnthropicBackend(Endpoint.of(fake.base_url))
        told = [event async for event in backend.stream(asked)]
        await backend.close()
    assert "output_config" not in fake.bodies[0]
    (notice,) = [event.text for event in told if isinstance(event, Notice)]
    assert notice.startswith(f"response_format {kind}: not passed on")


async def test_models_that_know_no_budget_of_thoughts_and_no_temperature_are_asked_as_they_take_it() -> None:
    """Claude from Opus 4.7 on: what each refusal says is the API's own."""

    def answer(body: dict[str, Any]) -> Reply:
        if body.get("thinking", {}).get("type") == "enabled":
            said = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
        elif "temperature" in body:
            said = "`temperature` is deprecated for this model."
        else:
            ends = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
            return Reply([b"data: " + json.dumps(one).encode() + b"\n\n" for one in ends])
        return json_reply({"type": "error", "error": {"type": "invalid_request_error", "message": said}}, 400)

    plain = ChatRequest("m", [Message("user", "Go.")], temperature=0.5)
    async with serve(answer) as fake:
        backend = AnthropicBackend(Endpoint.of(fake.base_url))
        for asked in (replace(plain, extra={"reasoning_effort": "xhigh"}), plain, plain):
            assert [event async for event in backend.stream(asked)][-1] == Finish("stop")
        await backend.close()
    tried = [(body.get("thinking", {}).get("type"), "temperature" in body) for body in fake.bodies]
    assert tried == [("enabled", False), ("adaptive", False), (None, True), (None, False), (None, False)]
    adapter_of(MessageCreateParamsStreaming).validate_python(fake.bodies[1])
    assert fake.bodies[1]["output_config"] == {"effort": "xhigh"}


@pytest.mark.parametrize(
    ("most", "sent", "room"),
    [(32_000, 32_000, 16_384), (16_384, 32_768, 16_384), (100, 16_484, 16_384)],
    ids=["has room", "none left", "less than thoughts"],
)
def test_a_limit_that_leaves_room_for_words_beside_thoughts_stays_as_it_is(most: int, sent: int, room: int) -> None:
    """A model refuses more than it can write: 32,000 tokens are all that some have."""
    asked = ChatRequest("m", [Message("user", "Go.")], max_tokens=most, extra={"reasoning_effort": "high"})
    body = anthropic_wire.messages_body(asked, model="m", tools=[])
    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (sent, room)


WORDS = {"type": "message", "content": [{"type": "output_text", "text": "Look.", "annotations": []}]}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
WHOLE = {
    AnthropicBackend: {
        "type": "message",
        "content": [
            SIGNED,
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 2, "output_tokens": 3},
    },
    ResponsesBackend: {"output": [THOUGHT, WORDS, CALL], "usage": {"input_tokens": 2, "output_tokens": 3}},
}


@pytest.mark.parametrize("backend", WHOLE, ids=["Messages", "Responses"])
async def test_an_endpoint_that_does_not_stream_is_read_as_well(backend: Any) -> None:
    asked = ChatRequest("m", [Message("user", "Go.")], tools=(ToolDefinition("f"),))
    async with serve([json_reply(WHOLE[backend])]) as fake:
        wire = backend(Endpoint.of(fake.base_url))
        told = [event async for event in wire.stream(asked)]
        await wire.close()
    shown = [event for event in told if isinstance(event, Reasoning | Text | CallEnd | Usage | Finish)]
    assert shown == [Reasoning("Hm."), Text("Look."), CallEnd(0, {"a": 1}), Usage(2, 3), Finish("tool_calls")]


async def test_messages_lists_all_models_and_not_the_twenty_that_come_unasked() -> None:
    async with serve([json_reply({"data": [{"id": "a"}], "has_more": False})]) as fake:
        wire = AnthropicBackend(Endpoint.of(f"{fake.base_url}?team=1"))
        assert await wire.models() == ["a"]
        await wire.close()
    assert fake.urls == ["/v1/models?limit=1000&team=1"]


async def test_a_stream_that_calls_itself_json_is_read_as_one() -> None:
    events = [{"type": "response.output_text.delta", "delta": "Hi"}, {"type": "response.completed", "response": {}}]
    async with serve([Reply(sse(*events, done=False), content_type="application/json")]) as fake:
        wire = ResponsesBackend(Endpoint.of(fake.base_url))
        told = [event async for event in wire.stream(ChatRequest("m", [Message("user", "Go.")]))]
        await wire.close()
    assert (told[0], told[-1]) == (Text("Hi"), Finish("stop"))


@pytest.mark.parametrize(
    ("backend", "body", "code"),
    [
        (AnthropicBackend, {"type": "error", "error": {"type": "overloaded_error", "message": "Full."}}, "overloaded"),
        (ResponsesBackend, {"error": {"code": "insufficient_quota", "message": "Full."}}, "out_of_credit"),
        (
            ResponsesBackend,
            {"status": "failed", "error": {"code": "server_error", "message": "Full."}},
            "upstream_failed",
        ),
        (AnthropicBackend, {"detail": "Full."}, "not_an_api"),
        (ResponsesBackend, {"detail": "Full."}, "not_an_api"),
    ],
    ids=["Messages", "Responses", "failed response", "no message", "no response"],
)
async def test_an_error_that_comes_with_status_200_is_told_with_its_reason(
    backend: Any, body: dict[str, Any], code: str
) -> None:
    async with serve([json_reply(body)]) as fake:
        wire = backend(Endpoint.of(fake.base_url))
        with pytest.raises(ModelError, match="Full") as told:
            await anext(wire.stream(ChatRequest("m", [Message("user", "Go.")])))
        await wire.close()
    assert told.value.code == code


async def test_what_responses_refuse_is_left_out_there_too_and_told() -> None:
    """N19."""
    said = {"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model."}}
    ended = {"type": "response.completed", "response": {}}
    asked = ChatRequest("m", [Message("user", "Go.")], temperature=0.5)

    def answer(body: dict[str, Any]) -> Reply:
        return json_reply(said, 400) if "temperature" in body else Reply(sse(ended, done=False))

    async with serve(answer) as fake:
        wire = ResponsesBackend(Endpoint.of(fake.base_url))
        told = [event async for event in wire.stream(asked)]
        await wire.close()
    assert ["temperature" in body for body in fake.bodies] == [True, False]
    assert [event.text.partition(":")[0] for event in told if isinstance(event, Notice)] == ["temperature"]


async def test_a_temperature_that_thoughts_leave_no_room_for_is_told() -> None:
    """N19."""
    ends = [{"type": "message_stop"}]
    asked = ChatRequest("m", [Message("user", "Go.")], temperature=0.5, extra={"reasoning_effort": "low"})
    async with serve([Reply(sse(*ends, done=False))]) as fake:
        wire = AnthropicBackend(Endpoint.of(fake.base_url))
        told = [[e async for e in wire.stream(one)] for one in (asked, replace(asked, temperature=1))]
        await wire.close()
    notes = [[event.text.partition(":")[0] for event in one if isinstance(event, Notice)] for one in told]
    assert notes == [["temperature"], []]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://h", "https://h/v1"),
        ("https://h/v1/messages", "https://h/v1"),
        ("https://h/anthropic", "https://h/anthropic/v1"),
    ],
)
def test_an_address_of_messages_is_taken_as_its_packages_take_it(given: str, used: str) -> None:
    assert AnthropicBackend(Endpoint.of(given)).endpoint.base_url == used


def test_refusals_and_log_probabilities_of_responses_are_told_as_what_they_are() -> None:
    token = {"token": "I", "logprob": -0.1}
    told = [
        {"type": "response.output_text.delta", "delta": "I", "logprobs": [token]},
        {"type": "response.refusal.delta", "delta": "No."},
        {"type": "response.completed", "response": {}},
    ]
    found = events(responses_wire.EventReader, told)
    assert found[:3] == [Text("I"), Extra("choice", {"logprobs": {"content": [token]}}), Refusal("No.")]


def test_what_a_request_sets_goes_to_responses_by_its_names() -> None:
    passed = {"top_logprobs": 2, "service_tier": "flex", "safety_identifier": "s", "prompt_cache_key": "k"}
    asked = replace(REQUEST, extra={**passed, "logprobs": True, "verbosity": "low", "metadata": {"a": "b"}})
    body = responses_wire.responses_body(asked, model="m", tools=[])
    adapter_of(ResponseCreateParamsStreaming).validate_python(body)
    assert passed.items() <= body.items()
    assert (body["text"], body["metadata"]) == ({"format": {"type": "text"}, "verbosity": "low"}, {"a": "b"})
    assert "message.output_text.logprobs" in body["include"]


def test_parts_of_a_thought_are_paragraphs() -> None:
    def summary(part: int, delta: str) -> dict[str, Any]:
        where = {"output_index": 0, "summary_index": part}
        return {"type": "response.reasoning_summary_text.delta", "delta": delta, **where}

    told = [summary(0, "**Look"), summary(0, "ing**"), summary(1, "**Answering**")]
    found = events(responses_wire.EventReader, told)
    assert "".join(event.text for event in found) == "**Looking**\n\n**Answering**"


@pytest.mark.parametrize("where", ["its item", "the end"])
def test_words_that_come_in_no_pieces_are_read_where_they_are_told(where: str) -> None:
    """Some who stand before other APIs send no deltas."""
    item = {"type": "response.output_item.done", "output_index": 0, "item": WORDS}
    ended = {"type": "response.completed", "response": {"output": [WORDS]}}
    found = events(responses_wire.EventReader, [item, ended] if where == "its item" else [ended])
    assert [event for event in found if isinstance(event, Text | Finish)] == [Text("Look."), Finish("stop")]


def test_encrypted_thoughts_come_back_from_responses() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eHh4"}
    found = events(
        responses_wire.EventReader,
        [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"output": [item], "usage": {"input_tokens": 1}}},
        ],
    )
    assert found[0] == Extra("message", {"reasoning_details": [SEALED]})
    assert found[-1].reason == "stop"


def of_messages(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "Full."}}


def of_responses(code: str) -> dict[str, Any]:
    return {"type": "response.failed", "response": {"error": {"code": code, "message": "Full."}}}


@pytest.mark.parametrize(
    ("reader", "event", "status", "code"),
    [
        (anthropic_wire.EventReader, of_messages("overloaded_error"), 503, "overloaded"),
        (anthropic_wire.EventReader, of_messages("rate_limit_error"), 429, "rate_limited"),
        (anthropic_wire.EventReader, of_messages("invalid_request_error"), 400, "refused"),
        (anthropic_wire.EventReader, of_messages("authentication_error"), 401, "unauthorized"),
        (responses_wire.EventReader, {"type": "error", "code": "server_error", "message": "Full."}, 500, None),
        (responses_wire.EventReader, of_responses("rate_limit_exceeded"), 429, "rate_limited"),
        (responses_wire.EventReader, of_responses("invalid_prompt"), 400, "refused"),
    ],
    ids=["overloaded", "limited", "refused", "no key", "responses", "failed-response", "refused-response"],
)
def test_an_error_within_a_stream_is_told_with_its_reason_and_is_of_its_kind(
    reader: Any, event: dict[str, Any], status: int, code: str | None
) -> None:
    """What is wrong with the request is not asked again, nor of another model."""
    with pytest.raises(ModelError, match="Full") as told:
        events(reader, [event])
    assert told.value.status == status
    assert told.value.code == (code or "upstream_failed")


def thought_in(reader_class: Any, told: list[dict[str, Any]]) -> str:
    reader = answer_reader(ChatRequest("m", []), Profile())
    reads = reader_class(reader, "here")
    for one in told:
        reads.feed(one)
    return reader.reasoned_in


@pytest.mark.parametrize(("signature", "learnt"), [("", "thinking"), ("c2ln", "")], ids=["unsigned", "signed"])
def test_thoughts_go_back_as_text_where_messages_sign_none(signature: str, learnt: str) -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": signature}
    told = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
    ]
    assert thought_in(anthropic_wire.EventReader, told) == learnt
    asked = ChatRequest("m", [Message("user", "Go."), Message("assistant", "Gone.", reasoning="Hm.")])
    sent = anthropic_wire.messages_body(asked, model="m", tools=[], profile=Profile(reasoning=learnt))  # type: ignore[arg-type]
    kinds = [part["type"] for part in sent["messages"][1]["content"]]
    assert kinds == (["thinking", "text"] if learnt else ["text"])


@pytest.mark.parametrize(("sealed", "learnt"), [("", "reasoning"), ("eHh4", "")], ids=["open", "sealed"])
def test_thoughts_go_back_as_text_where_responses_seal_none(sealed: str, learnt: str) -> None:
    told: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed or None}
    told["content"] = [] if sealed else [{"type": "reasoning_text", "text": "Hm."}]
    done = [{"type": "response.output_item.done", "output_index": 0, "item": told}]
    assert thought_in(responses_wire.EventReader, done) == learnt
    asked = ChatRequest("m", [Message("user", "Go."), Message("assistant", "Gone.", reasoning="Hm.")])
    sent = responses_wire.responses_body(asked, model="m", tools=[], profile=Profile(reasoning=learnt))  # type: ignore[arg-type]
    adapter_of(ResponseCreateParamsStreaming).validate_python(sent)
    assert [item["type"] for item in sent["input"]] == ["message", *(["reasoning"] if learnt else []), "message"]


def test_a_long_thought_is_put_together_in_time_that_grows_as_it_does() -> None:
    wire = anthropic_wire.EventReader(answer_reader(ChatRequest("m", [Message("user", "hi")]), Profile()), "it")
    wire.feed({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "signature": "s"}})
    piece = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hmm "}}
    for _ in range(800_000):
        wire.feed(piece)
    (extra,) = wire.feed({"type": "content_block_stop", "index": 0})
    assert isinstance(extra, Extra)
    assert len(extra.fields["thinking_blocks"][0]["thinking"]) == 4 * 800_000
