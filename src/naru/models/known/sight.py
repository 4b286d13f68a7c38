"""Whether a model sees pictures, as its endpoint says it in each form of theirs; None where it does not. Pure."""

from __future__ import annotations

from typing import Any

from naru.messages import JsonObject
from naru.models.known.listed import rows_of

_KINDS = {"vlm": True, "llm": False}
"""LM Studio's words for what a model is."""


def of_listed(listed: Any, model: str) -> bool | None:
    """Read one model's row in an answer to `GET /v1/models`; the only model stands for any name."""
    rows = rows_of(listed) or []
    named = [row for row in rows if model and model in (row.get("id"), row.get("name"), row.get("model"))]
    return _of_row((named or rows)[0]) if named or len(rows) == 1 else None


def _of_row(row: JsonObject) -> bool | None:
    able, built = row.get("capabilities"), row.get("architecture")
    if isinstance(able, dict) and isinstance(able.get("vision"), bool):  # Mistral
        return bool(able["vision"])
    taken = built.get("input_modalities") if isinstance(built, dict) else row.get("input_modalities")
    if isinstance(taken, list):  # OpenRouter
        return "image" in taken
    return _KINDS.get(str(row.get("type")))


def of_props(props: Any) -> bool | None:
    """Read llama.cpp's `/props`."""
    told = props.get("modalities") if isinstance(props, dict) else None
    sees = told.get("vision") if isinstance(told, dict) else None
    return sees if isinstance(sees, bool) else None


def of_ollama(shown: Any) -> bool | None:
    """Read Ollama's `/api/show`."""
    able = shown.get("capabilities") if isinstance(shown, dict) else None
    return "vision" in able if isinstance(able, list) else None
