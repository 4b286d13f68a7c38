"""JSON as it is sent: any value that a client or a model can hold becomes bytes."""

from __future__ import annotations

import json
from typing import Any

from naru import encoding
from naru.errors import UserError


def encode(value: Any) -> bytes:
    """Encode as JSON.

    Raises:
        UserError: it is nested beyond what anybody can read.
    """
    try:
        return encoding.encode(value)
    except ValueError:
        raise UserError("The request holds a value that is nested too deeply.") from None


def decode_leniently(body: bytes) -> Any:
    """Decode what orjson refuses and endpoints send: lone surrogates, NaN, bytes that are no UTF-8; or None."""
    try:
        return json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def mended(value: Any) -> Any:
    """Put U+FFFD in place of lone surrogates in a decoded value: no endpoint can read them."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [mended(item) for item in value]
        case dict():
            return {mended(key): mended(item) for key, item in value.items()}
    return value
