"""Which tool an endpoint's refusal points at: by its place in the list that was sent, or by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

_STEP = r"""(?:\s*\[\s*|\s*\.\s*|/|['"`]\s*,\s*|\s*->\s*|\s*→\s*)"""
"""What stands between a list and an index in a path: `a[1]`, `a.1`, `/a/1`, `('a', 1)`, `a -> 1`."""
_DECLARATIONS = r"function_?declarations?"
_OF_DECLARATION = re.compile(rf"{_DECLARATIONS}{_STEP}(\d+)\b(?!\w)", re.IGNORECASE)
_OF_TOOL = re.compile(rf"(?<![\w])(?:tools|functions){_STEP}(\d+)\b(?!\w)", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"(?:function[ _]?declaration|function|tool)s?(?: definition)?\s+(?:at|in|with)\s+(?:the\s+)?(?:index|position)"
    r"\s*[:=]?\s*(\d+)",
    re.IGNORECASE,
)
_HAS_DECLARATIONS = re.compile(_DECLARATIONS, re.IGNORECASE)
_KIND = r"(?:function[ _]?declarations?|functions?|tools?)"
_NEAR = r"[\s:=,.()-]{0,3}(?:(?:named?|called|with|the|schema|definition|declaration|for|of|id)[\s:=]{1,2}){0,4}"
_NAME_AFTER = re.compile(rf"""{_KIND}{_NEAR}(['"`“‘]?)([\w.-]{{1,128}})""", re.IGNORECASE)
_NAME_BEFORE = re.compile(rf"""['"`“‘]([^'"`”’]{{1,128}})['"`”’][\s(,:]{{0,2}}{_KIND}\b""", re.IGNORECASE)


def pointed_at(message: str, names: Sequence[str]) -> int | None:
    """Return the place of the tool that an error text points at among those sent, or None.

    A place counts in the list that holds the tools: Google's APIs take all of them as one `tools[0]`, and count within
    its `function_declarations`. What a text names beats what it counts.
    """
    named = _by_name(message, names)
    return _by_place(message, names) if named is None else named


def _by_name(message: str, names: Sequence[str]) -> int | None:
    for match in _NAME_BEFORE.finditer(message):
        if match[1] in names:
            return names.index(match[1])
    for match in _NAME_AFTER.finditer(message):
        name = match[2] if match[2] in names else match[2].rstrip(".-")
        # Bare words are names only where nobody would say them otherwise.
        if name in names and (match[1] or "_" in name or "-" in name):
            return names.index(name)
    return None


def _by_place(message: str, names: Sequence[str]) -> int | None:
    for pattern in (_OF_DECLARATION, _IN_WORDS):
        if (match := pattern.search(message)) and int(match[1]) < len(names):
            return int(match[1])
    grouped = _HAS_DECLARATIONS.search(message) is not None
    for match in _OF_TOOL.finditer(message):
        place = int(match[1])
        if place < len(names) and not (grouped and place == 0):  # tools[0] is then the group of all
            return place
    return None
