"""How many tokens a model's context holds, as its endpoint says it, in every form that endpoints use. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from naru.messages import JsonObject
from naru.models.known.count import count
from naru.models.known.listed import rows_of

_NAMES = (
    "loaded_context_length",  # LM Studio: what it was loaded with
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, Together, DeepInfra
    "context_window",  # Groq, Cerebras
    "max_context_length",  # Mistral, LM Studio
    "max_context_window_tokens",
    "input_token_limit",
)
_INNER = ("meta", "metadata", "limits", "capabilities", "top_provider")


def of_model(row: JsonObject) -> int:
    """Return the length that a row of a model list gives; 0 where it says none."""
    for name in _NAMES:
        if (tokens := count(row.get(name))) > 0:
            return tokens
    for name in _INNER:
        inner = row.get(name)
        # llama.cpp: n_ctx is what it runs with, n_ctx_train what the model was trained for.
        if isinstance(inner, dict) and (tokens := count(inner.get("n_ctx")) or of_model(inner)):
            return tokens
    return 0


def of_listed(listed: Any, model: str) -> int:
    """Return the length of one model in an answer to `GET /v1/models`; the only model stands for any name."""
    rows = rows_of(listed) or []
    named = [row for row in rows if model and model in (row.get("id"), row.get("name"), row.get("model"))]
    return of_model((named or rows)[0]) if named or len(rows) == 1 else 0


def of_props(props: Any) -> int:
    """Return the length that llama.cpp's `/props` says it runs with."""
    if not isinstance(props, dict):
        return 0
    settings = props.get("default_generation_settings")
    return count(settings.get("n_ctx")) if isinstance(settings, dict) else count(props.get("n_ctx"))


def of_ollama(shown: Any) -> tuple[int, int]:
    """Return what Ollama's `/api/show` says: the `num_ctx` of the model's own parameters, and its longest context."""
    if not isinstance(shown, dict):
        return 0, 0
    words = str(shown.get("parameters") or "").split()
    chosen = next((count(after) for name, after in pairwise(words) if name == "num_ctx"), 0)
    info = shown.get("model_info")
    lengths = (
        [value for name, value in info.items() if name.endswith(".context_length")] if isinstance(info, dict) else []
    )
    return chosen, count(lengths[0]) if lengths else 0
