"""Numbers in an address, such as `?limit=50`."""

from __future__ import annotations

from starlette.datastructures import QueryParams

_MOST_DIGITS = 15
"""More than a moment in milliseconds has; a store's own numbers end at 19."""


def whole_number(query: QueryParams, name: str) -> int | None:
    """Return a number of a request's query; None where it is left out or none."""
    text = query.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
