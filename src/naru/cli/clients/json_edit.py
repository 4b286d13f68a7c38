"""Change one value in a JSON text and leave every other character as it is: comments, order, indentation."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naru.stores.formats import tolerant_json

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_REST_OF_LINE = re.compile(r"(?:[ \t]|//[^\n]*|/\*.*?\*/)*(?=\r?\n)", re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}/]+")


@dataclass(frozen=True, slots=True)
class Member:
    """Where a member of an object stands in the text."""

    key_start: int
    start: int
    """Of its value."""
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """Where an object stands in the text, braces included, and its members by name."""

    start: int
    end: int
    members: dict[str, Member]


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at `path`; objects on the way are made, what is there is replaced.

    Raises:
        ValueError: the text is not JSON, or something on the way is no object.
    """
    if not text.strip():
        return json.dumps(_nested(path, value), ensure_ascii=False, indent=2) + "\n"
    before = tolerant_json.loads(text)
    changed = _put(text, path, value)
    # The proof that nothing else was touched: read again, it is the old data with this one value.
    if tolerant_json.loads(changed) != _merged(before, path, value):
        raise ValueError("the change could not be made without touching the rest")
    return changed


def position_of(text: str, path: Sequence[str]) -> int | None:
    """Return where the key at `path` stands, or None: for the line of a problem."""
    at = _BLANK.match(text, 1 if text.startswith("\ufeff") else 0)
    start = at.end() if at else 0
    place: int | None = None
    for key in path:
        span = _object(text, start)
        if span is None or key not in span.members:
            return place
        place, start = span.members[key].key_start, span.members[key].start
    return place


def _put(text: str, path: Sequence[str], value: Any) -> str:
    blank = _BLANK.match(text, 1 if text.startswith("\ufeff") else 0)
    start = blank.end() if blank else 0
    for depth, key in enumerate(path):
        span = _object(text, start)
        if span is None:
            raise ValueError(f"{'.'.join(path[:depth]) or 'the top'} is no object")
        member = span.members.get(key)
        if member is None:
            return _insert(text, span, key, _nested(path[depth + 1 :], value), depth)
        if depth == len(path) - 1:
            written = _written(value, _indent_at(text, member.key_start), _step(text))
            return text[: member.start] + written + text[member.end :]
        start = member.start
    raise ValueError("there is no path")


def _insert(text: str, span: Span, key: str, value: Any, depth: int) -> str:
    step = _step(text)
    if span.members:
        first = min(member.key_start for member in span.members.values())
        last = max(member.end for member in span.members.values())
        indent = _indent_at(text, first) if "\n" in text[span.start : first] else step * (depth + 1)
        comma = _BLANK.match(text, last)
        after = comma.end() if comma else last
        has_comma = text[after : after + 1] == ","
        at = after + 1 if has_comma else last
        rest = _REST_OF_LINE.match(text, at)  # a comment there is about the member that it stands behind
        end = rest.end() if rest else at
        line = f"\n{indent}{json.dumps(key)}: {_written(value, indent, step)}"
        closing = "" if "\n" in text[end : span.end] else f"\n{indent[: -len(step)] if step else ''}"
        return f"{text[:at]}{'' if has_comma else ','}{text[at:end]}{line}{closing}{text[end:]}"
    outer = _indent_at(text, span.start)
    indent = outer + step
    line = f"\n{indent}{json.dumps(key)}: {_written(value, indent, step)}"
    inside = text[span.start + 1 : span.end - 1].rstrip()
    return f"{text[: span.start + 1]}{inside}{line}\n{outer}{text[span.end - 1 :]}"


def _written(value: Any, indent: str, step: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=step or 2).replace("\n", f"\n{indent}")


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _step(text: str) -> str:
    """Return what the file indents by: of the first line that is indented."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _object(text: str, start: int) -> Span | None:
    """Return the members of the object that starts there, or None when it is none."""
    if text[start : start + 1] != "{":
        return None
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while at < len(text) and text[at] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise ValueError(f"no key where one is expected, at character {at}")
        value_start = _skip(text, _skip(text, key.end()) + 1)  # past the colon
        end = _end_of_value(text, value_start)
        members[json.loads(key[0])] = Member(at, value_start, end)
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return Span(start, at + 1, members)


def _end_of_value(text: str, start: int) -> int:
    if text[start : start + 1] not in ("{", "["):
        found = _STRING.match(text, start) or _SCALAR.match(text, start)
        return found.end() if found else start
    depth, at = 0, start
    while at < len(text):
        mark = text[at]
        if mark == '"':
            found = _STRING.match(text, at)
            at = found.end() if found else at + 1
            continue
        if mark == "/":
            at = max(_skip(text, at), at + 1)
            continue
        depth += (mark in "{[") - (mark in "}]")
        at += 1
        if depth == 0:
            return at
    return at


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _merged(data: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    kept = data if isinstance(data, dict) else {}
    return {**kept, path[0]: _merged(kept.get(path[0]), path[1:], value)}
