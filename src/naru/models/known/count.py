"""A number of things, as an endpoint tells it: tokens, parameters. Pure."""

from __future__ import annotations

from typing import Any

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
