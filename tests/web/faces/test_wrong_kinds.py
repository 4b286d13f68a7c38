"""A field that is of another kind than its API gives it is refused by name: read as nothing, it would be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from naru.config import HubSettings, Settings
from naru.models.known.profile import Profile
from naru.models.limits.queue import RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.scripted import ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.failures import failure
from naru.models.wires.openai_http import OpenAIBackend
from naru.web.responses.wire import error_of
from tests.models.fake_endpoint import json_reply, serve
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import post

TURNS = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": TURNS,
    "/v1/responses": {"model": "m", "input": "hi"},
    "/v1/messages": {**TURNS, "max_tokens": 5},
    "/api/chat": {**TURNS, "stream": False},
    "/api/generate": {"model": "m", "prompt": "hi", "stream": False},
}
CHAT, RESPONSES, MESSAGES, OLLAMA, GENERATE = BODIES
CONVERSATIONS = "/v1/conversations"
ITEMS: tuple[dict[str, Any], ...] = (
    *({"id": 5}, {"id": {}}, {"id": 10**30}, {"type": []}),
    {"summary": 5, "type": "reasoning"},
)
EMBEDDINGS, EMBED = "/v1/embeddings", "/api/embed"
WANTING = ("required", {"type": "any"}, {"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"})
"""Choices that want a call of some tool; no tool is offered."""
PICTURES = [{"role": "user", "content": "hi", "images": "iVBOR"}]


def said(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("path", "wrong", "named"),
    [
        (CHAT, {"max_tokens": 1.5}, "max_tokens"),
        (CHAT, {"response_format": "json"}, "response_format"),
        (CHAT, {"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
        (CHAT, {"top_p": "x"}, "top_p"),
        (CHAT, {"messages": [{"role": "user", "content": 5}]}, "messages[0]"),
        (
            CHAT,
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            "messages[0].content[0].text",
        ),
        (CHAT, {"tools": [{"type": "function", "function": {"name": "f", "description": 5}}]}, "tools[0]"),
        (CHAT, {"parallel_tool_calls": 0}, "parallel_tool_calls"),
        (RESPONSES, {"include": "x"}, "include"),
        (RESPONSES, {"tools": {}}, "tools"),
        (RESPONSES, {"metadata": {"a": 5}}, "metadata"),
        (RESPONSES, {"previous_response_id": 5}, "previous_response_id"),
        (RESPONSES, {"text": {"format": "json"}}, "text.format"),
        (RESPONSES, {"text": {"format": {"type": "json_schema", "name": "A"}}}, "text.format.schema"),
        (RESPONSES, {"store": "no"}, "store"),
        (RESPONSES, {"reasoning": {"effort": 5}}, "reasoning.effort"),
        (RESPONSES, {"input": [said(5)]}, "input[0]"),
        (MESSAGES, {"system": 5}, "system"),
        (MESSAGES, {"thinking": "on"}, "thinking"),
        (MESSAGES, {"metadata": "u"}, "metadata"),
        *((CHAT, {field: most}, field) for field in ("max_tokens", "max_completion_tokens") for most in (0, -5)),
        *((RESPONSES, {"max_output_tokens": most}, "max_output_tokens") for most in (0, -1)),
        *((MESSAGES, {"max_tokens": most}, "max_tokens") for most in (None, -1)),
        *((path, {"tool_choice": choice}, "tool_choice") for path in (CHAT, RESPONSES, MESSAGES) for choice in WANTING),
        (RESPONSES, {"tool_choice": "required", "tools": [{"type": "web_search"}]}, "tool_choice"),
        *(
            (path, {"model": "m+tools", "tool_choice": WANTING[-1]}, "tool_choice")
            for path in (CHAT, RESPONSES, MESSAGES)
        ),
        (CHAT, {"messages": [said([{"type": "image_url", "image_url": {"url": ""}}])]}, "messages[0].content[0]"),
        (MESSAGES, {"output_config": {"effort": 5}}, "output_config.effort"),
        (OLLAMA, {"options": {"num_predict": 1.5}}, "num_predict"),
        (OLLAMA, {"think": 5}, "think"),
        (OLLAMA, {"options": {"seed": "x"}}, "options.seed"),
        *((path, {"tools": wrong}, "tools") for path in (CHAT, OLLAMA) for wrong in ({}, "", 0, False)),
        *((OLLAMA, {name: []}, name) for name in ("options", "format", "keep_alive")),
        (CHAT, {"functions": {}}, "functions"),
        (CHAT, {"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]}, "tools[0]"),
        (CHAT, {"tools": [{"type": "function", "function": {"name": "f", "strict": "no"}}]}, "tools[0]"),
        (CHAT, {"stream_options": {"include_usage": "yes"}}, "stream_options.include_usage"),
        *((CHAT, {name: "x"}, name) for name in ("logprobs", "top_logprobs", "metadata", "store", "logit_bias")),
        (RESPONSES, {"truncation": "maybe"}, "auto, disabled"),
        (RESPONSES, {"text": {"format": {"type": "maybe"}}}, "text.format.type"),
        *((RESPONSES, {name: 0}, name) for name in ("metadata", "stream_options", "service_tier", "conversation")),
        (MESSAGES, {"thinking": {"type": "maybe"}}, "thinking.type"),
        (MESSAGES, {"output_format": {"type": "json"}}, "output_format.type"),
        (MESSAGES, {"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        *((path, {"input": wrong}, "input") for path in (EMBEDDINGS, EMBED) for wrong in (5, {}, True)),
        (EMBEDDINGS, {"model": 5}, "model"),
        (EMBED, {"dimensions": "x"}, "dimensions"),
        (OLLAMA, {"messages": PICTURES}, "messages[0].images"),
        *((GENERATE, {name: wrong}, name) for name, wrong in (("raw", True), ("template", "{{ .Prompt }}"))),
        *(
            (path, {"messages": [said([{"type": wrong, "text": "hi"}])]}, "messages[0].content[0]")
            for path in (CHAT, MESSAGES, OLLAMA)
            for wrong in ([], {})
        ),
        *((RESPONSES, {"input": [said("hi") | wrong]}, f"input[0].{next(iter(wrong))}") for wrong in ITEMS),
        *((CONVERSATIONS, {"items": [said("hi") | wrong]}, f"items[0].{next(iter(wrong))}") for wrong in ITEMS),
        (CONVERSATIONS, {"items": [said(5)]}, "items[0].content"),
        *((RESPONSES, {"tools": [{"type": "local_shell"}, {"type": wrong}]}, "tools[1]") for wrong in ([], {})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_it_is_a_400_that_names_the_field(tmp_path: Path, path: str, wrong: dict[str, Any], named: str) -> None:
    hub = MemoryHub(ScriptedBackend([]), settings=Settings(hub=HubSettings(data_dir=tmp_path)))
    async with served(application(hub)) as url:
        status, answer = await post(url + path, BODIES.get(path, {"model": "m", "input": "hi"}) | wrong)
    assert status == 400, answer
    error = answer["error"]
    assert named in (error if isinstance(error, str) else error["message"])


async def test_what_its_api_allows_is_taken(tmp_path: Path) -> None:
    allowed = {
        CHAT: {
            "max_tokens": -1,
            "response_format": {"type": "text"},
            "top_p": 1,
            "parallel_tool_calls": None,
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {}, "strict": None}}],
            "logit_bias": [[15043, 1.0]],
        },
        RESPONSES: {"metadata": {"a": "b"}, "tools": None, "text": {"format": {"type": "text"}}, "truncation": "auto"},
        MESSAGES: {
            "system": [{"type": "text", "text": "S"}],
            "thinking": None,
            "max_tokens": 5.0,
        },
        OLLAMA: {"options": {"num_predict": -2}, "messages": None, "format": "", "keep_alive": "5m"},
        GENERATE: {"raw": False, "template": "", "tools": None, "keep_alive": 0.5},
    }
    hub = MemoryHub(ScriptedBackend(["ok"] * 5), settings=Settings(hub=HubSettings(data_dir=tmp_path)))
    async with served(application(hub)) as url:
        for path, fields in allowed.items():
            status, answer = await post(url + path, {"tool_choice": "auto"} | BODIES[path] | fields)
            assert status == 200, (path, answer)


async def test_the_field_that_an_endpoint_refuses_or_that_is_not_kept_is_named_as_openai_does(tmp_path: Path) -> None:
    refusal = {"error": {"message": "too hot", "type": "invalid_request_error", "param": "temperature"}}
    async with serve(lambda _: json_reply(refusal, 400)) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        hub = MemoryHub(backend, settings=Settings(hub=HubSettings(data_dir=tmp_path)))
        async with (
            served(application(hub)) as url,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up", max_retries=0) as client,
        ):
            with pytest.raises(openai.BadRequestError) as refused:
                await client.chat.completions.create(**TURNS)
            with pytest.raises(openai.NotFoundError) as unknown:
                await client.responses.create(model="m", input="hi", previous_response_id="resp_none")
        await backend.close()
    assert (refused.value.param, unknown.value.param) == ("temperature", "previous_response_id")


async def test_a_conversation_that_is_too_long_is_told_in_the_word_that_clients_shorten_it_by(tmp_path: Path) -> None:
    """Codex and LangChain read OpenAI's code, Claude Code the words of Messages."""
    refusal = {"error": {"message": "Too much.", "code": "context_length_exceeded"}}
    told: dict[str, Any] = {}
    async with serve(lambda _: json_reply(refusal, 400)) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        hub = MemoryHub(backend, settings=Settings(hub=HubSettings(data_dir=tmp_path)))
        async with served(application(hub)) as url:
            for path in (CHAT, RESPONSES, MESSAGES):
                status, answer = await post(url + path, BODIES[path])
                assert status == 400
                told[path] = answer["error"]
        await backend.close()
    assert told[CHAT]["code"] == told[RESPONSES]["code"] == "context_length_exceeded"
    assert told[MESSAGES]["message"].startswith("prompt is too long: ")
    assert error_of(failure("context_exceeded", "Too much."))["code"] == "context_length_exceeded", "in a stream"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_message_of_no_tokens_is_an_answer_that_says_nothing(tmp_path: Path, stream: bool) -> None:
    hub = MemoryHub(ScriptedBackend([]), settings=Settings(hub=HubSettings(data_dir=tmp_path)))
    async with served(application(hub)) as url, anthropic.AsyncAnthropic(base_url=url, api_key="made-up") as client:
        if stream:
            async with client.messages.stream(**TURNS, max_tokens=0) as told:
                message = await told.get_final_message()
        else:
            message = await client.messages.create(**TURNS, max_tokens=0)
    assert (message.content, message.stop_reason, message.usage.output_tokens) == ([], "max_tokens", 0)


