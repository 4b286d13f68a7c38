"""What JSON says, value by value, and as lines that people and small models read: `level now cm: 312`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from naru.tools.names import plain_name

_DEEPEST = 4


def decoded(text: str) -> Any:
    """Return what a text says in JSON: one value, or the list of several that follow each other; None for others.

    Servers give a list as one text part for each row, which is JSON after JSON.
    """
    values, at = [], 0
    reader = json.JSONDecoder()
    while at < len(text):
        try:
            value, at = reader.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return values[0] if len(values) == 1 else values or None


def readable(text: str) -> str:
    """Return JSON turned into `key: value` lines; other text as it is."""
    text = text.strip()
    value = decoded(text) if text[:1] in "{[" else None
    if value is None:
        return text
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return "\n".join(_lines(value)) or text


def branches(record: dict[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Return what a record holds, each value or list under the names that lead to it."""
    for key, inner in record.items():
        name = f"{path} {plain_name(str(key))}".strip()
        is_deep = isinstance(inner, dict) and inner and depth < _DEEPEST
        yield from branches(inner, name, depth + 1) if is_deep else [(name, inner)]


def entries(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Return the single values in arguments or a result, with their keys; those in a list have none of their own."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from entries(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from entries(inner)
    else:
        yield key, value


def leaves(value: Any) -> list[Any]:
    """Return the single values in arguments."""
    return [inner for _, inner in entries(value)]


def is_words(value: Any) -> bool:
    """Tell whether a value is a text with a letter in it."""
    return isinstance(value, str) and any(map(str.isalpha, value))


def rows_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, or of the list that is most of an object; any other object is one by itself."""
    if isinstance(value, dict):
        listed = next((inner for inner in value.values() if isinstance(inner, list)), [])
        value = listed if len(str(listed)) * 2 > len(str(value)) else [value]
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def row_line(row: dict[str, Any]) -> str:
    """Return one row as a line: `name: riverside, crop: barley`."""
    return ", ".join(field_line(name, value) for name, value in branches(row) if value not in (None, ""))


def field_line(name: str, value: Any) -> str:
    """Return a field as a line."""
    return f"{name}: {scalar(value)}"


def scalar(value: Any) -> str:
    """Return a single value as a person reads it."""
    if value is None or value in ([], {}):
        return "(none)"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    pad = "  " * depth
    if depth > _DEEPEST:
        yield json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict) and value:
        for name, inner in branches(value):
            is_deep = isinstance(inner, list) and inner
            yield f"{pad}{name}:" if is_deep else f"{pad}{field_line(name, inner)}"
            yield from _lines(inner, depth + 1) if is_deep else ()
    elif isinstance(value, list) and value:
        for item in value:
            is_row = isinstance(item, dict) and not any(isinstance(one, list) for _, one in branches(item))
            first, *rest = [row_line(item)] if is_row else _lines(item, depth + 1)
            yield f"{pad}- {first.strip()}"
            yield from rest
        # Small models count badly.
        yield from [f"{pad}({len(value)} rows)"] if len(value) > 1 and isinstance(value[0], dict) else []
    else:
        yield f"{pad}{scalar(value)}"
