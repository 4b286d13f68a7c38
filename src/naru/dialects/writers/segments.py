"""Cuts a turn of a client's history into text and what stands in it, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from naru.dialects.tool import Tool

Found = TypeVar("Found")


@dataclass(slots=True)
class Closers:
    """Finds closing tags: however many openers there are, the text is scanned once for each name."""

    text: str
    _known: dict[str, tuple[int, int]] = field(default_factory=dict)

    def find(self, closer: str, start: int) -> int:
        """Return where the next `closer` at or after `start` stands, or -1."""
        asked, at = self._known.get(closer, (start + 1, -1))
        if start < asked or 0 <= at < start:
            at = self.text.find(closer, start)
            self._known[closer] = (start, at)
        return at


def blocks(text: str, opener: re.Pattern[str], closer: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """Give each opener's match, what stands between it and the closer, and where the block ends."""
    position = 0
    while match := opener.search(text, position):
        end = text.find(closer, match.end())
        if end < 0:
            return
        position = end + len(closer)
        yield match, text[match.end() : end], position


def cut(text: str, found: Sequence[tuple[int, int, Sequence[Found]]]) -> list[str | Found]:
    """Put what was found at `(start, end)` in order between the texts around it; blank text is left out."""
    segments: list[str | Found] = []
    kept = 0
    for start, end, items in found:
        _add(segments, text[kept:start])
        segments.extend(items)
        kept = end
    _add(segments, text[kept:])
    return segments


def _add(segments: list[Any], text: str) -> None:
    if stripped := text.strip("\n"):
        segments.append(stripped)


def tool_named(name: str, tools: Sequence[Tool]) -> Tool | None:
    """Return the offered tool of that name."""
    return next((tool for tool in tools if tool.name == name), None)


def properties_of(tool: Tool | None) -> dict[str, Any]:
    """Return the schemas of a tool's parameters; references are not followed."""
    properties = tool.parameters.get("properties") if tool else None
    return properties if isinstance(properties, dict) else {}
