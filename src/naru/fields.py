"""Fields of answers that Naru does not read: added up over calls, put together from a stream's pieces. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import suppress
from typing import Any

Fields = dict[str, Any]
_JOINED = ("text", "summary", "thinking")
"""What comes in pieces inside a numbered entry."""


def merge(into: Fields, fields: Fields) -> None:
    """Add later fields to those before them.

    Lists grow, objects are merged, pieces of one numbered entry (`reasoning_details`) are joined; else the later
    stands.
    """
    for name, value in fields.items():
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            into[name] = dict(before)
            merge(into[name], value)
            if name == "audio":
                into[name] |= _heard(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            into[name] = _grown(before, value)
        else:
            into[name] = value


def _heard(before: Fields, more: Fields) -> Fields:
    """Return sound and its words, which come in pieces, put together."""
    heard: Fields = {}
    for name in ("transcript", "data"):
        if isinstance(old := before.get(name), str) and isinstance(new := more.get(name), str):
            heard[name] = old + new
    if "data" in heard and before["data"].endswith("="):  # Each piece is base64 by itself.
        with suppress(ValueError):
            heard["data"] = b64encode(b64decode(before["data"]) + b64decode(more["data"])).decode()
    return heard


def _grown(before: list[Any], more: list[Any]) -> list[Any]:
    grown = list(before)
    for entry in more:
        if not grown or not _continues(grown[-1], entry):
            grown.append(entry)
            continue
        last = grown[-1]
        joined = {**last, **{name: value for name, value in entry.items() if value is not None}}
        for name in _JOINED:
            if isinstance(last.get(name), str) and isinstance(entry.get(name), str):
                joined[name] = last[name] + entry[name]
        grown[-1] = joined
    return grown


def _continues(last: Any, entry: Any) -> bool:
    """Tell whether an entry is a further piece of the one before: of one number and type, and nothing comes twice."""
    if not isinstance(last, dict) or not isinstance(entry, dict) or "index" not in entry:
        return False
    if any(last.get(name) != entry.get(name) for name in ("index", "type")):
        return False
    return not any(last.get(name) and entry.get(name) for name in ("data", "signature")) and (
        not entry.get("id") or not last.get("id") or last["id"] == entry["id"]
    )


def added(one: Fields, other: Fields) -> Fields:
    """Add what both count; of what is no number, the later one stands."""
    total = dict(one)
    for name, value in other.items():
        before = total.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            total[name] = added(before, value)
        elif _is_number(before) and _is_number(value):
            total[name] = before + value
        elif value is not None:
            total[name] = value
    return total


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def counted(details: Fields, group: str, name: str) -> int:
    """Return a count inside a group of counts; 0 where it is not said."""
    inner = details.get(group)
    count = inner.get(name) if isinstance(inner, dict) else None
    return count if isinstance(count, int) else 0
