"""Results as lines that a small model reads well and a person can be shown: no braces, no quotes."""

from __future__ import annotations

import json
from typing import Any

from naru.messages import ToolResult

_DEEPEST = 4


def readable(result: ToolResult) -> str:
    """Return a result's text, JSON turned into `key: value` lines; other text as it is."""
    text = result.text.strip()
    if text[:1] not in "{[":
        return text
    value = decoded(text)
    if value is None:
        return text
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return "\n".join(_lines(value)) or text


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


def records(result: ToolResult) -> list[dict[str, Any]]:
    """Return the rows of a result that is a list of flat objects, else nothing."""
    value = decoded(result.text.strip())
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return []
    return [row for row in value if all(not isinstance(one, dict | list) for one in row.values())]


def row_line(row: dict[str, Any]) -> str:
    """Return one row as a line of its values; keys only where there are more than two."""
    shown = {key: value for key, value in row.items() if value not in (None, "")}
    if len(shown) <= 2:
        return " ".join(str(value) for value in shown.values())
    return ", ".join(f"{_words(key)}: {value}" for key, value in shown.items())


def _words(key: str) -> str:
    return key.replace("_", " ")


def _lines(value: Any, depth: int = 0) -> list[str]:
    if depth > _DEEPEST:
        return [json.dumps(value, ensure_ascii=False)]
    pad = "  " * depth
    if isinstance(value, dict):
        lines = []
        for key, inner in value.items():
            if isinstance(inner, dict | list) and inner:
                lines += [f"{pad}{_words(str(key))}:", *_lines(inner, depth + 1)]
            else:
                lines.append(f"{pad}{_words(str(key))}: {_scalar(inner)}")
        return lines
    if isinstance(value, list):
        if not value:
            return [f"{pad}(none)"]
        lines = []
        for item in value:
            if isinstance(item, dict) and all(not isinstance(one, dict | list) for one in item.values()):
                lines.append(f"{pad}- {row_line(item)}")
            else:
                inner = _lines(item, depth + 1)
                lines.append(f"{pad}- {inner[0].strip()}")
                lines += inner[1:]
        return lines
    return [f"{pad}{_scalar(value)}"]


def _scalar(value: Any) -> str:
    if value is None or value in ([], {}):
        return "(none)"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
