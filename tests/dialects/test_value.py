"""Values compare and show as dataclasses do, without the cost of importing those."""

from naru.dialects import ParsedCall, Reasoning, Repair, Span, Text
from naru.dialects.events import Parsed


def test_values_are_equal_by_type_and_fields():
    assert Text("a") == Text("a") != Text("b")
    assert Text("a") != Reasoning("a")
    assert len({Text("a"), Text("a"), Reasoning("a")}) == 2


def test_a_value_shows_and_tells_its_fields():
    assert repr(Span("text", 0, 3)) == "Span(kind='text', start=0, end=3)"
    parsed = Parsed("a", "", (ParsedCall("", "f", {"x": [1]}),), (Repair("k", "b", "a"),))
    assert parsed.as_data() == {
        "content": "a",
        "reasoning": "",
        "calls": [{"id": "", "name": "f", "arguments": {"x": [1]}, "dialect": "", "span": [0, 0]}],
        "repairs": [{"kind": "k", "before": "b", "after": "a"}],
        "spans": [],
    }


def test_values_match_by_position():
    match Span("text", 1, 2):
        case Span(kind, start, end):
            assert (kind, start, end) == ("text", 1, 2)
