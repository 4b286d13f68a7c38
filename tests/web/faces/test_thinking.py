"""What a client asks about thinking reaches each wire in that API's own words, or is told as not possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from naru.config import HubSettings, Settings
from naru.messages import ChatRequest
from naru.models.known.profile import Profile
from naru.models.known.thinking import effort_asked
from naru.models.transport.endpoint import Endpoint
from naru.models.wires import anthropic_wire, responses_wire
from naru.models.wires.gemini import GeminiBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend
from tests.models.fake_endpoint import FakeEndpoint, json_reply, serve
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.matrix import FACES, WIRES
from tests.web.faces.strict import post
from tests.web.faces.test_matrix import body_of, wired

NO: dict[str, dict[str, Any]] = {
    "chat completions": {"reasoning_effort": "none"},
    "Responses": {"reasoning": {"effort": "none"}},
    "Messages": {"thinking": {"type": "disabled"}},
    "Ollama": {"think": False},
}
SAID: dict[str, tuple[str, Any]] = {
    "openai": ("reasoning_effort", "none"),
    "anthropic": ("thinking", {"type": "disabled"}),
    "responses": ("reasoning", {"effort": "none"}),
    "ollama": ("think", False),
    "gemini": ("thinkingConfig", {"thinking_budget": 0, "include_thoughts": False}),
}
OTHER_WORDS: tuple[dict[str, Any], ...] = (
    {"reasoning": {"effort": "none"}},
    {"reasoning": {"enabled": False}},
    {"thinking": {"type": "disabled"}},
    {"enable_thinking": False},
    {"think": False},
)
"""Of clients of chat completions, for what OpenAI calls `reasoning_effort: none`."""


@pytest.mark.parametrize("wire", WIRES)
async def test_that_a_model_shall_not_think_reaches_every_wire_by_its_own_word(wire: str, tmp_path: Path) -> None:
    name, value = SAID[wire]
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with serve([json_reply({"error": {"message": "no"}}, 400)]) as fake:
        backend = wired(wire, fake.base_url.removesuffix("/v1"))
        try:
            async with served(application(MemoryHub(backend, settings=settings))) as url:
                for face, path in FACES.items():
                    await post(url + path, body_of(face, "text", stream=False) | NO[face])
        finally:
            await backend.close()
    told = [body.get("generationConfig", body)[name] for body in fake.bodies]
    assert told == [value] * len(FACES)


@pytest.mark.parametrize("asked", OTHER_WORDS, ids=str)
def test_clients_of_chat_completions_say_so_in_many_words(asked: dict[str, Any]) -> None:
    assert effort_asked(ChatRequest("m", (), extra=asked)) == "none"
    assert asked.keys() <= anthropic_wire.TAKES & responses_wire.TAKES & OllamaBackend.takes & GeminiBackend.takes


@pytest.mark.parametrize(("effort", "thinks"), [("none", False), ("high", True)])
async def test_llama_cpp_is_told_by_its_templates_switch_too(effort: str, thinks: bool) -> None:
    async with serve([json_reply({"error": {"message": "no"}}, 400)]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(schema_form="llama.cpp"), model="m")
        asked = {"reasoning_effort": effort, "chat_template_kwargs": {"preserve_thinking": True}}
        try:
            async with served(application(MemoryHub(backend))) as url:
                body = body_of("chat completions", "text", stream=False)
                await post(url + FACES["chat completions"], body | asked)
        finally:
            await backend.close()
    assert fake.bodies[0]["chat_template_kwargs"] == {"enable_thinking": thinks, "preserve_thinking": True}


ANSWERED = {"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]}
REFUSALS = (
    "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    '"m" does not support thinking',
    "Budget 0 is invalid. This model only works in thinking mode.",
)


@pytest.mark.parametrize("words", REFUSALS)
async def test_an_endpoint_that_takes_no_word_of_it_answers_all_the_same_and_the_client_is_told(words: str) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if "reasoning_effort" in body:
            return json_reply({"error": {"message": words}}, 400)
        return json_reply(ANSWERED)

    async with serve(answer) as fake:
        status, told = await asked_plainly(fake)
        assert (status, told["choices"][0]["message"]["content"]) == (200, "Yes.")
        assert "thinking (none): not passed on" in told["naru"]["note"]
        assert words[:20] in told["naru"]["note"]


async def test_a_refused_tool_whose_name_speaks_of_thinking_costs_no_thinking() -> None:
    def answer(body: dict[str, Any]) -> Any:
        if any(tool["function"]["name"] == "sequentialthinking" for tool in body.get("tools") or ()):
            return json_reply({"error": {"message": "Invalid schema for function 'sequentialthinking'."}}, 400)
        return json_reply(ANSWERED)

    names = ("sequentialthinking", "other")
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]
    async with serve(answer) as fake:
        status, told = await asked_plainly(fake, tools=tools)
    assert status == 200
    assert told["naru"]["note"].startswith("tools sequentialthinking: not offered")
    assert [body["reasoning_effort"] for body in fake.bodies] == ["none", "none"]


async def test_another_refusal_stays_one() -> None:
    async with serve([json_reply({"error": {"message": "There is no room."}}, 400)]) as fake:
        status, _ = await asked_plainly(fake)
        assert (status, len(fake.bodies)) == (400, 1)


async def asked_plainly(fake: FakeEndpoint, **more: Any) -> tuple[int, Any]:
    backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
    try:
        async with served(application(MemoryHub(backend))) as url:
            body = body_of("chat completions", "text", stream=False) | NO["chat completions"] | more
            return await post(url + FACES["chat completions"], body)
    finally:
        await backend.close()
