"""A chunk is read by what stands round its text as it would be read in full."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.dialects import StreamParser
from naru.dialects.events import Reasoning, Text
from naru.models.answers.normalise import AnswerReader
from naru.models.wires.openai_stream import AnswerStream

TEXTS = st.text(st.sampled_from('ab "\\\\\n{}:,é🙂\ud83d\ude42'), max_size=6) | st.sampled_from(
    ["stop", "content", '"content":"x"', "fake", "[DONE]", "m"]
)


def chunk(text: Any, **more: Any) -> bytes:
    fields = {"model": "fake", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}], **more}
    return b"data: " + json.dumps(fields, separators=(",", ":")).encode() + b"\n\n"


def said(pieces: list[bytes]) -> str:
    stream = AnswerStream("The endpoint", AnswerReader(StreamParser(())))
    events = [event for piece in pieces for event in stream.feed(piece)] + stream.close()
    assert stream.failure is None, stream.failure
    return "".join(event.text for event in events if isinstance(event, Text))


@given(st.lists(TEXTS, max_size=12), st.booleans())
def test_chunks_that_are_framed_alike_say_what_they_say_alone(texts: list[str], at_once: bool) -> None:
    alike = [chunk(text) for text in texts]
    apart = [chunk(text, created=number) for number, text in enumerate(texts)]
    end = [b"data: [DONE]\n\n"]
    assert said([b"".join(alike), *end] if at_once else alike + end) == said(apart + end)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([chunk("a"), chunk("b"), chunk("c"), b"data: [DONE]\n\n" + chunk("late")], "abc"),
        ([chunk("a"), chunk(None), chunk(["b"][0]), b"data: [DONE]\n\n"], "ab"),
        ([chunk("a"), chunk([{"type": "text", "text": "b"}]), b"data: [DONE]\n\n"], "ab"),
        ([chunk("fake"), chunk("x"), chunk("fake"), b"data: [DONE]\n\n"], "fakexfake"),
        ([chunk("a", note={"content": "n"}), chunk("b", note={"content": "n"}), b"data: [DONE]\n\n"], "ab"),
        ([chunk("a"), chunk("b", usage={"prompt_tokens": 1}), chunk("c"), b"data: [DONE]\n\n"], "abc"),
    ],
    ids=["after the end", "null", "parts", "the model's name", "two contents", "another frame between"],
)
def test_what_only_looks_framed_alike_is_read_in_full(pieces: list[bytes], text: str) -> None:
    assert said([chunk("_"), *pieces]) == f"_{text}"


@pytest.mark.parametrize("more", [{}, {"role": "assistant"}], ids=["content alone", "its role in every chunk"])
def test_a_frame_is_known_from_the_second_chunk_on(more: dict[str, Any]) -> None:
    stream = AnswerStream("The endpoint", AnswerReader(StreamParser(())))
    alike = [json.dumps({"choices": [{"delta": {**more, "content": text}}]}).encode() for text in "abc"]
    for number, payload in enumerate(alike):
        assert stream._frame.text_in(payload) == ("c" if number == 2 else None)
        stream.feed(b"data: " + payload + b"\n\n")


@pytest.mark.parametrize("thinking", ["hm", [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]])
def test_a_part_that_thinks_is_reasoning(thinking: Any) -> None:  # Mistral's magistral models
    stream = AnswerStream("The endpoint", AnswerReader(StreamParser(())))
    events = stream.feed(chunk([{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "b"}]))
    assert events == [Reasoning("hm"), Text("b")]


def test_an_endpoint_whose_every_chunk_differs_is_not_learned_from_for_long() -> None:
    stream = AnswerStream("The endpoint", AnswerReader(StreamParser(())))
    for number in range(20):
        stream.feed(chunk("a", created=number))
    kept = stream._frame._before
    stream.feed(chunk("a", created=99))
    assert stream._frame._before == kept
