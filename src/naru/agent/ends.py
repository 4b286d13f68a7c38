"""Of two values in a question, which one is the start and which the end: `from A to B`, `3마일은 몇 킬로미터`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from naru.agent.casing import snake

BOTH = 2
_STARTS = re.compile(r"(?:^|_)(?:from|source|base|have|origin|departure|depart|start)(?:_|$)", re.IGNORECASE)
_ENDS = re.compile(r"(?:^|_)(?:to|target|dest|destination|arrival|arrive|end|quote|want)(?:_|$)", re.IGNORECASE)
_LEAVING = r"(?i:\bfrom )(?:the )?{0}(?![A-Za-z])|{0}\s?(?:에서|부터|발)"
_REACHING = r"(?i:\b(?:to|into|in) )(?:the )?{0}(?![A-Za-z])|{0}\s?(?:까지|으로|로|행)"


def is_end(name: str) -> bool:
    """Tell whether a parameter takes where something starts or ends, such as `from` or `target_currency`."""
    plain = snake(name)
    return bool(_STARTS.search(plain) or _ENDS.search(plain))


def is_start(name: str) -> bool:
    """Tell whether a parameter takes where something starts."""
    return _STARTS.search(snake(name)) is not None


def starts_first(values: Sequence[Any], question: str) -> list[Any]:
    """Put that of two values first which a question says to be the start, or which has a number."""
    if len(values) != BOTH:
        return list(values)
    told = [re.escape(str(one)) for one in values]
    for form, is_start in ((_LEAVING, True), (r"\d\s*{0}(?![A-Za-z])", True), (_REACHING, False)):
        holds = [re.search(form.format(one), question) is not None for one in told]
        if holds.count(True) == 1:
            return list(values) if holds[0] is is_start else list(reversed(values))
    return list(values)


def joins(values: Sequence[Any], question: str) -> bool:
    """Tell whether a question says of one of the values that something leaves or reaches it."""
    forms = [form.format(re.escape(str(one))) for one in values for form in (_LEAVING, _REACHING)]
    return any(re.search(form, question) for form in forms)


def end_of(name: str, values: Sequence[Any]) -> list[Any]:
    """Return the one of two values, the start first, that a parameter means by its name; else all."""
    if len(values) != BOTH or not is_end(name):
        return list(values)
    return [values[0] if _STARTS.search(snake(name)) else values[1]]
