"""Bytes to JSON-RPC messages and back: strict and fast first, forgiving where servers are sloppy. No I/O."""

from __future__ import annotations

import json
import re
from typing import NoReturn

import orjson

from naru import encoding
from naru.messages import Json, JsonObject

_LONE_SURROGATE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_ANSWER_KEYS = frozenset({"jsonrpc", "id", "result", "error"})


def encode(message: JsonObject) -> bytes:
    """Return a message as compact JSON."""
    return encoding.encode(message, option=orjson.OPT_NON_STR_KEYS)


def decode(data: bytes) -> Json:
    """Return the JSON value; invalid UTF-8 and lone surrogates become U+FFFD (R-05), integers of any size are exact.

    A raw tab or other control character within a text is taken as it is: it can mean nothing else.

    Raises:
        ValueError: it is not JSON; NaN and Infinity are not.
    """
    try:
        return encoding.decode(data)
    except orjson.JSONDecodeError:
        text = data.decode("utf-8", errors="replace").lstrip("\ufeff")
        text = _LONE_SURROGATE.sub(r"\\ufffd", text)
        try:
            return json.loads(text, parse_constant=_refuse, strict=False)
        except RecursionError as error:
            raise ValueError("JSON is nested too deeply") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def is_message(value: Json) -> bool:
    """Tell whether a decoded value can be a JSON-RPC message at all: a log line in JSON is not.

    An answer that forgets to say `jsonrpc` is one, as long as nothing else is in it.
    """
    if not isinstance(value, dict):
        return False
    if "method" in value or ("id" in value and value.get("jsonrpc") == "2.0"):
        return True
    return ("id" in value) and ("result" in value or "error" in value) and value.keys() <= _ANSWER_KEYS
