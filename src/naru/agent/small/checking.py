"""Is this an answer? What is looked at is form: empty, a call, the question again, values that no source holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from naru.agent.small.sources import Sources
from naru.agent.turns import looks_like_call
from naru.tools.lines import decoded, leaves
from naru.tools.texts import FIGURE, Text, bare, numbers, spans

_FENCE = re.compile(r"^```\w*\n?|\n?```$")
_CALL_SHAPES = re.compile(r'"(?:name|function|tool)"\s*:[^}]*"(?:arguments|parameters)"\s*:|</?tool_call>')
_OVER_AND_OVER = re.compile(r"(\S.{4,80}?)(?:[\s,.;:]{0,3}\1){3,}", re.DOTALL)


def tidy(text: str) -> str:
    """Strip a fence round the whole of an answer."""
    stripped = text.strip()
    is_fenced = stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2
    return _FENCE.sub("", stripped).strip() if is_fenced else stripped


def is_no_answer(text: str, question: str) -> bool:
    """Tell whether a text can be no answer at all: nothing, a call, JSON, the question itself, one phrase for ever."""
    said = text.strip()
    if not bare(said) or looks_like_call(said) or _CALL_SHAPES.search(said):
        return True
    is_endless = any(bare(found[1]) for found in _OVER_AND_OVER.finditer(said[:2000]))
    return said[:1] + said[-1:] in ("{}", "[]") or bare(said) == bare(question) or is_endless


def is_data(text: str, results: Sequence[Text]) -> bool:
    """Tell whether a text is JSON that holds something of what was found, and not a garbled call."""
    values = () if looks_like_call(text) else leaves(decoded(text.strip()))
    return any(one.holds(value) for value in values for one in results)


def invented(text: str, sources: Sources, shortest: int = 2) -> list[str]:
    """Return the ids and numbers of a text that no source holds; a bare digit may be a count of what was found.

    Zero is how many there are of what was not found.
    """
    known = [*sources.all, *sources.taken]

    def is_known(one: str) -> bool:
        return any(each.holds(one) or numbers(one) & each.numbers for each in known)

    written = [one for one in spans(text, FIGURE) if len(bare(one)) >= shortest and bare(one).strip("0")]
    return [one for one in written if not (is_known(one) or all(map(is_known, one.split())))]
