"""Whether and how hard a model shall think, in whichever words of chat completions a request says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.messages import ChatRequest

WORDS = frozenset({"reasoning_effort", "reasoning", "thinking", "enable_thinking", "think"})
"""OpenAI's, OpenRouter's, DeepSeek's and GLM's, Qwen's, Ollama's; a wire that has one word says them all by it."""
NEAREST = {"max": "xhigh", "xhigh": "high", "minimal": "low"}
"""What to ask for where an endpoint does not know a word: not every model has all of them."""
_YES = "medium"
"""Of a yes that does not say how hard."""


def effort_asked(request: ChatRequest) -> str:
    """Return OpenAI's word for it (`none`, `minimal`, `low`, …); empty leaves it to the endpoint."""
    extra = request.extra
    if effort := extra.get("reasoning_effort"):
        return str(effort)
    match extra.get("reasoning"):
        case {"effort": str(effort)} if effort:
            return effort
        case {"enabled": bool(wanted)}:
            return _said(wanted)
    match extra.get("thinking"):
        case {"type": "disabled"}:
            return "none"
        case {"type": str()}:
            return _YES
    return next((_said(extra[name]) for name in ("enable_thinking", "think") if extra.get(name) is not None), "")


def without(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request sets beside that."""
    return {name: value for name, value in extra.items() if name not in WORDS}


def _said(wanted: Any) -> str:
    return wanted if isinstance(wanted, str) else _YES if wanted else "none"
