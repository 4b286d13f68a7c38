"""What may be kept of a call's arguments: names, types, sizes and a keyed digest; no values by default (S-35)."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from naru.messages import JsonObject
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


def digest_key(data_dir: Path) -> bytes:
    """Return this installation's key of the digests; made on first use, readable by its owner alone.

    Without it nobody can try likely arguments against the log.
    """
    path = data_dir.expanduser() / KEY_FILE
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        key = secrets.token_bytes(32)
        file.write(key)
    return key


def describer(data_dir: Path, *, with_values: bool) -> Callable[[JsonObject], JsonObject]:
    """Return what describes arguments for the log: shape, size and digest, and the redacted values where wanted."""
    key: list[bytes] = []

    def describe(arguments: JsonObject) -> JsonObject:
        if not key:
            key.append(digest_key(data_dir))
        data = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
        digest = hashlib.blake2b(data, key=key[0], digest_size=16).hexdigest()
        told: JsonObject = {"shape": shape(arguments), "bytes": len(data), "digest": digest}
        if with_values:
            text = REDACTOR.clean(json.dumps(arguments, ensure_ascii=False, default=str))
            told["values"] = text if len(text) <= _MAX_VALUES else f"{text[:_MAX_VALUES]}…"
        return told

    return describe
