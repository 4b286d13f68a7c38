"""Regular expressions that are compiled when they are first used: a reply needs few of the dialects' eighty."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Pattern:
    """Stands for a compiled pattern; the methods that were used once are its own attributes from then on."""

    __slots__ = ("_flags", "_text", "findall", "finditer", "fullmatch", "match", "search", "split", "sub")

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves as `re.compile(text, flags)`."""
    return _Pattern(text, flags)  # type: ignore[return-value] # it has the methods that are used here
