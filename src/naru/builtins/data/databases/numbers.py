"""Numbers and names that JSON keeps: exact digits, no column lost."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

EXACT_DIGITS = 15
"""Every decimal number of so many digits comes back from a double unchanged."""
_MAX_NUMBER_LENGTH = 320
"""Longer texts are no double; spares converting a numeric of 100,000 digits."""


def unique_names(names: Sequence[str]) -> list[str]:
    """Number repeated column names: `dup`, `dup_2`; a name that a column really has is never taken."""
    taken = set(names)
    seen: set[str] = set()
    unique: list[str] = []
    for name in names:
        candidate, count = name, 1
        while candidate in seen or (count > 1 and candidate in taken):
            count += 1
            candidate = f"{name}_{count}"
        seen.add(candidate)
        unique.append(candidate)
    return unique


def number(text: str) -> int | float | str:
    """Return a JSON number when a double holds it exactly, else the digits as text."""
    is_fraction = "." in text or "e" in text or "E" in text
    if len(text) > _MAX_NUMBER_LENGTH:
        return text
    if len(text) <= EXACT_DIGITS and not is_fraction:
        return int(text)
    value = float(text)
    try:
        if (len(text) > EXACT_DIGITS or "e" in text.lower()) and Decimal(repr(value)) != Decimal(text):
            return text
    except InvalidOperation:  # an exponent that no Decimal has
        return text
    return value if is_fraction else int(text)
