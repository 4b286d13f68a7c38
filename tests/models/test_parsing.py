"""The answer reader of a request, over what endpoints send as text."""

from __future__ import annotations

import pytest

from naru.messages import CallEnd, ChatRequest, Finish, Message, Text, ToolDefinition
from naru.models.parsing import answer_reader
from naru.models.profile import Profile

ASK = ChatRequest(
    "m", [Message("user", "Up?")], tools=[ToolDefinition("ping", "Ping.", {"properties": {"host": {"type": "string"}}})]
)
CALL = '<tool_call>{"name": "ping", "arguments": {"host": "a"}}</tool_call>'


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_draft_in_reasoning_that_the_template_opened_never_ends(size: int) -> None:
    reader = answer_reader(ASK, Profile())
    text = f"Try {CALL}? No.</think>It is up."
    events = [event for at in range(0, len(text), size) for event in reader.text(text[at : at + size])]
    events += reader.finish("stop")
    assert not any(isinstance(event, CallEnd) for event in events)
    assert events[-1] == Finish("stop")
    assert "".join(event.text for event in events if isinstance(event, Text)).endswith("It is up.")


def test_a_call_after_that_reasoning_counts() -> None:
    reader = answer_reader(ASK, Profile())
    events = reader.text(f"I must look.</think>\n{CALL}") + reader.finish("stop")
    assert [event.arguments for event in events if isinstance(event, CallEnd)] == [{"host": "a"}]
    assert events[-1] == Finish("tool_calls")
