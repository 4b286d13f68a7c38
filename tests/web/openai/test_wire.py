"""The wire form is Naru's own: whatever the events, a strict reader gets them back, with one end (S-67)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.messages import ArgumentsDelta, CallEnd, CallStart, ChatEvent, Finish, Reasoning, Text, Usage
from naru.models.transport.json_text import encode
from naru.web.openai.wire import ChunkWriter, WholeAnswer

_NAME = st.text(st.characters(exclude_categories=[]), min_size=1, max_size=8)
_ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=12)
_ARGUMENTS = st.dictionaries(
    _ANY_TEXT, st.none() | st.integers() | _ANY_TEXT | st.lists(_ANY_TEXT, max_size=2), max_size=3
)


@st.composite
def answers(draw: st.DrawFn) -> list[ChatEvent]:
    """Draw a well-formed answer: text, thought and calls, whose arguments stream in any pieces or not at all."""
    events: list[ChatEvent] = []
    calls = 0
    for kind in draw(st.lists(st.sampled_from(["text", "reasoning", "call"]), max_size=6)):
        if kind == "call":
            arguments = draw(_ARGUMENTS)
            events.append(CallStart(calls, draw(st.sampled_from(["", "same"])), draw(_NAME)))
            if draw(st.booleans()):
                text = json.dumps(arguments)
                cut = draw(st.integers(0, len(text)))
                events += [ArgumentsDelta(calls, piece) for piece in (text[:cut], text[cut:]) if piece]
            events.append(CallEnd(calls, arguments))
            calls += 1
        else:
            events.append((Text if kind == "text" else Reasoning)(draw(_ANY_TEXT)))
    events.append(Usage(draw(st.integers(0, 99)), draw(st.integers(0, 99))))
    return [*events, Finish(draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter"])))]


def read_strictly(stream: bytes) -> dict[str, Any]:
    """Read an event stream as a strict client does."""
    lines = stream.decode("utf-8").split("\n\n")
    assert lines.pop() == ""
    assert lines.pop() == "data: [DONE]"
    found: dict[str, Any] = {"content": "", "reasoning": "", "calls": [], "reasons": [], "usage": []}
    ids = set()
    for line in lines:
        assert line.startswith("data: {")
        assert "\n" not in line
        assert "\r" not in line
        chunk = json.loads(line.removeprefix("data: "))
        ids.add(chunk["id"])
        if not chunk["choices"]:
            found["usage"].append(chunk["usage"])
            continue
        (choice,) = chunk["choices"]
        assert choice["index"] == 0
        delta = choice["delta"]
        found["content"] += delta.get("content", "")
        found["reasoning"] += delta.get("reasoning_content", "")
        for call in delta.get("tool_calls", ()):
            if call["index"] == len(found["calls"]):
                assert call["type"] == "function"
                found["calls"].append({"id": call["id"], "name": call["function"]["name"], "arguments": ""})
            else:
                assert "id" not in call
                assert "name" not in call["function"]
            found["calls"][call["index"]]["arguments"] += call["function"]["arguments"]
        if choice["finish_reason"] is not None:
            found["reasons"].append(choice["finish_reason"])
    assert len(ids) == 1
    return found


@given(answers(), st.booleans())
@settings(max_examples=300, deadline=None)
@pytest.mark.slow
def test_any_answer_reads_the_same_streamed_and_whole(events: list[ChatEvent], usage: bool) -> None:
    writer, whole = ChunkWriter("m", include_usage=usage), WholeAnswer("m")
    stream = writer.start() + b"".join(map(writer.feed, events)) + writer.end()
    for event in events:
        whole.feed(event)
    body = json.loads(whole.body())
    message = body["choices"][0]["message"]
    found = read_strictly(stream)

    assert found["content"] == (message["content"] or "")
    assert found["reasoning"] == message.get("reasoning_content", "")
    assert found["reasons"] == [body["choices"][0]["finish_reason"]]
    assert found["usage"] == ([body["usage"]] if usage else [])
    calls = message.get("tool_calls", [])
    ids = [call["id"] for call in (*calls, *found["calls"])]
    assert len(set(ids)) == len(ids)
    assert [(c["name"], json.loads(c["arguments"])) for c in found["calls"]] == [
        (c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls
    ]
    assert all(isinstance(json.loads(call["arguments"]), dict) for call in found["calls"])
    reason = next(event.reason for event in events if isinstance(event, Finish))
    wanted = reason if reason in ("length", "content_filter") else "tool_calls" if calls else "stop"
    assert body["choices"][0]["finish_reason"] == wanted


def test_what_orjson_refuses_is_encoded_all_the_same() -> None:
    value = {"half": "\ud83d", "big": 2**80}
    assert json.loads(encode(value)) == value
