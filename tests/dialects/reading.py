"""Reads texts whole and in pieces, for the tests of the readers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from naru.dialects import ArgumentsDelta, CallEnd, CallStart, Event, Parsed, Reasoning, StreamParser, Text, Tool, parse

CASES = Path(__file__).parent.parent / "cases"


def load_cases(name: str) -> list[dict[str, Any]]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def stream(deltas: Iterable[str], tools: Sequence[Tool], finish_reason: str = "stop", **options: Any):
    """Feed the deltas and return the events with what the parser kept."""
    parser = StreamParser(tools, keep=True, **options)
    events = [event for delta in deltas for event in parser.feed(delta)]
    events += parser.close(finish_reason)
    return events, parser.parsed()


def summed(events: Sequence[Event]) -> tuple[str, str, list[tuple[str, dict[str, Any]]]]:
    """Add the events up: content, reasoning and completed calls, whose deltas must be their arguments."""
    names: dict[int, str] = {}
    arguments: dict[int, list[str]] = {}
    calls = []
    for event in events:
        if isinstance(event, CallStart):
            names[event.index], arguments[event.index] = event.name, []
        elif isinstance(event, ArgumentsDelta):
            arguments[event.index].append(event.json)
        elif isinstance(event, CallEnd):
            assert json.loads("".join(arguments[event.index])) == event.arguments
            calls.append((names[event.index], event.arguments))
    content = "".join(event.text for event in events if isinstance(event, Text))
    return content, "".join(event.text for event in events if isinstance(event, Reasoning)), calls


def assert_accounted(text: str, parsed: Parsed) -> None:
    """Every input character belongs to exactly one span."""
    at = 0
    for span in parsed.spans:
        assert span.start == at < span.end
        at = span.end
    assert at == len(text)


def read_every_way(text: str, tools: Sequence[Tool], finish_reason: str = "stop", **options: Any) -> Parsed:
    """Read at once, whole and in pieces of 1 to 7 characters; everything must be the same."""
    events, whole = stream([text], tools, finish_reason, **options)
    assert parse(text, tools, finish_reason=finish_reason, **options) == whole
    expected = summed(events)
    for size in range(1, 8):
        events, parsed = stream(pieces(text, size), tools, finish_reason, **options)
        assert parsed == whole, f"in pieces of {size}"
        assert summed(events) == expected, f"in pieces of {size}"
    assert_accounted(text, whole)
    return whole
