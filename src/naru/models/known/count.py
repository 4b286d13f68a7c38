"""A number of things, as an endpoint tells it: tokens, parameters. Pure."""

from __future__ import annotations

from typing import Any

from naru.messages import Usage

_MOST = 10**15
"""More is a slip; sums of what is counted stay within the integers of databases, and are exact as floats."""


def count(told: Any) -> int:
    """Return a count in whichever form it is told; 0 for whatever is none, which costs no answer."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return 0
    try:
        return min(max(0, int(told)), _MOST)
    except (ValueError, OverflowError):
        return 0


def later(told: Usage | None, before: Usage | None) -> Usage | None:
    """Return the counts that hold when an endpoint tells some again: one that has none says nothing, not zero."""
    return before if before is not None and not (told and (told.prompt_tokens or told.completion_tokens)) else told
