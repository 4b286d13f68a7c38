"""Is this an answer? Small models repeat the question, write a call, or name values that no result holds (UPLIFT)."""

from __future__ import annotations

import re

from naru.agent.prompts import is_korean
from naru.agent.sources import Sources

_CALL_SHAPES = re.compile(
    r'"(?:name|function|tool|arguments|parameters)"\s*:|<tool_call>|</?function|\[TOOL_CALLS\]|```(?:json|tool_code)'
)
_FENCE = re.compile(r"^```\w*\n?|\n?```$")


def tidy(text: str) -> str:
    """Strip a fence or a label round the whole of an answer."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2:
        stripped = _FENCE.sub("", stripped).strip()
    return re.sub(r"^(?:Answer|답변|답)\s*[:：]\s*", "", stripped)


def fault(answer: str, question: str, sources: Sources) -> str:
    """Say what is wrong with an answer; empty when nothing is."""
    text = answer.strip()
    if not text:
        return "it is empty"
    if _CALL_SHAPES.search(text) or (text[0] in "{[" and text[-1] in "}]"):
        return "it is a call or JSON, not an answer"
    if text.casefold().rstrip("?.! ") == question.strip().casefold().rstrip("?.! "):
        return "it repeats the question"
    invented = [token for token in sources.invented(text) if len(token.strip(".,:")) > 1]
    if invented:
        return f"it names {invented[0]}, which no result holds"
    if is_korean(question) and not is_korean(text) and len(text) > 60:
        return "it is not in Korean"
    return ""
