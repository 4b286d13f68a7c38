"""Results as lines that a small model reads well and a person can be shown; and whether they hold anything at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.prompts import cut
from naru.messages import TextPart, ToolCall, ToolResult
from naru.tools.names import own_name

_DEEPEST, _RESULT_CHARACTERS = 4, 4000
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def call_line(call: ToolCall) -> str:
    """Return a call as a person reads it: `member_loans(card=M-0012)`."""
    given = ", ".join(f"{key}={_scalar(value)}" for key, value in call.arguments.items())
    return f"{own_name(call.name)}({given})"


def told(one: Outcome) -> str:
    """Return what a model is told of a call and what it gave."""
    return f"{call_line(one.call)}:\n{lines_of(one)}"


def lines_of(one: Outcome) -> str:
    """Return what a call gave, as lines, cut to what a small model can read."""
    return cut(readable(one.result) or one.shown, _RESULT_CHARACTERS)


def is_nothing(one: Outcome) -> bool:
    """Tell whether a call failed or found nothing: an error, no row, nothing beside what the call itself gave."""
    if one.failed or not one.ran:
        return True
    text = one.result.text.strip()
    if not text:
        return all(isinstance(part, TextPart) for part in one.result.content)
    if text[:1] not in "{[n":
        return False
    value = decoded(text)
    if isinstance(value, dict) and value:
        if value.get("error") or value.get("errors"):
            return True
        given = [str(argument) for argument in one.call.arguments.values()]
        said = [inner for inner in value.values() if str(inner) not in given]
        # `{"found": false}`, `{"items": [], "total": 0}`: a lone 0 may be what was asked for.
        return any(inner in _EMPTY or inner is False for inner in said) and not any(said)
    return value in _EMPTY


def readable(result: ToolResult) -> str:
    """Return a result's text, JSON turned into `key: value` lines; other text as it is."""
    text = result.text.strip()
    value = decoded(text) if text[:1] in "{[" else None
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


def row_line(row: dict[str, Any]) -> str:
    """Return one row as a line: `name: riverside, crop: barley`."""
    told = [(key.replace("_", " "), value) for key, value in row.items() if value not in (None, "")]
    return ", ".join(f"{key}: {_scalar(value)}" for key, value in told)


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    pad = "  " * depth
    if depth > _DEEPEST:
        yield json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict) and value:
        for key, inner in value.items():
            is_deep = isinstance(inner, dict | list) and inner
            yield f"{pad}{str(key).replace('_', ' ')}:{'' if is_deep else f' {_scalar(inner)}'}"
            yield from _lines(inner, depth + 1) if is_deep else ()
    elif isinstance(value, list) and value:
        for item in value:
            is_row = isinstance(item, dict) and not any(isinstance(one, dict | list) for one in item.values())
            first, *rest = [row_line(item)] if is_row else _lines(item, depth + 1)
            yield f"{pad}- {first.strip()}"
            yield from rest
    else:
        yield f"{pad}{_scalar(value)}"


def _scalar(value: Any) -> str:
    if value is None or value in ([], {}):
        return "(none)"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
