"""Where a value between tags may end: the tags that tell, and the plain case in which nothing is in doubt."""

from __future__ import annotations

import re

from naru.dialects.scanner import stray_closers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source, literal_at, solid
from naru.dialects.texts.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    Role = Literal["closer", "opener", "argument", "end", "call", "tag"]

LONGEST_TAG = 400
"""Characters."""
MOST_CLOSERS = 4
"""How many closing tags in a row are looked at."""
_LONGEST_SLIP, _SHORTEST_NAME = 2, 5
_WORDS_SO_FAR = lazy_pattern(r"[^<>\n]{0,100}(?:<[^<>\n]{0,40})?\Z")
_MISSPELT = frozenset({"param", "parameter", "arg", "argument", "arg_key", "arg_value", "value"})


class Ending:
    """The tags that tell how a value ends.

    Args:
        key: the argument's name.
        closer: the value's closing tag.
        openers: what the opening tags of such values begin with, for counting.
        arguments: what the opening tags of arguments begin with, where those are other tags.
        head: the whole opening tag of an argument, with the group `key`.
        ends: the closing tags of the call.
        calls: what the opening tags of other such calls, and of what stands around them, begin with.
        mends: whether a value without its closing tag may be mended.
        bare: an argument's name with its closing tag alone, with the group `key`.
        heads: how an argument's whole opening tag is written, with `{}` for its name.
    """

    __slots__ = (
        "arguments", "bare", "call_end", "calls", "closer", "ends", "head", "heads", "key", "mends", "misspelt", "name",
        "roles", "structure", "tokens",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - keywords
        self,
        key: str,
        closer: str,
        *,
        openers: tuple[str, ...],
        head: re.Pattern[str],
        ends: tuple[str, ...],
        arguments: tuple[str, ...] = (),
        calls: tuple[str, ...] = (),
        mends: bool = True,
        bare: re.Pattern[str] | None = None,
        heads: tuple[str, ...] = (),
    ) -> None:
        self.key: Final = key
        self.closer: Final = closer
        self.head: Final = head
        self.heads: Final = heads
        self.ends: Final = Tokens(ends)
        self.call_end: Final = ends[0]
        self.arguments: Final = Tokens(arguments or openers)
        self.calls: Final = Tokens(calls)
        self.mends: Final = mends
        self.bare: Final = bare
        self.name: Final = plain_name(closer[2:-1])
        self.misspelt: Final = _MISSPELT | {self.name, plain_name(key)}
        """Names of closing tags that were meant for this one."""
        self.structure: Final = _MISSPELT | {"tool_call", *(plain_name(token[2:-1]) for token in ends)}
        """Names of tags around the value."""
        self.roles: dict[str, Role] = {"</": "tag"} if mends else {}
        for token in calls:
            self.roles[token] = "call"
        for token in ends:
            self.roles[token] = "end"
        for token in arguments:
            self.roles[token] = "argument"
        for token in openers:
            self.roles[token] = "opener"
        self.roles[closer] = "closer"
        self.tokens: Final = Tokens(self.roles)


def plain_name(name: str) -> str:
    """Return a tag's name without the case and the strokes in which slips differ."""
    return name.lower().replace("-", "_")


def is_slip(written: str, name: str) -> bool:
    """Tell whether a name differs from a tag's by at most two characters in one place: left out, added or swapped."""
    longer = max(len(written), len(name))
    if longer - min(len(written), len(name)) > _LONGEST_SLIP or len(name) < _SHORTEST_NAME:
        return False
    same = _shared(written, name)
    same += _shared(written[same:][::-1], name[same:][::-1])
    return longer - same <= _LONGEST_SLIP


def _shared(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return next(
        (size for size, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), len(first)
    )


class End:
    """Where a value may end: `size` characters after it are its closing tag, or what stands for it."""

    __slots__ = ("at", "repair", "size")

    def __init__(self, at: int, size: int, repair: str = "") -> None:
        self.at = at
        self.size = size
        self.repair = repair


def key_at(source: Source, ending: Ending, offset: int) -> Reading[str | None]:
    """Return the name of the argument whose opening tag stands at `offset`, if one does."""
    if not (yield from literal_at(source, ending.arguments, offset)):
        return None
    while True:
        start = source.pos + offset
        head = ending.head.match(source.text, start, start + LONGEST_TAG)
        if head is not None:
            found: str = head["key"]
            return found.strip()
        if source.final or len(source.text) - start >= LONGEST_TAG:
            return None
        yield


def bare_key_at(source: Source, ending: Ending, offset: int) -> Reading[str]:
    """Return the name of the argument that stands at `offset` without its opening tag; an empty one if none does."""
    if ending.bare is None:
        return ""
    while not source.final and _WORDS_SO_FAR.match(source.text, source.pos + offset):
        yield
    found = ending.bare.match(source.text, source.pos + offset)
    return found["key"].strip() if found is not None else ""


def plain_end(source: Source, ending: Ending) -> tuple[int, int] | None:
    """Return the length of the value and of its closing tag if the first bracket in it is that tag, beyond doubt."""
    closer, text, start = ending.closer, source.text, source.pos
    end = text.find(closer[0], start)
    if end < 0 or not text.startswith(closer, end):
        return None
    after = solid(source, end + len(closer) - start)
    if after < 0:
        return None
    if ending.arguments.at(text, start + after):
        head = ending.head.match(text, start + after, start + after + LONGEST_TAG)
        return (end - start, len(closer)) if head is not None else None
    call_end = ending.ends.at(text, start + after)
    if not call_end:
        return None
    closers, offset = stray_closers(), after + len(call_end)
    for _ in range(MOST_CLOSERS):
        following = solid(source, offset)
        if following < 0:
            return (end - start, len(closer)) if source.final else None
        if ending.calls.at(text, start + following):
            return end - start, len(closer)
        found = closers.at(text, start + following)
        if not found:
            return None
        offset = following + len(found)
    return None
