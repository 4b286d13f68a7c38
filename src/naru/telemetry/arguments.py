"""What may be kept of a call's arguments: names, types, sizes and a keyed digest; no values by default (S-35)."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from naru.encoding import encode
from naru.errors import StoreError
from naru.messages import JsonObject
from naru.stores.secrets.file import secret_of
from naru.stores.secrets.redact import REDACTOR

_MAX_KEYS = 32
_MAX_NAME = 64
_MAX_DEPTH = 4
_MAX_VALUES = 4096
KEY_FILE = "audit.key"


def shape(value: Any, depth: int = 0) -> Any:
    """Return names and types in the place of values: `{"year": "integer", "name": "string(6)"}`."""
    if isinstance(value, dict):
        if depth == _MAX_DEPTH:
            return f"object({len(value)})"
        first = value.items() if len(value) <= _MAX_KEYS else list(value.items())[:_MAX_KEYS]
        shown = {str(key)[:_MAX_NAME]: shape(item, depth + 1) for key, item in first}
        return shown if len(value) <= _MAX_KEYS else {**shown, "…": len(value) - _MAX_KEYS}
    if isinstance(value, list | tuple):
        return f"array({len(value)})"
    if isinstance(value, str):
        return f"string({len(value)})"
    if value is None:
        return "null"
    return "boolean" if isinstance(value, bool) else "integer" if isinstance(value, int) else "number"


def describer(data_dir: Path, *, with_values: bool) -> Callable[[JsonObject], JsonObject]:
    """Return what describes arguments for the log: shape, size and digest, and the redacted values where wanted.

    The digest has a key of this installation's own, so that nobody can try likely arguments against the log.
    """
    key: list[bytes] = []

    def describe(arguments: JsonObject) -> JsonObject:
        data = _canonical(arguments)
        told: JsonObject = {"shape": shape(arguments), "bytes": len(data)}
        with contextlib.suppress(StoreError, OSError):  # the log cannot be written then either, and that is told
            if not key:
                key.append(secret_of(data_dir / KEY_FILE))
            told["digest"] = hashlib.blake2b(data, key=key[0], digest_size=16).hexdigest()
        if with_values:
            text = REDACTOR.clean(data.decode())
            told["values"] = text if len(text) <= _MAX_VALUES else f"{text[:_MAX_VALUES]}…"
        return told

    return describe


def _canonical(arguments: JsonObject) -> bytes:
    """Encode equal arguments alike; what is nested too deeply for that by its shape."""
    try:
        return encode(arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    except ValueError:
        return encode(shape(arguments))
