"""Issue 17 line 8: the length of a context is the endpoint's word or the setting's, else the family's."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.models.fake_endpoint import Reply, json_reply, serve

from naru.messages import ChatRequest, Message
from naru.models.known.context_length import of_listed, of_ollama, of_props
from naru.models.known.knowledge import Knowledge
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend

SHAPES: dict[str, tuple[Any, int]] = {
    "vllm": ({"data": [{"id": "m", "max_model_len": 70_000}]}, 70_000),
    "openrouter": ({"data": [{"id": "x", "context_length": 1}, {"id": "m", "context_length": 131_072}]}, 131_072),
    "groq": ({"data": [{"id": "m", "context_window": 32_768}]}, 32_768),
    "mistral": ({"data": [{"id": "m", "max_context_length": 131_072}]}, 131_072),
    "lm studio": ({"data": [{"id": "m", "max_context_length": 32_768, "loaded_context_length": 4096}]}, 4096),
    "llama.cpp": ({"data": [{"id": "other.gguf", "meta": {"n_ctx_train": 32_768}}]}, 0),
    "openai": ({"data": [{"id": "m", "object": "model"}]}, 0),
    "several, none of the name": ({"data": [{"id": "a", "context_length": 5}, {"id": "b", "context_length": 6}]}, 0),
    "no list": ("hello", 0),
    "odd": ({"data": [None, {"id": "m", "context_length": "many"}]}, 0),
}


@pytest.mark.parametrize(("listed", "wanted"), SHAPES.values(), ids=SHAPES)
def test_every_form_of_a_model_list_is_read(listed: Any, wanted: int) -> None:
    assert of_listed(listed, "m") == wanted


def test_llama_cpp_says_what_it_runs_with() -> None:
    assert of_props({"default_generation_settings": {"n_ctx": 8192}}) == 8192
    assert of_props({}) == of_props(None) == 0


def test_ollama_says_its_own_choice_and_the_longest() -> None:
    shown = {"parameters": 'stop "<|im_end|>"\nnum_ctx 16384', "model_info": {"qwen2.context_length": 32_768}}
    assert of_ollama(shown) == (16_384, 32_768)
    assert of_ollama({}) == (0, 0)


@pytest.mark.parametrize(
    ("given", "paths", "wanted"),
    [
        ({}, {"/v1/models": {"data": [{"id": "some-70b", "max_model_len": 65_000}]}}, 65_000),
        (
            {},
            {"/v1/models": {"data": [{"id": "some-70b"}]}, "/props": {"default_generation_settings": {"n_ctx": 9}}},
            9,
        ),
        ({"context_tokens": 12_345}, {"/v1/models": {"data": [{"id": "some-70b", "max_model_len": 1}]}}, 12_345),
        ({}, {}, 0),
    ],
    ids=["list", "props", "setting", "silent"],
)
async def test_the_profile_has_the_length_that_the_endpoint_tells(
    given: dict[str, Any], paths: dict[str, Any], wanted: int
) -> None:
    asked: list[str] = []

    def answer(path: str) -> Reply:
        asked.append(path)
        return json_reply(paths[path]) if path in paths else json_reply({"error": "no"}, 404)

    async with serve(lambda _: answer(fake.paths[-1])) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Knowledge(default_model="some-70b", given=given))
        for _ in range(2):
            await backend.inform("some-70b")
        assert backend.knowledge.of("some-70b").profile.context_tokens == wanted
        await backend.close()
    assert len(asked) == len(set(asked)), "asked once"
    assert asked, "also for its size, where the length is set"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ({"parameters": "num_ctx 16384", "model_info": {"a.context_length": 32_768}}, 16_384),
        ({"model_info": {"a.context_length": 131_072}}, 8192),
        ({"model_info": {"a.context_length": 2048}}, 2048),
        ({}, 8192),
    ],
)
async def test_ollama_is_asked_for_the_context_that_it_has(shown: dict[str, Any], wanted: int) -> None:
    done = b'{"message": {"content": "ok"}, "done": true}\n'

    def answer(body: dict[str, Any]) -> Reply:
        return Reply([done], content_type="application/x-ndjson") if "messages" in body else json_reply(shown)

    async with serve(answer) as fake:
        backend = OllamaBackend(Endpoint.of(fake.base_url), Knowledge(default_model="m"), model="m")
        _ = [event async for event in backend.stream(ChatRequest("m", [Message("user", "hi")]))]
        assert fake.bodies[-1]["options"]["num_ctx"] == wanted
        assert backend.profile.context_tokens == wanted
        await backend.close()


@pytest.mark.parametrize("kind", [OpenAIBackend, OllamaBackend])
async def test_an_endpoint_that_is_away_is_no_trouble_and_asked_again_later(kind: Any) -> None:
    backend = kind(Endpoint.of("http://127.0.0.1:9/v1"), Knowledge(default_model="m"), model="m")
    await backend.inform("m")
    assert backend.profile.context_tokens == 0
    assert 0 < backend.knowledge.of("m").ask_again_at < time.monotonic() + 61
    await backend.close()
