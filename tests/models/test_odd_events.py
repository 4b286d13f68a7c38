"""Events whose every value stands once for each kind of another: what cannot be read is a failure by its kind."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest, Message, Text, ToolDefinition, Usage
from naru.models.answers.normalise import AnswerReader
from naru.models.answers.parsing import answer_reader
from naru.models.known.count import count
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.frame import WireBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_stream import AnswerStream
from naru.models.wires.responses import ResponsesBackend

TOOL = ToolDefinition("f", "", {"type": "object", "properties": {"a": {"type": "string"}}})
ASK = ChatRequest("m", [Message("user", "hi")], tools=[TOOL])
ODD: tuple[Any, ...] = (None, [], {}, "x", 1, 1.5, True, float("inf"), [1], ["x"], {"a": 1}, 10**30)
FUNCTION = {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": "{}"}
MESSAGES = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c", "name": "f"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "thinking_delta", "thinking": "x"}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
)
RESPONSES = (
    {"type": "response.output_text.delta", "output_index": 0, "delta": "hi"},
    {"type": "response.output_item.added", "output_index": 1, "item": {**FUNCTION, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
    {"type": "response.output_item.done", "output_index": 1, "item": FUNCTION},
    {"type": "response.output_item.done", "output_index": 2, "item": {"type": "reasoning", "encrypted_content": "x"}},
    {
        "type": "response.completed",
        "response": {"output": [FUNCTION], "usage": {"input_tokens": 1, "output_tokens": 2}},
    },
)
OLLAMA = (
    {"message": {"content": "hi", "tool_calls": [{"function": {"name": "f", "arguments": {"a": "x"}}}]}},
    {"message": {"content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4},
)
CHAT = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": None}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}}]},
    {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    },
)
FRAMED = {AnthropicBackend: MESSAGES, ResponsesBackend: RESPONSES, OllamaBackend: OLLAMA}


def odd_ones(events: Any) -> Iterator[Any]:
    """Return the events again and again, each time with one value that is another."""
    for path in paths(events):
        for odd in ODD:
            changed = inner = [copy.deepcopy(event) for event in events]
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = odd
            yield changed


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if before:
        yield before
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for step, inner in steps:
        yield from paths(inner, (*before, step))


def reader() -> AnswerReader:
    return answer_reader(ASK, Profile(), {})


def read(wire: type[WireBackend], events: Any) -> tuple[list[ChatEvent], ModelError | None]:
    """Read an answer as `batches` does; what waited for its meaning is said before a fault."""
    backend, answer = wire(Endpoint("http://127.0.0.1:9"), model="m"), reader()
    said, fault = backend._read(backend.events(answer), [json.dumps(event).encode() for event in events])
    return said + (answer.unsaid() if fault else []), fault


@pytest.mark.parametrize("wire", FRAMED)
def test_an_event_of_another_form_is_told_and_what_was_said_before_stays_said(wire: type[WireBackend]) -> None:
    said, fault = read(wire, FRAMED[wire])
    assert fault is None
    assert any(isinstance(event, Usage) for event in said)
    faults = [fault for events in odd_ones(FRAMED[wire]) if (fault := read(wire, events)[1]) is not None]
    assert faults
    assert {fault.code for fault in faults} == {"not_an_api"}


def test_a_later_event_of_another_form_takes_no_word_back() -> None:
    said, fault = read(AnthropicBackend, [*MESSAGES[:3], {"type": "content_block_delta", "index": 0, "delta": "no"}])
    assert said == [Text("hi")]
    assert fault is not None
    assert "another form" in fault.message
    assert '"delta": "no"' in fault.message


@pytest.mark.parametrize("odd", [one for one in ODD if not isinstance(one, int | float)])
def test_a_count_that_is_none_costs_no_answer(odd: Any) -> None:
    ends = (
        (AnthropicBackend, [*MESSAGES[:-2], {**MESSAGES[-2], "usage": {"output_tokens": odd}}, MESSAGES[-1]]),
        (ResponsesBackend, [{"type": "response.completed", "response": {"usage": {"output_tokens": odd}}}]),
        (OllamaBackend, [OLLAMA[0], {**OLLAMA[1], "eval_count": odd}]),
    )
    for wire, events in ends:
        said, fault = read(wire, events)
        assert fault is None
        assert [event.completion_tokens for event in said if isinstance(event, Usage)] == [0]


def test_a_chunk_of_another_form_is_told() -> None:
    for events in odd_ones(CHAT):
        stream = AnswerStream("the endpoint", reader())
        for event in events:
            stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
        stream.close()
        assert stream.failure is None or stream.failure.code in ("not_an_api", "broken_off", "http_500"), events


@pytest.mark.parametrize(
    ("told", "number"), [(3, 3), ("12", 12), (2.9, 2), (-4, 0), (True, 0), (float("inf"), 0), ("9" * 5000, 0)]
)
def test_a_count_is_read_in_each_form(told: Any, number: int) -> None:
    assert count(told) == number


def test_an_event_that_is_nested_beyond_reading_is_told() -> None:
    for depth in (900, 5_000):
        stream = AnswerStream("the endpoint", reader())
        deep = b"[" * depth + b"]" * depth
        stream.feed(b'data: {"choices": [{"delta": {"content": NaN, "x": ' + deep + b"}}]}\n\n")
        stream.close()
        assert stream.failure is not None
        assert stream.failure.code == "broken_off"
