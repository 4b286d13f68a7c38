"""A number of things, as an endpoint tells it: tokens, parameters. Pure."""

from __future__ import annotations

from typing import Any


def count(told: Any) -> int:
    """Return a count in whichever form it is told; 0 for whatever is none, which costs no answer."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return 0
    try:
        return max(0, int(told))
    except (ValueError, OverflowError):
        return 0
