"""Issue 19 line 5: the engine behind a base URL is recognised by what it says, and gets schemas that it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.models.fake_endpoint import Reply, json_reply, serve

from naru.config import AgentSettings, EndpointSettings, ModelSettings, Settings
from naru.messages import ChatRequest, Message, ToolDefinition
from naru.models.known.knowledge import Findings
from naru.models.open import open_wire
from naru.models.wires.openai_http import OpenAIBackend

NESTED = ToolDefinition(
    "book",
    "Book a room.",
    {
        "type": "object",
        "properties": {"at": {"type": "object", "properties": {"day": {"type": "string", "pattern": "(?=a)\\\\d+"}}}},
    },
)
"""A nested pattern with a look-ahead: llama.cpp answers 400 to the whole request."""
LLAMA_MODELS = {
    "object": "list",
    "models": [{"name": "qwen2.5-3b.gguf", "model": "qwen2.5-3b.gguf"}],
    "data": [{"id": "qwen2.5-3b.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}],
}
LLAMA_PROPS = {
    "default_generation_settings": {"id": 0, "n_ctx": 4096, "params": {}},
    "total_slots": 1,
    "model_path": "qwen2.5-3b.gguf",
    "chat_template": "",
    "build_info": "b6000",
}
STUDIO_MODELS = {"object": "list", "data": [{"id": "qwen2.5-3b", "object": "model", "owned_by": "organization_owner"}]}
STUDIO_OWN = {
    "object": "list",
    "data": [
        {
            "id": "qwen2.5-3b",
            "object": "model",
            "type": "llm",
            "publisher": "qwen",
            "arch": "qwen2",
            "compatibility_type": "gguf",
            "quantization": "Q4_K_M",
            "state": "loaded",
            "max_context_length": 32768,
            "loaded_context_length": 8192,
        }
    ],
}
STUDIO_UNKNOWN = {"error": "Unexpected endpoint or method. (GET /props)"}
"""LM Studio answers so with 200."""
VLLM_MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "vllm", "max_model_len": 4096}]}
MIXED = {"data": [{"id": "a", "owned_by": "llamacpp"}, {"id": "b", "owned_by": "openai"}]}
DONE = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}


def opened(url: str, form: str = "", api: str = "openai") -> Any:
    settings = Settings.model_construct(
        model=ModelSettings.model_validate({"schema_form": form}), agent=AgentSettings()
    )
    given = EndpointSettings.model_validate({"name": "e", "base_url": url, "api": api})
    return open_wire(given, settings, Findings(), model="m")


async def sent_to(paths: dict[str, Any], form: str = "") -> tuple[dict[str, Any], OpenAIBackend]:
    """Return the schema that an endpoint which answers so is sent."""

    def answer(body: dict[str, Any]) -> Reply:
        path = fake.paths[-1]
        if path.endswith("/chat/completions"):
            return json_reply(DONE)
        return json_reply(paths[path]) if path in paths else json_reply({"error": "no"}, 404)

    async with serve(answer) as fake:
        backend = opened(fake.base_url, form)
        await backend.inform("m")
        _ = [event async for event in backend.stream(ChatRequest("m", [Message("user", "hi")], tools=[NESTED]))]
        await backend.close()
        schema: dict[str, Any] = fake.bodies[-1]["tools"][0]["function"]["parameters"]
        return schema, backend


@pytest.mark.parametrize(
    ("paths", "is_grammar"),
    [
        ({"/v1/models": LLAMA_MODELS}, True),
        ({"/v1/models": {"data": [{"id": "m"}]}, "/props": LLAMA_PROPS}, True),
        ({"/v1/models": STUDIO_MODELS, "/props": STUDIO_UNKNOWN, "/api/v0/models": STUDIO_OWN}, True),
        ({"/v1/models": VLLM_MODELS}, False),
        ({"/v1/models": STUDIO_MODELS, "/props": STUDIO_UNKNOWN, "/api/v0/models": STUDIO_UNKNOWN}, False),
        ({"/v1/models": MIXED}, False),
        ({}, False),
    ],
    ids=["owned-by", "props", "lm-studio", "vllm", "errors-with-200", "several-owners", "silent"],
)
async def test_what_the_endpoint_says_it_is_chooses_the_form(paths: dict[str, Any], is_grammar: bool) -> None:
    schema, _ = await sent_to(paths)
    assert ("pattern" in json.dumps(schema["properties"]["at"])) is not is_grammar


async def test_lm_studio_says_the_context_that_a_model_was_loaded_with() -> None:
    _, backend = await sent_to({"/v1/models": STUDIO_MODELS, "/props": STUDIO_UNKNOWN, "/api/v0/models": STUDIO_OWN})
    assert backend.knowledge.of("m").profile.context_tokens == 8192


@pytest.mark.parametrize(("form", "keeps"), [("openai", True), ("llama.cpp", False)])
@pytest.mark.parametrize("paths", [{"/v1/models": LLAMA_MODELS}, {"/v1/models": VLLM_MODELS}], ids=["llama", "vllm"])
async def test_the_setting_overrules_what_the_endpoint_says(paths: dict[str, Any], form: str, keeps: bool) -> None:
    schema, _ = await sent_to(paths, form)
    assert ("pattern" in json.dumps(schema["properties"]["at"])) is keeps


@pytest.mark.parametrize("api", ["gemini", "anthropic", "ollama", "responses"])
async def test_other_wires_keep_their_own_form(api: str) -> None:
    backend = opened("http://127.0.0.1:9", "llama.cpp", api)
    assert backend.profile.schema_form == ""
    await backend.close()


async def test_a_list_of_models_that_somebody_asked_for_tells_the_engine_too() -> None:
    """Clients ask for it first: a plain request of theirs needs no question of ours."""

    def answer(body: dict[str, Any]) -> Reply:
        return json_reply(LLAMA_MODELS if fake.paths[-1] == "/v1/models" else DONE)

    async with serve(answer) as fake:
        backend = opened(fake.base_url)
        await backend.models()
        for model in ("qwen2.5-3b.gguf", "another"):
            _ = [event async for event in backend.stream(ChatRequest(model, [Message("user", "hi")], tools=[NESTED]))]
        await backend.close()
        assert fake.paths == ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]
        for body in fake.bodies[-2:]:
            assert "pattern" not in json.dumps(body["tools"][0]["function"]["parameters"]["properties"]["at"])
