"""Quoted strings and whole values, read while they arrive."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from naru.dialects.texts.closing import NO_MEMBER, Nesting, closes
from naru.dialects.texts.literal import CLOSERS, StrayText, encodable, unescape
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, literal_at, need

_STOPS = {closer: lazy_pattern(f"[^{re.escape(closer)}\\\\]*") for closer in set(CLOSERS.values())}
_MARKS = lazy_pattern(r"[\"'“‘\[\]{}(),，:=]")
_WORD_OF_JSON = lazy_pattern(r"\s*(?:-?\d+(?:\.\d+)?|true|false|null)\s*\Z")
_MARKS_OR_DELIMITER: dict[str, re.Pattern[str]] = {}
MOST_NESTED = 200
"""Structures one within the other in a value; more are a model that repeats itself."""
_PAIRS = {"}": "{", "]": "[", ")": "("}
_UNICODE_ESCAPE = lazy_pattern(r"\\u[0-9a-fA-F]{4}")
_SURROGATE_PAIR = lazy_pattern(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HIGH_SURROGATE = lazy_pattern(r"\\u[dD][89abAB]")


def quoted(
    source: Source,
    emit: Callable[[str], object],
    nesting: Nesting,
    *,
    key: bool = False,
    raw: bool = False,
    keys: Collection[str] = (),
) -> Reading[int]:
    """Read the quoted string at `pos`, handing over its pieces, decoded unless `raw`; returns the stray quotes met.

    After one of these no member but one of `keys` ends it, where there are any: it is JSON that was not escaped. In an
    object that begins in it (`{"`) none does.
    """
    closers = CLOSERS[source.text[source.pos]]
    stop = _STOPS[closers]
    source.pos += 1
    stray = inside = 0
    last = ""
    while True:
        found = stop.match(source.text, source.pos)
        end = found.end() if found else source.pos
        if end > source.pos:
            piece = source.text[source.pos : end]
            emit(piece if raw else encodable(piece))
            source.pos = end
            inside = inside and max(0, inside - piece.count("}"))
            last = piece.rstrip()[-1:] or last
        if end == len(source.text):
            if source.final:
                raise Incomplete
            yield
        elif source.text[end] == "\\":
            size = yield from _escape_size(source)
            written = source.text[source.pos : source.pos + size]
            emit(written if raw else unescape(written))
            source.pos += size
        else:
            known = NO_MEMBER if inside else keys if stray else ()
            judged = closes(source.text, end + 1, nesting, key=None if raw else key, final=source.final, keys=known)
            if judged is None and not source.final:
                yield
                continue
            if judged is not False:
                source.pos += 1
                return stray
            emit(source.text[source.pos])
            source.pos += 1
            stray += 1
            inside += last == "{"
            last = '"'


def _escape_size(source: Source) -> Reading[int]:
    """Return the length of the escape at `pos`, a surrogate pair counting as one."""
    if not (yield from need(source, 2)):
        raise Incomplete
    if source.text[source.pos + 1] != "u":
        return 2
    if not (yield from need(source, 6)):
        raise Incomplete
    if not _HIGH_SURROGATE.match(source.text, source.pos):
        return 6 if _UNICODE_ESCAPE.match(source.text, source.pos) else 2
    if not (yield from need(source, 12)):
        raise Incomplete
    pair = _SURROGATE_PAIR.match(source.text, source.pos)
    return 12 if pair else 6


def collect_quoted(source: Source, nesting: Nesting, *, key: bool = False) -> Reading[str]:
    """Read the quoted string at `pos` and return it decoded."""
    parts: list[str] = []
    strays = yield from quoted(source, parts.append, nesting, key=key)
    return StrayText.of("".join(parts), 0 if key else strays)


def capture(source: Source, delimiter: str = "") -> Reading[str]:
    """Consume the written value at `pos` up to where it ends and return it as it stands.

    A structure ends with its own bracket; anything else before the comma or bracket of what holds it.

    Raises:
        NotACall: Brackets do not match.
        Incomplete: The text ends first.
    """
    parts: list[str] = []
    stack: list[Nesting] = []
    before = ","
    pattern = _marks(delimiter)
    while True:
        found = pattern.search(source.text, source.pos)
        if not found:
            before = yield from _take_plain(source, parts, before, delimiter)
            continue
        plain = source.text[source.pos : found.start()]
        before = "x" if plain.strip() else before
        mark = found[0]
        if not stack and (mark in ",}])" or (mark == "，" and _WORD_OF_JSON.match("".join((*parts, plain))))):
            parts.append(plain)
            source.pos = found.start()
            return "".join(parts)
        parts.append(plain)
        source.pos = found.start()
        if mark == delimiter:
            yield from _take_delimited(source, parts, delimiter)
        elif mark in CLOSERS:
            yield from _take_quote(source, parts, stack[-1] if stack else "{", before)
        else:
            parts.append(mark)
            source.pos += 1
            _track(stack, mark)
            if not stack and mark in _PAIRS:
                return "".join(parts)
        before = mark if mark in "{[(,:=" else "x"


def _marks(delimiter: str) -> re.Pattern[str]:
    if not delimiter:
        return _MARKS
    if delimiter not in _MARKS_OR_DELIMITER:
        _MARKS_OR_DELIMITER[delimiter] = re.compile(re.escape(delimiter) + r"|[\[\]{}(),:]")
    return _MARKS_OR_DELIMITER[delimiter]


def _track(stack: list[Nesting], mark: str) -> None:
    if mark == "{" or mark == "[" or mark == "(":
        stack.append(mark)  # type: ignore[arg-type] # narrowed by the comparisons
        if len(stack) > MOST_NESTED:
            raise NotACall
    elif mark in _PAIRS and (not stack or stack.pop() != _PAIRS[mark]):
        raise NotACall


def _take_plain(source: Source, parts: list[str], before: str, delimiter: str) -> Reading[str]:
    """Consume text without any mark, keeping what may be the first half of a delimiter."""
    plain = source.text[source.pos :]
    if delimiter and not source.final:
        for size in range(min(len(delimiter) - 1, len(plain)), 0, -1):
            if delimiter.startswith(plain[-size:]):
                plain = plain[:-size]
                break
    parts.append(plain)
    source.pos += len(plain)
    if source.final:
        raise Incomplete
    yield
    return "x" if plain.strip() else before


def _take_delimited(source: Source, parts: list[str], delimiter: str) -> Reading[None]:
    parts.append(delimiter)
    source.pos += len(delimiter)
    yield from delimited(source, parts.append, delimiter)
    parts.append(delimiter)


def delimited(source: Source, emit: Callable[[str], object], delimiter: str) -> Reading[None]:
    """Hand over the text up to `delimiter` as it arrives and consume the delimiter."""
    while True:
        end = source.text.find(delimiter, source.pos)
        if end >= 0:
            emit(source.text[source.pos : end])
            source.pos = end + len(delimiter)
            return
        safe = len(source.text)
        if not source.final:
            start = max(source.pos, safe - len(delimiter) + 1)
            safe = next((i for i in range(start, safe) if delimiter.startswith(source.text[i:])), safe)
        emit(source.text[source.pos : safe])
        source.pos = safe
        if source.final:
            raise Incomplete
        yield


def _take_quote(source: Source, parts: list[str], nesting: Nesting, before: str) -> Reading[None]:
    """Consume a string with its quotes, or one quote that opens none because it stands inside a word."""
    quote = source.text[source.pos]
    if before == "x":
        parts.append(quote)
        source.pos += 1
        return
    if quote in "\"'" and (yield from literal_at(source, (quote * 3,))):
        parts.append(quote * 3)
        source.pos += 3
        yield from delimited(source, parts.append, quote * 3)
        parts.append(quote * 3)
        return
    parts.append(quote)
    yield from quoted(source, parts.append, nesting, raw=True)
    parts.append(source.text[source.pos - 1])
