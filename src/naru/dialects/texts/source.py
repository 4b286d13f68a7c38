"""The reader's input: text that is still arriving, and the few ways to look ahead in it.

Readers are generators that `yield` when they need more text than has come. Between two yields only offsets
relative to `pos` stay valid, since what was consumed is dropped: memory holds the undecided part alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import lru_cache

from naru.dialects.texts.closing import MOST_SPACE
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.pieces import Pieces
from naru.dialects.texts.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")
    Reading = Generator[None, None, T]
    """A reader of one thing: yields for more text, returns what it read."""
else:
    Reading = Generator

_SPACE = lazy_pattern(r"\s*")
_SOLID = lazy_pattern(r"\S")


class NotACall(Exception):  # noqa: N818 - control flow between readers, never an error that a caller sees
    """What follows is no call of an offered tool: the text is text."""


class Incomplete(NotACall):
    """The text ended inside something that could still have become a call."""


class Source:
    """Text that is still arriving; `pos` is the first character not consumed.

    `log` keeps everything since a candidate began, so that a candidate that fails can be given back as text.
    """

    __slots__ = ("_kept_from", "base", "cut", "final", "log", "pos", "text")

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0
        """Position of `text[0]` in the whole input."""
        self.final = False
        self.cut = False
        """Whether the text ended because it became too long."""
        self.log: Pieces | None = None
        """What came since `mark`, the text that was there included; None when nothing has to be kept."""
        self._kept_from = 0

    @property
    def offset(self) -> int:
        """Position of the first character not consumed, in the whole input."""
        return self.base + self.pos

    def put(self, meant: str, offset: int, size: int) -> None:
        """Put what was meant in the place of `size` characters at `offset`; what is kept, and positions, stay.

        All before it must be consumed before the next position is asked for.
        """
        start = self.pos + offset
        self.text = self.text[:start] + meant + self.text[start + size :]
        self.base -= len(meant) - size

    def push(self, delta: str) -> None:
        """Append what arrived and drop what was consumed."""
        if self.log is not None:
            self.log.append(delta)
        if self.pos:
            self.base += self.pos
            self.text = self.text[self.pos :] + delta
            self.pos = 0
        else:
            self.text += delta

    def mark(self) -> None:
        """Keep what comes from here on, so that it can be given back; what is kept already stays."""
        if self.log is None:
            self.log = Pieces((self.text,))
            self._kept_from = self.base

    def forget(self) -> None:
        """Stop keeping."""
        self.log = None

    def kept(self, start: int, end: int) -> str:
        """Return the text between two positions since `mark`."""
        assert self.log is not None
        text = self.log.take()
        self.log.append(text)
        return text[start - self._kept_from : end - self._kept_from]

    def rewind(self, offset: int) -> None:
        """Go back to a position since `mark`, or one that is still in `text`, and go on keeping."""
        if self.log is not None:
            self.base = self._kept_from
            self.text = self.log.take()
            self.log.append(self.text)
        self.pos = max(0, offset - self.base)


def need(source: Source, size: int) -> Reading[bool]:
    """Wait for `size` characters after `pos`; False when the text ends before."""
    while len(source.text) - source.pos < size:
        if source.final:
            return False
        yield
    return True


def solid(source: Source, offset: int = 0) -> int:
    """Return the offset of the first character that is no white space, at or after `offset`; -1 when none has come."""
    found = _SOLID.search(source.text, source.pos + offset)
    if found is None:
        return -1
    size = found.start() - source.pos
    return size if size - offset < MOST_SPACE else -1


def space_end(source: Source, offset: int = 0) -> Reading[int]:
    """Return the offset of the first character that is no white space, at or after `offset`.

    Raises:
        NotACall: There is more white space than any call has.
    """
    first = offset
    while True:
        found = _SPACE.match(source.text, source.pos + offset)
        offset = found.end() - source.pos if found else offset
        if offset - first > MOST_SPACE:
            raise NotACall
        if source.pos + offset < len(source.text) or source.final:
            return offset
        yield


def skip_space(source: Source) -> Reading[str]:
    """Consume white space and return the character after it, empty at the end of the text."""
    size = solid(source)
    if size < 0:
        size = yield from space_end(source)
    source.pos += size
    return source.text[source.pos : source.pos + 1]


@lru_cache(maxsize=256)
def _tokens(literals: tuple[str, ...]) -> Tokens:
    return Tokens(literals)


def literal_at(source: Source, literals: tuple[str, ...] | Tokens, offset: int = 0) -> Reading[str]:
    """Return the longest of `literals` that stands at `offset`, or an empty string."""
    tokens = literals if isinstance(literals, Tokens) else _tokens(literals)
    while True:
        text, start = source.text, source.pos + offset
        if source.final or len(text) - start >= tokens.longest or not tokens.may_become(text[start:]):
            return tokens.at(text, start)
        yield


def match_here(source: Source, pattern: re.Pattern[str], limit: int) -> re.Match[str] | None:
    """Return what `until` would when its match begins at `pos` and all of it has come; None when one must look."""
    end = min(len(source.text), source.pos + limit)
    found = pattern.match(source.text, source.pos, end)
    return found if found and found.end() < end else None


def until(source: Source, pattern: re.Pattern[str], limit: int) -> Reading[re.Match[str]]:
    """Return the first match of `pattern` in the next `limit` characters that does not touch the end of what has come.

    Raises:
        NotACall: There is none.
        Incomplete: The text ends before one.
    """
    return _awaited(source, pattern.search, limit)


def match_at(source: Source, pattern: re.Pattern[str], limit: int) -> Reading[re.Match[str]]:
    """Return the match of `pattern` at `pos` as `until` would, whatever of it may match after that."""
    return _awaited(source, pattern.match, limit)


def _awaited(
    source: Source, find: Callable[[str, int, int], re.Match[str] | None], limit: int
) -> Reading[re.Match[str]]:
    while True:
        size = len(source.text)
        end = min(size, source.pos + limit)
        found = find(source.text, source.pos, end)
        if found and (found.end() < end or (end == size and source.final)):
            return found
        if end < size:
            raise NotACall
        if source.final:
            raise Incomplete
        yield


def rest_of_line(source: Source) -> Reading[str]:
    """Consume what comes up to the end of the line and return it without white space around it.

    Raises:
        Incomplete: The text was cut off before it.
    """
    parts: list[str] = []
    while True:
        end = source.text.find("\n", source.pos)
        parts.append(source.text[source.pos : end if end >= 0 else len(source.text)])
        source.pos += len(parts[-1])
        if end >= 0:
            break
        if source.final:
            if source.cut:
                raise Incomplete
            break
        yield
    return "".join(parts).strip()