async def test_an_account_without_credit_is_told_apart_from_a_limit_and_not_asked_again(tmp_path: Path) -> None:
    """OpenAI's and Anthropic's packages ask again by themselves after a 429."""
    refusal = {"error": {"message": "Check your plan.", "type": "insufficient_quota", "code": "insufficient_quota"}}
    async with serve(lambda _: json_reply(refusal, 429)) as fake:
        backend = QueuedBackend(OpenAIBackend(Endpoint.of(fake.base_url), Profile()), RequestQueue(RateLimits()))
        hub = MemoryHub(backend, settings=Settings(hub=HubSettings(data_dir=tmp_path)))
        async with (
            served(application(hub)) as url,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up") as chat,
            anthropic.AsyncAnthropic(base_url=url, api_key="made-up") as messages,
        ):
            with pytest.raises(openai.RateLimitError) as told:
                await chat.chat.completions.create(**TURNS)
            with pytest.raises(openai.RateLimitError) as told_too:
                await chat.responses.create(model="m", input="hi")
            with pytest.raises(anthropic.APIStatusError) as billed:
                await messages.messages.create(**TURNS, max_tokens=5)
        await backend.close()
    assert told.value.code == told_too.value.code == "insufficient_quota"
    assert billed.value.type == "billing_error"
    assert len(fake.bodies) == 3, "each was asked once"
