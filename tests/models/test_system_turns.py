"""Issue 17 line 7: system turns are folded for every endpoint that refuses them, whatever words it uses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models.fake_endpoint import FakeEndpoint, Reply, delta, json_reply, serve, sse

from naru.errors import ModelError
from naru.messages import ChatRequest, Message, Text
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend

ASK = ChatRequest("m", [Message("system", "Be brief."), Message("user", "Hi")])
WORDS = [
    "System role not supported",
    "system message is not allowed for this model",
    "Developer instruction is not enabled for models/gemma-3-12b-it",
    "This model does not support system prompts.",
    "Only user and assistant roles are supported! Unexpected role 'system'",
    "'messages[0].role' does not support 'system' with this model.",
    "Invalid value: 'system'. Supported values are: 'assistant' and 'user'.",
    "Unknown role: system",
    "role must be one of user, assistant; got 'system'",
    "Conversation roles must alternate user/assistant/user/assistant/...",
]


def refuses_system(words: str, status: int) -> Any:
    def answer(body: dict[str, Any]) -> Reply:
        if any(turn["role"] == "system" for turn in body["messages"]):
            return json_reply({"error": {"message": words}}, status) if words else Reply((), status)
        return Reply(sse(delta(content="ok"), delta("stop")))

    return answer


async def said(fake: FakeEndpoint, request: ChatRequest = ASK, times: int = 1) -> str:
    backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
    try:
        text = ""
        for _ in range(times):
            text = "".join([event.text async for event in backend.stream(request) if isinstance(event, Text)])
        return text
    finally:
        await backend.close()


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("words", WORDS)
async def test_whatever_words_an_endpoint_refuses_system_turns_with_they_are_folded(words: str, status: int) -> None:
    async with serve(refuses_system(words, status)) as fake:
        assert await said(fake) == "ok"
    assert fake.bodies[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nHi"}]


async def test_a_failure_without_a_word_is_tried_without_system_turns_and_learnt() -> None:
    async with serve(refuses_system("", 500)) as fake:
        assert await said(fake, times=2) == "ok"
    assert len(fake.bodies) == 3, "learnt: the second request is folded at once"


async def test_a_failure_without_a_word_that_folding_does_not_help_teaches_nothing() -> None:
    async with serve(lambda _: Reply((), 500)) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
        with pytest.raises(ModelError, match="answered 500"):
            _ = [event async for event in backend.stream(ASK)]
        assert backend.profile.system_role
        await backend.close()
    assert len(fake.bodies) == 2


async def test_an_endpoint_that_has_taken_system_turns_is_not_doubted_for_a_failure() -> None:
    replies = [Reply(sse(delta(content="ok"), delta("stop"))), Reply((), 500)]
    async with serve(replies) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
        _ = [event async for event in backend.stream(ASK)]
        with pytest.raises(ModelError):
            _ = [event async for event in backend.stream(ASK)]
        assert len(fake.bodies) == 2
        await backend.close()


async def test_a_request_of_system_turns_alone_is_asked_as_the_users() -> None:
    async with serve([Reply(sse(delta(content="ok"), delta("stop")))]) as fake:
        request = ChatRequest("m", [Message("system", "Be brief."), Message("system", "Say hello.")])
        assert await said(fake, request) == "ok"
    assert [(turn["role"], turn["content"]) for turn in fake.bodies[0]["messages"]] == [
        ("system", "Be brief."),
        ("user", "Say hello."),
    ]


async def test_white_space_is_no_system_turn() -> None:
    async with serve([Reply(sse(delta(content="ok"), delta("stop")))]) as fake:
        await said(fake, ChatRequest("m", [Message("system", " \n"), Message("user", "Hi")]))
    assert [turn["role"] for turn in fake.bodies[0]["messages"]] == ["user"]


async def test_words_about_a_system_that_folding_does_not_help_teach_nothing() -> None:
    words = "The operating system is out of memory."
    async with serve(lambda _: json_reply({"error": {"message": words}}, 400)) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
        with pytest.raises(ModelError, match="out of memory"):
            _ = [event async for event in backend.stream(ASK)]
        assert backend.profile.system_role
        await backend.close()
