"""JSON as bytes, of any value that JSON was read into: also integers beyond 64 bits and halves of surrogate pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson


def encode(value: Any, *, option: int = 0, default: Callable[[Any], Any] | None = None) -> bytes:
    """Encode as orjson does, with its options; what it refuses goes through the standard library.

    Raises:
        ValueError: it is nested too deeply, or contains itself.
        TypeError: it holds something that JSON cannot.
    """
    try:
        return orjson.dumps(value, default, option)
    except TypeError:
        pass
    is_sorted, indent = bool(option & orjson.OPT_SORT_KEYS), 2 if option & orjson.OPT_INDENT_2 else None
    separators = (",", ": " if indent else ":")

    def text_of(plain: Any) -> str:
        return json.dumps(plain, sort_keys=is_sorted, indent=indent, separators=separators, default=default)

    try:
        text = text_of(value)
        if "NaN" in text or "Infinity" in text:  # said as null, as orjson does
            text = text_of(json.loads(text, parse_constant=lambda _: None))
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None
    return text.encode()
