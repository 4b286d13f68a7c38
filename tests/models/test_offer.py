"""Tools in the form a wire takes, with names that come back as the caller wrote them (R8, N6)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.models.fake_endpoint import Reply, delta, serve, sse, tool_delta

from naru.messages import CallEnd, CallStart, ChatRequest, Message, ToolCall, ToolDefinition
from naru.models.asking.offer import offer
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend

ODD = ToolDefinition("날씨.조회", "Tell the weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
PLAIN = ToolDefinition("plain", "Nothing odd.")
ASK = ChatRequest(
    "m",
    [
        Message("user", "hi"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "날씨.조회", {"city": "Seoul"}),)),
        Message("tool", "sunny", tool_call_id="c1"),
    ],
    tools=[ODD, PLAIN],
    tool_choice={"type": "function", "function": {"name": "날씨.조회"}},
)


@pytest.mark.parametrize("leaked", [False, True], ids=["native", "in-the-text"])
async def test_a_name_that_providers_refuse_goes_out_legal_and_comes_back_as_it_was(leaked: bool) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        name = body["tools"][0]["function"]["name"]
        if leaked:
            return Reply(sse(delta(content=f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>')))
        return Reply(sse(tool_delta(0, call_id="c2", name=name, arguments="{}")))

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        events = [event async for event in backend.stream(ASK)]
        await backend.close()
    assert [event.name for event in events if isinstance(event, CallStart)] == ["날씨.조회"]
    assert len([event for event in events if isinstance(event, CallEnd)]) == 1
    body = fake.bodies[0]
    sent = body["tools"][0]["function"]["name"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", sent)
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == sent
    assert body["tool_choice"]["function"]["name"] == sent


def test_a_tool_that_cannot_be_sent_costs_the_others_nothing() -> None:
    huge = ToolDefinition(
        "huge", "", {"type": "object", "properties": {"p": {"enum": [f"{number:0100}" for number in range(2000)]}}}
    )
    offered = offer(ChatRequest("m", [], tools=[huge, PLAIN]), "openai")
    assert [tool.name for tool in offered.request.tools] == ["plain"]


def test_the_same_tools_are_converted_once() -> None:
    first, second = (offer(ChatRequest("m", [], tools=[ODD, PLAIN]), "openai") for _ in range(2))
    assert first.declarations["plain"] is second.declarations["plain"]
    other = offer(ChatRequest("m", [], tools=[ODD, PLAIN]), "ollama")
    assert other.declarations["plain"] is not first.declarations["plain"]


def test_no_tools_are_no_work() -> None:
    request = ChatRequest("m", [])
    assert offer(request, "openai").request is request
