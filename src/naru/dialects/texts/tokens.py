"""Literal tokens found in text, all at once and the longest first, without a pattern to compile."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Tokens:
    """A set of tokens, kept by how they begin.

    One pattern of their first characters finds the places; the characters there pick the few tokens to compare.
    """

    __slots__ = ("_beginnings", "_key_size", "_shorter", "first", "longest")

    def __init__(self, tokens: Iterable[str], also: str = "") -> None:
        """Take the tokens; `first` finds their first characters, and those of `also`."""
        ordered = sorted(tokens, key=len, reverse=True)
        self.longest: Final = len(ordered[0]) if ordered else 0
        self._key_size = min(len(ordered[-1]), 4) if ordered else 1
        self._beginnings: dict[str, list[str]] = {}
        for token in ordered:
            self._beginnings.setdefault(token[: self._key_size], []).append(token)
        self._shorter = {key[:size] for key in self._beginnings for size in range(1, self._key_size)}
        firsts = sorted({key[0] for key in self._beginnings} | set(also))
        self.first: Final = lazy_pattern(f"[{re.escape(''.join(firsts))}]" if firsts else "(?!)")

    def at(self, text: str, place: int) -> str:
        """Return the longest token that stands at `place`, or an empty string."""
        likely = self._beginnings.get(text[place : place + self._key_size])
        if likely is not None:
            for token in likely:
                if text.startswith(token, place):
                    return token
        return ""

    def find(self, text: str, start: int) -> tuple[int, str]:
        """Return the first place from `start` where a token stands, and the token; an empty one when there is none."""
        found = self.first.search(text, start)
        while found is not None:
            place = found.start()
            if token := self.at(text, place):
                return place, token
            found = self.first.search(text, place + 1)
        return len(text), ""

    def unfinished(self, text: str, start: int) -> int:
        """Return the place from which the end of `text` may become a token, or the length of `text`."""
        for found in self.first.finditer(text, max(start, len(text) - self.longest + 1)):
            if self.may_become(text[found.start() :]):
                return found.start()
        return len(text)

    def may_become(self, rest: str) -> bool:
        """Tell whether `rest`, which is all that has come, is the beginning of a longer token."""
        size = len(rest)
        if size < self._key_size:
            return rest in self._shorter or not rest
        for token in self._beginnings.get(rest[: self._key_size], ()):
            if len(token) > size and token.startswith(rest):
                return True
        return False
