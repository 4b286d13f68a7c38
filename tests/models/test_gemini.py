"""Gemini and Gemma through Google's own SDK, against the shapes that its API sends."""

from __future__ import annotations

import asyncio
import base64
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from tests.models.fake_endpoint import Answering, FakeEndpoint, Reply, json_reply, serve, sse

from naru.errors import ModelError, UserError
from naru.messages import (
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Extra,
    Finish,
    ForeignPart,
    ImagePart,
    Message,
    Notice,
    Reasoning,
    ResourcePart,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.gemini import GeminiBackend

TOOL = ToolDefinition("weather", "Tell it.", {"type": "object", "properties": {"city": {"type": "string"}}})
NOW = ToolDefinition("now", "Tell the time.", {"type": "object", "properties": {}})
ASK = ChatRequest("gemini-2.5-flash", [Message("system", "Be brief."), Message("user", "Hi")], tools=[TOOL, NOW])


def chunk(*parts: dict[str, Any], finish: str | None = None, usage: tuple[int, int] | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": "gemini-2.5-flash", "responseId": "r"}
    if usage:
        answer["usageMetadata"] = {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1]}
    return answer


def stream(*chunks: dict[str, Any]) -> Reply:
    return Reply(sse(*chunks, done=False))


def backend_at(fake: FakeEndpoint) -> GeminiBackend:
    return GeminiBackend(Endpoint(fake.base_url.removesuffix("/v1"), "key"))


async def ask(answers: Answering, request: ChatRequest = ASK) -> tuple[list[ChatEvent], FakeEndpoint]:
    async with serve(answers) as fake:
        backend = backend_at(fake)
        try:
            return [event async for event in backend.stream(request)], fake
        finally:
            await backend.close()


async def test_gemini_gets_system_instruction_and_declarations_and_its_answer_is_read() -> None:
    events, fake = await ask(
        [stream(chunk({"text": "hm", "thought": True}), chunk({"text": "안녕"}, finish="STOP", usage=(5, 2)))]
    )
    assert events == [Reasoning("hm"), Text("안녕"), Usage(5, 2), Finish("stop")]
    body = fake.bodies[0]
    assert fake.paths == ["/v1beta/models/gemini-2.5-flash:streamGenerateContent"]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    declared = body["tools"][0]["functionDeclarations"]
    assert declared[0]["parameters"]["properties"] == {"city": {"type": "STRING"}}
    assert set(declared[1]) == {"name", "description"}, "no parameters for a tool without arguments"
    assert fake.headers[0]["x-goog-api-key"] == "key"


async def test_a_picture_that_a_model_makes_and_a_signature_without_words_reach_the_client() -> None:
    """N19."""
    picture = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    signed = {"text": "", "thoughtSignature": base64.b64encode(b"sig").decode()}
    events, _ = await ask([stream(chunk({"text": "Here."}, picture), chunk(signed, finish="STOP"))])
    assert events[:3] == [
        Text("Here."),
        Extra("message", {"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]}),
        Extra("message", {"extra_content": {"google": {"thought_signature": signed["thoughtSignature"]}}}),
    ]


async def test_e01_gemma_gets_neither_system_nor_declarations_and_all_its_text() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "systemInstruction" in body or "tools" in body:
            return json_reply(
                {"error": {"code": 400, "message": "Developer instruction is not enabled for models/gemma-3-12b-it"}},
                400,
            )
        return stream(chunk({"text": "ok"}, finish="STOP"))

    request = ChatRequest("gemma-3-12b-it", ASK.messages, tools=ASK.tools)
    events, fake = await ask(answer, request)
    assert events[0] == Text("ok")
    assert len(fake.bodies) == 1, "known beforehand, not learned by a refusal"
    text = fake.bodies[0]["contents"][0]["parts"][0]["text"]
    assert text.startswith("Be brief.")
    assert '"name": "weather", "description": "Tell it."' in text
    assert text.endswith("Hi")


async def test_a_call_and_its_signature_go_back_with_the_result() -> None:
    signature = base64.b64encode(b"sig").decode()
    call = {"functionCall": {"name": "weather", "args": {"city": "Seoul"}}, "thoughtSignature": signature}
    replies = [stream(chunk(call, finish="STOP")), stream(chunk({"text": "sunny"}, finish="STOP"))]
    async with serve(replies) as fake:
        backend = backend_at(fake)
        events = [event async for event in backend.stream(ASK)]
        start = next(event for event in events if isinstance(event, CallStart))
        assert [event.arguments for event in events if isinstance(event, CallEnd)] == [{"city": "Seoul"}]
        assert events[-1] == Finish("tool_calls")
        history = [
            *ASK.messages,
            Message("assistant", "", tool_calls=(ToolCall(start.id, "weather", {"city": "Seoul"}),)),
            Message("tool", "sunny", tool_call_id=start.id),
        ]
        await anext(backend.stream(ChatRequest(ASK.model, history, tools=ASK.tools)))
        await backend.close()
    contents = fake.bodies[1]["contents"]
    assert [turn["role"] for turn in contents] == ["user", "model", "user"]
    assert contents[1]["parts"][0]["thoughtSignature"] == signature
    assert contents[2]["parts"][0]["functionResponse"] == {"name": "weather", "response": {"result": "sunny"}}


async def test_images_and_limits_are_sent() -> None:
    request = ChatRequest(
        "gemini-2.5-flash",
        [Message("user", (TextPart("see"), ImagePart("image/png", "QUJD")))],
        temperature=0.0,
        max_tokens=9,
        stop=["X"],
        response_schema={"type": "object"},
    )
    _, fake = await ask([stream(chunk({"text": "{}"}, finish="MAX_TOKENS"))], request)
    body = fake.bodies[0]
    assert body["contents"][0]["parts"][1]["inlineData"] == {"mime_type": "image/png", "data": "QUJD"}
    config = body["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"], config["stopSequences"]) == (0.0, 9, ["X"])
    assert config["responseJsonSchema"] == {"type": "object"}


async def test_what_a_request_sets_goes_on_by_googles_names_and_what_has_none_is_told() -> None:
    """N19."""
    sampling = {"seed": 3, "top_p": 0.9, "top_k": 5, "presence_penalty": 0.2, "frequency_penalty": 0.3}
    asked = {**sampling, "reasoning_effort": "low", "logprobs": True, "parallel_tool_calls": False}
    events, fake = await ask([stream(chunk({"text": "ok"}, finish="STOP"))], replace(ASK, extra=asked))
    config = fake.bodies[0]["generationConfig"]
    assert [config[name] for name in ("seed", "topP", "topK", "presencePenalty", "frequencyPenalty")] == [
        *sampling.values()
    ]
    assert config["thinkingConfig"] == {"thinking_budget": 1024, "include_thoughts": True}
    (notice,) = [event.text for event in events if isinstance(event, Notice)]
    assert notice.startswith("logprobs: not passed on")


async def test_a_blocked_prompt_ends_as_filtered() -> None:
    events, _ = await ask([stream({"promptFeedback": {"blockReason": "SAFETY"}})])
    assert events == [Finish("content_filter")]


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
async def test_what_google_could_not_read_of_a_model_is_no_answer(reason: str) -> None:
    """It comes without a word: told as an end, it would be an empty answer."""
    ended = {"candidates": [{"finishReason": reason, "index": 0}]}
    with pytest.raises(ModelError, match=f"broke off its answer; its reason is {reason}") as told:
        await ask([stream(ended)])
    assert told.value.retryable


@pytest.mark.parametrize(
    ("reason", "told"),
    [("CONTINUATION", "length"), ("RECITATION", "content_filter"), ("IMAGE_SAFETY", "content_filter")],
)
async def test_ends_of_google_are_told_in_openais_words(reason: str, told: str) -> None:
    events, _ = await ask([stream(chunk({"text": "Half"}, finish=reason))])
    assert events == [Text("Half"), Finish(told)]


async def test_every_text_that_shall_end_an_answer_is_sent_for_google_to_judge() -> None:
    """N19: it takes five, and says so."""
    _, fake = await ask([stream(chunk(finish="STOP"))], replace(ASK, stop=["a", "b", "c", "d", "e", "f"]))
    assert fake.bodies[0]["generationConfig"]["stopSequences"] == ["a", "b", "c", "d", "e", "f"]


async def test_a_quota_error_says_when_to_come_again() -> None:
    error = {
        "code": 429,
        "message": "You exceeded your current quota.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "39s"}],
    }
    with pytest.raises(ModelError, match="exceeded your current quota") as raised:
        await ask([json_reply({"error": error}, 429)])
    assert raised.value.code == "rate_limited"
    assert raised.value.retry_after_seconds == 39.0


async def test_leaving_the_answer_closes_the_upstream() -> None:
    async with serve([Reply(sse(chunk({"text": "B"}), done=False), hang=True)]) as fake:
        backend = backend_at(fake)
        async with aclosing(backend.stream(ASK)) as events:
            assert await anext(events) == Text("B")
        await asyncio.wait_for(fake.gone.wait(), 30)
        await backend.close()


async def test_models_that_generate_are_listed() -> None:
    rows = [
        {"name": "models/gemma-3-12b-it", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
    ]
    async with serve([json_reply({"models": rows})]) as fake:
        backend = backend_at(fake)
        assert await backend.models() == ["gemma-3-12b-it"]
        await backend.close()


async def test_a_signature_that_the_caller_holds_goes_back_after_a_restart() -> None:  # issue 17, line 1
    signature = base64.b64encode(b"sig").decode()
    call = {"functionCall": {"name": "weather", "args": {"city": "Seoul"}}, "thoughtSignature": signature}
    events, _ = await ask([stream(chunk(call, finish="STOP", usage=(5, 2)))])
    extra = next(event for event in events if isinstance(event, Extra))
    assert (extra.place, extra.fields) == ("call", {"extra_content": {"google": {"thought_signature": signature}}})
    made = ToolCall("other", "weather", {"city": "Seoul"}, carried=extra.fields)
    said = Message("assistant", "Wait.", carried={"extra_content": {"google": {"thought_signature": signature}}})
    result = Message("tool", "sunny", tool_call_id="other")
    history = [*ASK.messages, said, replace(said, content="", tool_calls=(made,)), result]
    request = ChatRequest(ASK.model, history, tools=ASK.tools)
    _, fake = await ask([stream(chunk({"text": "ok"}, finish="STOP"))], request)
    parts = [part for turn in fake.bodies[0]["contents"] for part in turn["parts"]]
    assert [part.get("thoughtSignature") for part in parts] == [None, signature, signature, None]


async def test_a_request_of_system_text_alone_is_answered() -> None:  # issue 17, line 7
    request = ChatRequest("gemini-2.5-flash", [Message("system", "Say hello."), Message("system", "  ")])
    events, fake = await ask([stream(chunk({"text": "Hello"}, finish="STOP"))], request)
    assert events[0] == Text("Hello")
    assert fake.bodies[0]["contents"] == [{"role": "user", "parts": [{"text": "Say hello."}]}]


async def test_files_and_pictures_of_results_are_sent_and_what_has_no_form_is_a_400_that_names_it() -> None:  # line 2
    pdf = ResourcePart("a.pdf", "application/pdf", blob="QUJD", where="messages[0].content[0]")
    shot = Message("tool", (TextPart("the screen"), ImagePart("image/png", "QUJD")), tool_call_id="c", name="weather")
    calling = Message("assistant", "", tool_calls=(ToolCall("c", "weather", {}),))
    history = [Message("user", (pdf,)), calling, shot]
    request = ChatRequest(ASK.model, history, tools=ASK.tools)
    _, fake = await ask([stream(chunk({"text": "ok"}, finish="STOP"))], request)
    parts = [part for turn in fake.bodies[0]["contents"] for part in turn["parts"]]
    kinds = [part["inlineData"]["mime_type"] for part in parts if "inlineData" in part]
    assert kinds == ["application/pdf", "image/png"]
    video = ForeignPart("video_url", {"type": "video_url"}, "messages[0].content[0]")
    with pytest.raises(UserError, match=r"messages\[0\]\.content\[0\].*'video_url' cannot be passed on"):
        await ask([], ChatRequest(ASK.model, [Message("user", (video,))]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"extra": {"seed": "x"}}, "cannot be written for Gemini: .*seed"),
        ({"messages": [Message("user", (ImagePart("image/png", "abc", where="messages[0]"),))]}, "is no base64"),
    ],
    ids=["seed", "picture"],
)
async def test_what_the_sdk_cannot_write_is_the_clients_to_mend(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        await ask([stream(chunk({"text": "hi"}, finish="STOP"))], replace(ASK, **changes))


@pytest.mark.parametrize(
    "reply",
    [
        Reply([b"data: {broken\n\n"]),
        Reply([b'data: {"candidates": 5}\n\n']),
        Reply([*sse(chunk({"text": "hi"}), done=False), b"data: {broken\n\n"]),
    ],
    ids=["first", "misshapen", "later"],
)
async def test_what_the_sdk_cannot_read_is_told_as_the_endpoints(reply: Reply) -> None:
    with pytest.raises(ModelError, match="another form than its API's"):
        await ask([reply])


async def test_a_host_that_does_not_exist_is_told_in_words() -> None:
    backend = GeminiBackend(Endpoint("http://no-such-host.invalid", "key"))
    with pytest.raises(ModelError, match="cannot be reached") as told:
        await anext(backend.stream(ASK))
    assert "Unknown error" not in str(told.value)
    await backend.close()
