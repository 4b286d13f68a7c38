"""Text that comes in pieces with white space at their edges is said as when it comes whole, and soon."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.dialects import StreamParser, Text, Tool, parse
from tests.dialects.reading import stream, summed

TOOLS = (Tool("f", {"type": "object", "properties": {"a": {"type": "integer"}}}),)
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
EDGES = ["a", "word ", " word", " ", "  ", "\t", "x\u00a0", "b\u2003", "\n", "x\n"]
PIECES = [*EDGES, ": ", "end. ", "`c` ", "<", "{", CALL]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
@pytest.mark.slow
def test_pieces_with_blanks_at_their_edges_are_read_as_the_whole(pieces: list[str]) -> None:
    whole = parse("".join(pieces), TOOLS)
    events, streamed = stream(pieces, TOOLS)
    assert streamed == whole
    assert summed(events)[0] == whole.content


def test_two_pieces_and_three_are_read_as_the_whole() -> None:
    for pieces in itertools.product(PIECES, repeat=3):
        text = ["so ", *pieces]
        assert stream(text, TOOLS)[1] == parse("".join(text), TOOLS), text


@pytest.mark.parametrize("piece", ["Word ", " Word"])
def test_every_word_of_a_line_is_said_at_once_but_for_a_blank_at_its_end(piece: str) -> None:
    parser = StreamParser(TOOLS)
    said = ""
    for number in range(1, 50):
        said += "".join(event.text for event in parser.feed(piece) if isinstance(event, Text))
        assert said == (piece * number).rstrip()
        assert parser.undecided == 0
