"""A native call's arguments: streamed as an object, in any pieces, mended only while nothing has been shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.counting import calls_made

from naru.dialects import StreamParser
from naru.messages import ArgumentsDelta, CallEnd, CallStart, ChatEvent, Text
from naru.models.native_call import NativeCall, read_object
from naru.models.normalise import AnswerReader


def read(pieces: list[str], *, names: list[str] | None = None, reason: str = "tool_calls") -> list[ChatEvent]:
    reader = AnswerReader(StreamParser([]))
    events: list[ChatEvent] = []
    for position, piece in enumerate(pieces):
        name = names[position] if names and position < len(names) else "f" if not position else ""
        events += reader.call_delta(0, "a" if not position else "", name, piece)
    return events + reader.finish(reason)[:-1]


def streamed(events: list[ChatEvent]) -> str:
    return "".join(event.json for event in events if isinstance(event, ArgumentsDelta))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("null", {}),
        ("{'a': True}", {"a": True}),
        ('{"a":1}{"a":2}', {"a": 1}),
        ('{"a":1}\n{"a":2}', {"a": 1}),
        ("{}{}{}", {}),
        ('{"code": "if (x) { y } { z }"}', {"code": "if (x) { y } { z }"}),
        (json.dumps('{"a": 1}'), {"a": 1}),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_arguments_come_out_as_one_object_under_every_split(text: str, wanted: dict[str, Any], size: int) -> None:
    events = read([text[start : start + size] for start in range(0, len(text), size)] or [""])
    assert [event.arguments for event in events if isinstance(event, CallEnd)] == [wanted]
    assert json.loads(streamed(events)) == wanted
    assert sum(isinstance(event, CallStart) for event in events) == 1


@pytest.mark.parametrize("text", ["[1]", "hello", '"x"'])
def test_what_is_no_object_is_said_as_text(text: str) -> None:
    assert read([text]) == [Text(f"f({text})")]


@pytest.mark.parametrize("reason", ["tool_calls", "length"])
def test_a_call_that_was_shown_and_never_ended_is_not_complete(reason: str) -> None:
    events = read(['{"a": ', "1"], reason=reason)
    assert streamed(events) == '{"a": 1'
    assert not any(isinstance(event, CallEnd) for event in events)


def test_a_name_may_come_in_pieces_or_again_and_again() -> None:
    assert CallStart(0, "a", "get_weather") in read(["", "{}"], names=["get_", "weather"])
    assert CallStart(0, "a", "f") in read(["{", '"a": 1}'], names=["f", "f"])


def test_a_long_call_in_small_pieces_is_decoded_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    decode = json.loads
    monkeypatch.setattr(json, "loads", lambda text: decoded.append(len(text)) or decode(text))
    text = json.dumps({"content": "x} {y " * 16_000})
    read([text[start : start + 4] for start in range(0, len(text), 4)])
    assert 0 < sum(decoded) <= 12 * len(text)


def test_a_long_call_in_small_pieces_makes_no_more_work_than_its_length() -> None:
    def work(size: int) -> int:
        text = json.dumps({"content": "x} {y " * size})
        return calls_made(lambda: read([text[start : start + 4] for start in range(0, len(text), 4)]))

    assert work(8_000) < 9 * work(1_000)


def test_space_before_an_object_is_not_kept_to_be_looked_at() -> None:
    call = NativeCall(name="f")
    for _ in range(5_000):
        call.add("    ")
        assert not call.shows()
    call.add("{")
    for _ in range(5_000):
        call.add("\n")
        assert not call.shows()
    call.add('"a": 1}')
    assert call.shows()
    assert call.arguments() == {"a": 1}


@pytest.mark.parametrize(("text", "wanted"), [("{a: 1}", {"a": 1}), ("[" * 5_000, None), ("{", None), ("7", None)])
def test_any_text_is_an_object_or_nothing(text: str, wanted: dict[str, Any] | None) -> None:
    assert read_object(text) == wanted
