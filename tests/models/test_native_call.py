"""A native call's arguments: streamed as an object, in any pieces, mended only while nothing has been shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.counting import calls_made, lines_run

from naru.dialects import StreamParser
from naru.messages import ArgumentsDelta, BrokenCall, CallEnd, CallStart, ChatEvent, Finish
from naru.models.answers.native_call import NativeCall, read_object
from naru.models.answers.normalise import AnswerReader


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
        ('{"a":1}{"a":1}', {"a": 1}),
        ('{}{"a":1}', {"a": 1}),
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


@pytest.mark.parametrize("glue", ["", "\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_objects_glued_together_are_calls_of_their_own(glue: str, size: int) -> None:
    """Issue line 5: two argument objects in one call are two calls, under every split."""
    text = glue.join(['{"a":1}', '{"a":2}', '{"a":3}'])
    events = read([text[start : start + size] for start in range(0, len(text), size)])
    assert [(event.index, event.arguments) for event in events if isinstance(event, CallEnd)] == [
        (0, {"a": 1}),
        (1, {"a": 2}),
        (2, {"a": 3}),
    ]
    assert [event.name for event in events if isinstance(event, CallStart)] == ["f"] * 3


PIECES = {
    "whole": [("a", '{"x":1}'), ("b", '{"y":2}'), ("a", '{"x":3}')],
    "in pieces": [("a", '{"x"'), ("", ":1}"), ("b", '{"y"'), ("", ":2}"), ("a", ""), ("", '{"x":3}')],
    "named in every piece": [("a", '{"x"'), ("a", ":1}"), ("b", '{"y"'), ("b", ":2}"), ("a", '{"x":'), ("a", "3}")],
    "empty first": [("a", '{"x":1}'), ("b", "{}"), ("a", '{"x":3}')],
}


@pytest.mark.parametrize("ids", ["none", "same", "other"])
@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_parallel_calls_at_one_index_are_all_there(pieces: list[tuple[str, str]], ids: str) -> None:
    """Issue line 5: Gemini's OpenAI endpoint gives every parallel call index 0."""
    reader = AnswerReader(StreamParser([]), offered={"a", "b"})
    events: list[ChatEvent] = []
    begun = -1
    for position, (name, arguments) in enumerate(pieces):
        begins = name and (position == 0 or name != pieces[position - 1][0])
        begun += bool(begins)
        call_id = {"none": "", "same": "c", "other": f"c{begun}"}[ids] if begins else ""
        events += reader.call_delta(0, call_id, name, arguments)
    events += reader.finish("tool_calls")
    names = {event.index: event.name for event in events if isinstance(event, CallStart)}
    ended = sorted((event.index, names[event.index], event.arguments) for event in events if isinstance(event, CallEnd))
    second = {} if pieces[1] == ("b", "{}") else {"y": 2}
    assert [(name, arguments) for _, name, arguments in ended] == [("a", {"x": 1}), ("b", second), ("a", {"x": 3})]


def test_calls_without_arguments_at_one_index_are_told_apart_by_the_offered_names() -> None:
    reader = AnswerReader(StreamParser([]), offered={"list", "count"})
    events = [*reader.call_delta(0, "", "list", ""), *reader.call_delta(0, "", "count", ""), *reader.finish("stop")]
    assert [event.name for event in events if isinstance(event, CallStart)] == ["list", "count"]


def test_a_call_where_none_was_offered_is_none() -> None:
    """Issue line 5: `tool_choice: none`, and the endpoint calls all the same."""
    reader = AnswerReader(StreamParser([]), offered=())
    events = [*reader.call_delta(0, "c", "f", '{"a":1}'), *reader.finish("tool_calls")]
    assert events == [BrokenCall("c", "f", '{"a":1}', "no tool was offered"), Finish("stop")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1]", "its arguments are a list and no JSON object"),
        ("5", "its arguments are a number and no JSON object"),
        ('"x"', "its arguments are a text and no JSON object"),
        ("hello", "its arguments are no JSON (Expecting value at character 1)"),
    ],
)
def test_what_is_no_object_is_told_with_its_fault(text: str, fault: str) -> None:
    """Issue line 6."""
    assert read([text]) == [BrokenCall("a", "f", text, fault)]


@pytest.mark.parametrize("reason", ["tool_calls", "length"])
def test_a_call_that_was_shown_and_never_ended_is_not_complete(reason: str) -> None:
    events = read(['{"a": ', "1"], reason=reason)
    assert streamed(events) == '{"a": 1'
    assert not any(isinstance(event, CallEnd) for event in events)
    assert events[-1] == BrokenCall("a", "f", '{"a": 1', "its arguments end in the middle", reason == "length", 0)


def test_a_cut_call_ends_by_length_whatever_the_endpoint_says() -> None:
    """Report r2-33: the endpoint says tool_calls for arguments that end in the middle."""
    reader = AnswerReader(StreamParser([]))
    assert [*reader.call_delta(0, "a", "f", '{"a": "*.l'), *reader.finish("tool_calls")][-1] == Finish("length")


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


@pytest.mark.parametrize("wire", ["own indexes", "one index", "no index", "whole", "glued"])
def test_many_calls_in_one_answer_make_no_more_work_than_their_number(wire: str) -> None:
    def answer(count: int) -> None:
        reader = AnswerReader(StreamParser([]))
        for place in range(count):
            written = f'{{"a": {place}}}'
            match wire:
                case "whole":
                    reader.whole_call("", "f", {"a": place})
                case "glued":
                    reader.call_delta(0, "" if place else "a", "" if place else "f", written)
                case _:
                    key = {"own indexes": place, "one index": 0}.get(wire)
                    reader.call_delta(key, f"a{place}", "f", written)
        ends = [event for event in reader.finish("tool_calls") if isinstance(event, CallEnd)]
        assert [end.arguments["a"] for end in ends] == list(range(count))

    assert lines_run(lambda: answer(400)) < 5 * lines_run(lambda: answer(100))


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
