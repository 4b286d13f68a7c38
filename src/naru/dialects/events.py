"""The one event form between readers and writers of tool-call dialects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """Ordinary answer text, in order of arrival."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Text that the model thought rather than said."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """A tool call begins; its arguments follow as deltas."""

    index: int
    id: str
    """The model's own id where its dialect carries one, else empty: faces make their own."""
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """The next characters of call `index`'s arguments, which add up to one JSON object."""

    index: int
    json: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Call `index` is complete."""

    index: int
    arguments: dict[str, Any]
    """The whole arguments, decoded."""


Event = Text | Reasoning | CallStart | ArgumentsDelta | CallEnd


@dataclass(frozen=True, slots=True)
class Repair:
    """One deviation that was mended, so that it can be shown and counted (N5)."""

    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A complete call as read from the text."""

    id: str
    name: str
    arguments: dict[str, Any]
    dialect: str = ""
    span: tuple[int, int] = (0, 0)
    """Where the call, markers included, stands in the input: start and end in characters."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a piece of the input was read as; the spans of a reply join without a gap."""

    kind: str
    """`text`, `reasoning`, `call`, or `dropped`: markers and layout, and calls that were never completed."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a whole text was read as."""

    content: str
    reasoning: str
    calls: tuple[ParsedCall, ...] = ()
    repairs: tuple[Repair, ...] = field(default=())
    spans: tuple[Span, ...] = field(default=())
    """Every character of the input, in order."""
