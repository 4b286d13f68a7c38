"""How many parameters a model has, as its endpoint says it; its name only as the last word. Pure."""

from __future__ import annotations

import re
from typing import Any

from naru.models.known.count import count
from naru.models.known.listed import rows_of

SMALL_BELOW = 3_000_000_000
"""A model of fewer parameters is helped as a small one (decision 0160)."""
_NAMED = re.compile(r"(?<![a-z0-9.])([0-9]{1,9}(?:\.[0-9]{1,9})?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)
_SHOWN = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([BMK])\s*", re.IGNORECASE)
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9}
_SMALLEST = 30_000_000
"""Fewer are no model's parameters but its context: `claude-sonnet[1m]`."""


def of_name(model: str) -> int:
    """Return the size that a model's name gives, such as `qwen2:0.5b`; 0 where it gives none."""
    sizes = (int(float(number) * _TIMES[unit.lower()]) for number, unit in _NAMED.findall(model))
    return next((size for size in sizes if size >= _SMALLEST), 0)


def of_listed(listed: Any, model: str) -> int:
    """Return the size in an answer to `GET /v1/models`: llama.cpp's `meta.n_params`; 0 where it says none."""
    rows = rows_of(listed) or []
    for row in rows:
        meta = row.get("meta")
        if isinstance(meta, dict) and (row.get("id") == model or len(rows) == 1):
            return count(meta.get("n_params"))
    return 0


def of_ollama(shown: Any) -> int:
    """Return the size in an answer of Ollama's `/api/show`: from the GGUF's metadata, else its rounded words."""
    if not isinstance(shown, dict):
        return 0
    info, details = shown.get("model_info"), shown.get("details")
    if isinstance(info, dict) and (told := count(info.get("general.parameter_count"))):
        return told
    words = _SHOWN.fullmatch(str(details.get("parameter_size") or "")) if isinstance(details, dict) else None
    return int(float(words[1]) * _TIMES[words[2].lower()]) if words else 0
