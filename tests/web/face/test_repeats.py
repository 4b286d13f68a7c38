"""A small model that only repeats an answered call is asked once more, with the results in front."""

from __future__ import annotations

from collections.abc import Sequence

from naru.messages import (
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Finish,
    Message,
    Text,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.web.face.repeats import answered_calls, last_request, without_repeats

CALL = ToolCall("a", "get_weather", {"city": "Seoul"})
ASKED = (
    Message("system", "You are a coding agent."),
    Message("user", "Weather in Seoul?"),
    Message("assistant", tool_calls=(CALL,)),
    Message("tool", "Sunny, 25 degrees.", tool_call_id="a"),
)
REQUEST = ChatRequest("m", ASKED, tools=(ToolDefinition("get_weather"),))
CACHED = {"prompt_tokens_details": {"cached_tokens": 2}}
REPEAT: list[ChatEvent] = [
    CallStart(0, "", "get_weather"),
    CallEnd(0, {"city": "Seoul"}),
    Usage(5, 1, CACHED),
    Finish("stop"),
]
ANSWER: list[ChatEvent] = [Text("It is sunny."), Usage(7, 2), Finish("stop")]


async def told(answers: Sequence[Sequence[ChatEvent]]) -> tuple[list[ChatEvent], ScriptedBackend]:
    backend = ScriptedBackend(list(answers), profile=Profile(small=True))
    return [event async for batch in without_repeats(backend, REQUEST) for event in batch], backend


async def test_the_repeat_is_dropped_and_tokens_are_counted_together() -> None:
    events, backend = await told([REPEAT, ANSWER])
    assert events == [Text("It is sunny."), Usage(12, 3, CACHED), Finish("stop")]
    assert backend.requests[1].tools == ()
    assert [message.role for message in backend.requests[1].messages] == ["system", "user"]
    assert "Sunny, 25 degrees." in backend.requests[1].messages[1].text
    assert backend.requests[1].messages[1].text.endswith("Weather in Seoul?")


async def test_the_ruins_of_a_call_before_a_repeat_are_no_answer() -> None:
    events, _ = await told([[Text('{"name": "get_weather", "arguments": {"city":'), *REPEAT], ANSWER])
    assert events[0] == Text("It is sunny.")


async def test_an_answer_that_begins_like_a_call_is_given_at_the_end() -> None:
    answer: list[ChatEvent] = [Text("{25} degrees"), Finish("stop")]
    events, backend = await told([answer])
    assert events == answer
    assert len(backend.requests) == 1


def test_only_calls_since_the_last_question_count() -> None:
    assert answered_calls(ASKED)
    assert not answered_calls([*ASKED, Message("user", "And now?")])
    assert last_request(ChatRequest("m", [ASKED[2], ASKED[3]])).messages
