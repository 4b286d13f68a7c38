"""Ollama's native wire, against the shapes that its server sends."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.models.fake_endpoint import Answering, FakeEndpoint, Reply, json_reply, serve

from naru.errors import ModelError, UserError
from naru.messages import (
    AudioPart,
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Extra,
    Finish,
    ImagePart,
    MediaPart,
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
from naru.models.transport.sse import LineReader, SseReader
from naru.models.wires.ollama import OllamaBackend

TOOL = ToolDefinition("weather", "Tell the weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
ASK = ChatRequest("qwen3:8b", [Message("user", "hi")], tools=[TOOL], temperature=0.5, max_tokens=7, stop=["X"])
END = {"done": True, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 9, "message": {"content": ""}}


def lines(*answers: dict[str, Any]) -> Reply:
    head = {"model": "qwen3:8b", "created_at": "2026-08-01T00:00:00Z", "done": False}
    return Reply([json.dumps(head | one).encode() + b"\n" for one in answers], content_type="application/x-ndjson")


def said(**message: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": ""} | message}


async def ask(answers: Answering, request: ChatRequest = ASK) -> tuple[list[ChatEvent], FakeEndpoint]:
    async with serve(answers) as fake:
        backend = OllamaBackend(Endpoint.of(fake.base_url), context_tokens=16_384)
        try:
            return [event async for event in backend.stream(request)], fake
        finally:
            await backend.close()


async def test_thoughts_words_and_usage_arrive_and_the_context_size_is_set() -> None:
    events, fake = await ask([lines(said(thinking="hm"), said(content="안녕"), END)])
    assert events == [Reasoning("hm"), Text("안녕"), Usage(26, 9), Finish("stop")]
    assert fake.paths == ["/api/chat"]
    body = fake.bodies[0]
    assert body["options"] == {"num_ctx": 16_384, "temperature": 0.5, "num_predict": 7, "stop": ["X"]}
    assert body["tools"][0]["function"]["name"] == "weather"


async def test_what_a_request_sets_goes_on_by_ollamas_names_and_what_has_none_is_told() -> None:
    """N19."""
    sampling = {"seed": 3, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "presence_penalty": 0.2, "frequency_penalty": 0.3}
    token = {"token": "Hi", "logprob": -0.1}
    told = [lines(said(content="Hi") | {"logprobs": [token]}, END)]
    asked = {**sampling, "logprobs": True, "top_logprobs": 2, "logit_bias": {"1": 2}, "verbosity": "low", "user": None}
    events, fake = await ask(told, replace(ASK, extra=asked))
    body = fake.bodies[0]
    assert sampling.items() <= body["options"].items()
    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    assert Extra("choice", {"logprobs": {"content": [token]}}) in events
    (notice,) = [event.text for event in events if isinstance(event, Notice)]
    assert notice.startswith("logit_bias, verbosity: not passed on")


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        ("gpt-oss:20b", "low", "low"),
        ("gpt-oss:20b", "max", "high"),
        ("gpt-oss:20b", "none", False),
        ("qwen3:8b", "low", True),
        ("qwen3:8b", "none", False),
    ],
)
async def test_how_hard_a_model_shall_think_is_said_as_it_takes_it(model: str, effort: str, think: bool | str) -> None:
    _, fake = await ask([lines(END)], replace(ASK, model=model, extra={"reasoning_effort": effort}))
    assert fake.bodies[0]["think"] == think


async def test_calls_come_whole_and_two_of_one_tool_stay_two() -> None:
    calls = [{"function": {"name": "weather", "arguments": {"city": city}}} for city in ("Seoul", "Busan")]
    events, _ = await ask([lines(said(tool_calls=calls[:1]), said(tool_calls=calls[1:]), END)])
    assert [event.name for event in events if isinstance(event, CallStart)] == ["weather", "weather"]
    assert [event.arguments for event in events if isinstance(event, CallEnd)] == [{"city": "Seoul"}, {"city": "Busan"}]
    assert events[-1] == Finish("tool_calls")


async def test_a_conversation_is_sent_as_ollama_wants_it() -> None:
    request = ChatRequest(
        "qwen3:8b",
        [
            Message("user", (TextPart("see"), ImagePart("image/png", "QUJD"))),
            Message("assistant", "", tool_calls=(ToolCall("c1", "weather", {"city": "Seoul"}),)),
            Message("tool", "sunny", tool_call_id="c1"),
        ],
        response_schema={"type": "object"},
    )
    _, fake = await ask([lines(END)], request)
    assert fake.bodies[0]["messages"] == [
        {"role": "user", "content": "see", "images": ["QUJD"]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Seoul"}}}],
        },
        {"role": "tool", "content": "sunny", "tool_name": "weather"},
    ]
    assert fake.bodies[0]["format"] == {"type": "object"}


async def test_a_model_without_tools_is_prompted_instead() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "tools" in body:
            return json_reply({"error": "registry.ollama.ai/library/some:1b does not support tools"}, 400)
        return lines(said(content="ok"), END)

    events, fake = await ask(answer, ChatRequest("some:7b", [Message("user", "hi")], tools=[TOOL]))
    assert events[0] == Text("ok")
    assert '"name": "weather", "description": "Tell the weather."' in fake.bodies[1]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(json_reply({"error": "model 'x' not found"}, 404), "model_not_found", id="404"),
        pytest.param(lines(said(content="a"), {"error": "llama runner died"}), "overloaded", id="dies-in-mid-stream"),
        pytest.param(lines(said(content="a")), "broken_off", id="ends-in-mid-stream"),
        pytest.param(Reply([b"<html>"], content_type="text/html"), "not_an_api", id="html"),
    ],
)
async def test_failures_are_told_apart(reply: Reply, code: str) -> None:
    with pytest.raises(ModelError) as raised:
        await ask([reply])
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://h:11434", "http://h:11434"),
        ("http://h:11434/api/chat", "http://h:11434"),
        ("https://h/ollama", "https://h/ollama"),
        ("https://h/ollama/v1/", "https://h/ollama"),
    ],
)
def test_a_proxys_path_before_the_api_stays(given: str, used: str) -> None:
    assert OllamaBackend(Endpoint.of(given)).endpoint.base_url == used


async def test_installed_models_are_listed() -> None:
    async with serve([json_reply({"models": [{"name": "gemma3:1b", "size": 1}, {"model": "b"}]})]) as fake:
        backend = OllamaBackend(Endpoint.of(fake.base_url))
        assert await backend.models() == ["gemma3:1b", "b"]
        assert fake.paths == ["/api/tags"]
        await backend.close()


CALLED = Message("assistant", "", reasoning="hm", tool_calls=(ToolCall("c", "weather", {}),))


async def test_thoughts_go_back_beside_their_calls() -> None:  # issue 17, line 1
    history = [Message("user", "hi"), CALLED, Message("tool", "sunny", tool_call_id="c")]
    _, fake = await ask([lines(said(content="ok"), END)], ChatRequest("qwen3:8b", history, tools=[TOOL]))
    assert fake.bodies[0]["messages"][1]["thinking"] == "hm"
    _, fake = await ask([lines(said(content="ok"), END)], ChatRequest("llama3.1", history, tools=[TOOL]))
    assert "thinking" not in fake.bodies[0]["messages"][1], "a family that does not think"


async def test_a_results_picture_is_shown_in_a_turn_after_it() -> None:  # issue 17, line 2
    shot = Message("tool", (TextPart("the screen"), ImagePart("image/png", "AAAA")), tool_call_id="c", name="weather")
    history = [Message("user", "hi"), CALLED, shot]
    _, fake = await ask([lines(said(content="ok"), END)], ChatRequest("qwen3-vl:8b", history, tools=[TOOL]))
    assert [turn["role"] for turn in fake.bodies[0]["messages"]] == ["user", "assistant", "tool", "user"]
    assert fake.bodies[0]["messages"][3]["images"] == ["AAAA"]


@pytest.mark.parametrize(
    "part",
    [
        ImagePart("", url="https://example.com/a.png", where="messages[0].content[0]"),
        AudioPart("audio/wav", "AAAA", "messages[0].content[0]"),
        ResourcePart("a.pdf", "application/pdf", blob="AAAA", where="messages[0].content[0]"),
    ],
    ids=["picture-by-url", "sound", "pdf"],
)
async def test_what_this_api_has_no_form_for_is_a_400_that_names_it(part: MediaPart) -> None:  # issue 17, line 2
    with pytest.raises(UserError, match=r"messages\[0\]\.content\[0\]: .* cannot be passed on") as refused:
        await ask([], ChatRequest("qwen3:8b", [Message("user", (part,))]))
    assert refused.value.param == "messages[0].content[0]"  # type: ignore[attr-defined]


async def test_a_last_line_without_its_end_ends_the_answer_and_half_a_line_breaks_it_off() -> None:
    def unended(last: bytes) -> Reply:
        return Reply([*lines(said(content="hello")).chunks, last], content_type="application/x-ndjson")

    events, _ = await ask([unended(json.dumps(END).encode())])
    assert events[-1] == Finish("stop")
    with pytest.raises(ModelError, match="in the middle"):
        await ask([unended(json.dumps(END).encode()[:20])])


async def test_a_model_that_is_not_there_yet_is_asked_again_for_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {"model_info": {"qwen3.context_length": 4096}}
    answers = [json_reply({"error": "model not found"}, 404), lines(END), json_reply(shown), lines(END)]
    monkeypatch.setattr("naru.models.known.knowledge._ASK_AGAIN_SECONDS", 0.0)
    async with serve(answers) as fake:
        backend = OllamaBackend(Endpoint.of(fake.base_url))
        for _ in range(2):
            assert [event async for event in backend.stream(ASK)][-1] == Finish("stop")
        await backend.close()
    assert [body["options"]["num_ctx"] for body in fake.bodies if "options" in body] == [8192, 4096]


@pytest.mark.parametrize("line", [b"data: " + b"x" * 100_000 + b"\n", b"x" * 100_000], ids=["lines", "a line"])
@pytest.mark.parametrize("kind", [SseReader, LineReader])
def test_an_event_that_never_ends_is_held_within_a_limit(kind: type[SseReader | LineReader], line: bytes) -> None:
    reader = kind()

    def feed_on() -> None:
        for _ in range(200):
            reader.feed(line)

    if kind is LineReader and line.endswith(b"\n"):
        feed_on()  # Each is one.
        return
    with pytest.raises(ModelError, match="an event of more than 16 MB"):
        feed_on()


@pytest.mark.parametrize(
    ("choice", "offered"),
    [("required", ["weather", "time"]), ({"type": "function", "function": {"name": "time"}}, ["time"])],
    ids=["any", "one"],
)
async def test_a_call_that_must_be_made_has_no_word_here_and_that_is_told(choice: Any, offered: list[str]) -> None:
    """N19."""
    asked = replace(ASK, tools=[TOOL, replace(TOOL, name="time")], tool_choice=choice)
    events, fake = await ask([lines(END)], asked)
    assert [tool["function"]["name"] for tool in fake.bodies[0]["tools"]] == offered
    assert [event.text.partition(":")[0] for event in events if isinstance(event, Notice)] == ["tool_choice"]


async def test_a_form_beside_tools_is_told_in_words_since_it_would_keep_the_model_from_calling() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "A", "schema": {"type": "object"}}}
    events, fake = await ask([lines(END)], replace(ASK, extra={"response_format": form}))
    assert "format" not in fake.bodies[0]
    assert 'JSON Schema:\n{"type":"object"}' in fake.bodies[0]["messages"][0]["content"]
    assert any(isinstance(event, Notice) for event in events)
