"""What a `pattern` of a schema is worth to a provider."""

from __future__ import annotations

import re

_LONGEST = 200
"""Characters; a longer one costs a grammar engine more than it says."""
_NOT_SIMPLE = re.compile(r"\(\?[^:]|\\[1-9bBkpPuUAzZGQE]|\\x|[*+?}]\+|\{\d*,?(?:\d{3,})\}|\[\[:|&&")


def is_simple(pattern: str) -> bool:
    """Say whether a grammar engine takes the pattern: anchored at both ends, nothing that looks around."""
    if not (pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")):
        return False
    inner = pattern[1:-1]
    return (
        len(pattern) <= _LONGEST and not _NOT_SIMPLE.search(inner) and not re.search(r"(?<!\\)[\^$](?![^\[]*\])", inner)
    )


def compiles(pattern: str) -> bool:
    """Say whether it is a regular expression at all."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
