"""Any history that a client can hold is taken, or answered with an error that names the message."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.messages import ImagePart, Message, ResourcePart, TextPart
from naru.models.known.profile import Profile
from naru.models.transport.json_text import encode
from naru.models.wires.openai_wire import message_object
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import decode_body
from naru.web.face.reading.history import NOT_RUN, read_arguments, read_messages
from naru.web.openai.request import read_chat

_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
_JSON = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=4,
)
_ROLE = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]) | _JSON
_ID = st.sampled_from(["", "call_0", "call_1", None]) | _JSON
_FUNCTION = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["f", "g"]) | _JSON,
        "arguments": st.sampled_from(["", "{}", '{"a":1}{', "x"]) | _JSON,
    },
)
_CALL = st.fixed_dictionaries({}, optional={"id": _ID, "type": _JSON, "function": _FUNCTION | _JSON})
_PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image_url", "input_audio", "file", "refusal"]) | _JSON},
    optional={
        "text": _JSON,
        "image_url": st.fixed_dictionaries({"url": _JSON}) | _JSON,
        "input_audio": _JSON,
        "file": _JSON,
    },
)
_MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": _ROLE,
        "content": st.lists(_PART | _JSON, max_size=3) | _JSON,
        "tool_calls": st.lists(_CALL | _JSON, max_size=3) | _JSON,
        "tool_call_id": _ID,
        "name": _JSON,
        "function_call": _FUNCTION | _JSON,
        "reasoning_content": _JSON,
        "refusal": _JSON,
    },
)


def _call(name: str, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def _read(raw: list[Any]) -> tuple[Message, ...] | str:
    """Return the turns, or what the refusal says."""
    try:
        return read_messages(raw)
    except BadRequestError as error:
        return str(error)


@given(st.lists(_MESSAGE | _JSON, max_size=6))
@settings(max_examples=150, deadline=None)
@pytest.mark.slow
def test_any_history_is_taken_or_refused_by_name_and_what_is_taken_is_well_formed(raw: list[Any]) -> None:
    messages = _read(raw)
    if isinstance(messages, str):
        assert re.search(r"messages(\[\d+\]|\b)", messages)
        return
    expect_well_formed(messages)


def expect_well_formed(messages: tuple[Message, ...]) -> None:
    """Check that each call has its own id and that its results follow it, with nothing between."""
    waiting: set[str] = set()
    seen: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in waiting
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting
        for call in message.tool_calls:
            assert call.id
            assert call.id not in seen
            seen.add(call.id)
            waiting.add(call.id)
        encode(message_object(message, Profile()))
    assert not waiting


_KNOWN_CALL = st.builds(lambda i, name: _call(name, i), st.sampled_from(["a", "b", ""]), st.sampled_from(["f", "g"]))
_RESULT = st.fixed_dictionaries(
    {"role": st.just("tool"), "content": st.uuids().map(str)},
    optional={"tool_call_id": st.sampled_from(["a", "b", "c", ""]), "name": st.sampled_from(["f", "g", "h"])},
)
_ASKED = st.builds(lambda calls: {"role": "assistant", "tool_calls": calls}, st.lists(_KNOWN_CALL, max_size=3))


@given(st.lists(_RESULT | _ASKED | st.just({"role": "user", "content": "x"}), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_results_follow_their_calls_and_none_is_lost_whatever_ids_the_client_holds(raw: list[dict[str, Any]]) -> None:
    messages = _read(raw)
    if isinstance(messages, str):
        assert re.search(r"messages\[\d+\] has no tool_call_id", messages)
        return
    expect_well_formed(messages)
    said = "\n".join(message.text for message in messages)
    assert all(turn["content"] in said for turn in raw if turn["role"] == "tool")


_FIELDS = st.sampled_from(
    ["model", "messages", "tools", "tool_choice", "stop", "n", "temperature", "max_tokens", "functions", "mcp_servers"]
)


@given(st.dictionaries(_FIELDS, _JSON))
@settings(max_examples=100, deadline=None)
def test_any_body_is_taken_or_refused(body: dict[str, Any]) -> None:
    with contextlib.suppress(BadRequestError):
        assert read_chat(decode_body(encode(body)), {}).request.messages


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (None, {}),
        ("", {}),
        ("  ", {}),
        ("{}", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('{"p":"a"}{"p":"b"}', {"p": "a"}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("[1]", {"arguments": [1]}),
        ("not json", {"arguments": "not json"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
    ],
)
def test_arguments_of_a_history_are_always_an_object(raw: Any, wanted: dict[str, Any]) -> None:
    assert read_arguments(raw) == wanted


def test_a_call_without_its_result_gets_a_turn_that_says_so() -> None:
    messages = read_messages(
        [
            {"role": "assistant", "tool_calls": [_call("f", "a"), _call("g", "b")]},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "user", "content": "go on"},
        ]
    )
    assert [(m.role, m.tool_call_id, m.text) for m in messages[1:]] == [
        ("tool", "b", "2"),
        ("tool", "a", NOT_RUN),
        ("user", "", "go on"),
    ]


def test_a_result_whose_call_was_cut_off_is_not_lost() -> None:
    messages = read_messages([{"role": "tool", "tool_call_id": "gone", "name": "f", "content": "42"}])
    assert messages == (Message("user", "[Tool Result: f]\n42"),)


def test_rows_that_a_tool_gave_are_no_parts_because_they_have_a_text() -> None:
    call = {"id": "a", "function": {"name": "rows", "arguments": "{}"}}
    rows = [{"id": 1, "text": 5}, {"id": 2, "text": 6}]
    result = {"role": "tool", "tool_call_id": "a", "content": rows}
    turns = read_messages([{"role": "assistant", "tool_calls": [call]}, result])
    assert json.loads(turns[-1].text) == rows


def test_the_older_function_form_is_read() -> None:
    messages = read_messages(
        [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
            {"role": "function", "name": "f", "content": "1"},
        ]
    )
    assert messages[1].tool_calls[0].arguments == {"a": 1}
    assert (messages[2].role, messages[2].tool_call_id) == ("tool", messages[1].tool_calls[0].id)


def test_images_stay_images() -> None:
    url = "data:image/png;base64,AAAA"
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
    (message,) = read_messages([{"role": "user", "content": content}])
    assert message.content == (TextPart("What is it?"), ImagePart("image/png", data="AAAA"))


def test_the_same_history_is_read_the_same_twice() -> None:
    raw = [{"role": "assistant", "tool_calls": [_call("f", ""), _call("f", "")]}, {"role": "user", "content": "x"}]
    assert read_messages(raw) == read_messages(raw)


def test_a_text_file_in_damaged_base64_stays_as_it_came() -> None:
    for coded in ("aGk", "é", "/w=="):
        file = {"type": "file", "file": {"filename": "a.txt", "file_data": f"data:text/plain;base64,{coded}"}}
        (message,) = read_messages([{"role": "user", "content": [{"type": "text", "text": "look"}, file]}])
        assert isinstance(message.content[1], ResourcePart)
        assert (message.content[1].text, message.content[1].blob) == (None, coded)
