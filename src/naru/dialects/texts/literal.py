"""One tolerant reader for written values: JSON first, then JSON as models misspell it, Python and Gemma literals.

Repairs spelling (quotes, commas, literals, escapes, control characters, unquoted keys); never adds a missing end.
"""

from __future__ import annotations

import json
import math
import re

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Final, Literal

    Nesting = Literal["{", "[", "("]
else:
    Nesting = str

SURROGATES = lazy_pattern("[\ud800-\udfff]")
CLOSERS = {'"': '"', "'": "'", "“": '”“"', "‘": "’‘'", "”": "”", "„": "“”", "«": "»"}
"""A quote that may open a string → the quotes that may close it."""

_DEPTH = 120
_SPACE = lazy_pattern(r"(?:\s|\\[nrt]|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_HASH = lazy_pattern(r"#[^\n]*\n")
WRITTEN_BREAKS = ("\\n", "\\r", "\\t")
_ESCAPE = lazy_pattern(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.|\Z)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "_": "_"}
_WORDS = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
    "TRUE": True, "FALSE": False, "NULL": None, "undefined": None, "NaN": None, "nan": None,
    "Infinity": None, "-Infinity": None, "inf": None, "-inf": None,
}  # fmt: skip
_NUMBER = lazy_pattern(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\Z")
_STRING_PREFIX = lazy_pattern(r"[rbfuRBFU]{1,2}(?=[\"'])")
_BARE = lazy_pattern(r"(?:(?!\s(?:/[/*]|#\s))[^,\]\})\n])*")
BARE_KEY = lazy_pattern(r"[^\s:：={}\[\],，\"'][^:：={}\[\],，\"'\n]*")
COLONS = (":", "=", "：")
COMMAS = (",", "，")
"""Full-width marks stand for the plain ones outside of texts."""
_WORD_OF_JSON = r"(?:true|false|null|True|False|None)\b(?!\Z)"
_AFTER_COMMA_IN_LIST = lazy_pattern(rf"[\"'“‘\[\]{{(\-\d]|{_WORD_OF_JSON}|[)}}]")
_QUOTED_KEY = r"\"(?:[^\"\\\n]|\\.){0,1000}\"|'(?:[^'\\\n]|\\.){0,1000}'|[“‘][^”’\n]{0,1000}[”’\"]"
_LONGEST_BARE_KEY = 64
_BARE_KEY_BEFORE_COLON = rf"[A-Za-z_][\w.\-]{{0,{_LONGEST_BARE_KEY}}}"
_AFTER_COMMA_IN_OBJECT = lazy_pattern(rf"[}}\])]|(?:{_QUOTED_KEY}|{_BARE_KEY_BEFORE_COLON})(?:\s|\\[nrt])*[:=：]")
_OPEN_KEY = r"\"(?:[^\"\\\n]|\\.){0,1000}\\?\Z|'(?:[^'\\\n]|\\.){0,1000}\\?\Z|[“‘][^”’\n]{0,1000}\Z"
_UNFINISHED_KEY = lazy_pattern(rf"(?:{_QUOTED_KEY})(?:\s|\\[nrt])*\\?\Z|{_OPEN_KEY}")
_AFTER_COMMA_IN_CALL = lazy_pattern(rf"[\"'“‘\[{{(\-\d)]|{_WORD_OF_JSON}|\*\*|\\?[A-Za-z_][\w\-\\]{{0,64}}\s*[=:]")
_NEXT_MEMBER = lazy_pattern(r"\"[\w.\-]{1,64}\"\s{0,8}[:：]")
_NEXT_MEMBER_SO_FAR = lazy_pattern(r"\"[\w.\-]{0,64}(?:\"\s{0,8})?\Z")
_CLOSING = ("}", "]", ")")
_AROUND_KEYS = "\"'“”‘’ \r\n\t"
_MOST_BRACKETS = 200
_CLOSED = lazy_pattern(rf"[}}\])\s]{{0,{_MOST_BRACKETS}}}")
_CLOSER = {"{": "}", "[": "]", "(": ")"}
_UNFINISHED_WORD = lazy_pattern(r"(?:\\?[A-Za-z_][\w.\-\\]{0,64}(?:\s|\\[nrt])*\\?|\*)\Z")
_AFTER_COMMA = {"[": _AFTER_COMMA_IN_LIST, "{": _AFTER_COMMA_IN_OBJECT, "(": _AFTER_COMMA_IN_CALL}
_LOOK_AHEAD = 1024
MOST_SPACE = 4_000
"""Characters: as much white space may stand between two tokens of a call."""


class _SpaceAfter:
    """White space and comments after a quote; what holds another such quote may be the string's own text."""

    __slots__ = ("begun", "whole")

    def __init__(self, quote: str) -> None:
        line = rf"(?://|#)[^\n{quote}]{{0,{_LOOK_AHEAD}}}"
        block = rf"/\*(?:[^*{quote}]|\*(?!/)){{0,{_LOOK_AHEAD}}}"
        self.whole: Final = lazy_pattern(rf"(?:\s|\\[nrt]|{line}\n|{block}\*/)*")
        self.begun: Final = lazy_pattern(rf"(?:\\|/|{line}|{block})?\Z")


_SPACE_AFTER = {quote: _SpaceAfter(quote) for quote in "\"'"}


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object whose first value of a key stands; refuse repeated keys so that a tolerant reader says so."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("number out of range")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


STRICT = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=_refuse, parse_float=_finite)
"""Strict JSON: no NaN, no repeated key, no number that is out of range."""


def decode_json(text: str, start: int = 0) -> tuple[Any, int] | None:
    """Read one strict JSON value at `start`; None when it is not one, or holds half a surrogate pair."""
    try:
        value, end = STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if text.find("\\u", start, end) >= 0 or not text.isascii():
        written = text[start:end]
        if "\\ud" in written.lower() or SURROGATES.search(written):
            return None
    return value, end


def encodable(text: str) -> str:
    """Replace surrogates, which no encoding can carry, by U+FFFD."""
    return text if text.isascii() else SURROGATES.sub("\ufffd", text)


def unescape(written: str) -> str:
    """Decode the inside of a quoted string; a backslash before anything else than an escape stays.

    Escaped surrogate pairs are joined; halves, and surrogates that stand unescaped, become U+FFFD.
    """
    written = encodable(written)
    if "\\" not in written:
        return written
    text = _ESCAPE.sub(_escape, written)
    if text.isascii() or not SURROGATES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code[:1] == "u" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    if code[:1] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code in _SIMPLE:
        return _SIMPLE[code]
    return code if code in "\"'\\/“”‘’`" else "\\" + code


def closes(
    text: str,
    after: int,
    nesting: str,
    *,
    key: bool | None = False,
    final: bool = True,
    keys: Collection[str] = (),
) -> bool | None:
    """Judge whether a quote before `after` ends its string, by what follows; None when more text is needed.

    In valid JSON the first unescaped quote always does, so this only ever helps text with stray quotes.

    Args:
        text: What has come.
        after: The place after the quote.
        nesting: The bracket that the string stands in.
        key: Whether the string is a key; None when it may be.
        final: Whether no more text comes.
        keys: Names of the members that may follow it, where any is known: a text with quotes may hold others.
    """
    quote = text[after - 1]
    at = _skip_after(text, after, quote, final=final)
    if at < 0:
        return None
    follower = text[at]
    if key or (key is None and nesting != "(" and follower in (":", "：")):
        return follower in COLONS
    if follower == _CLOSER[nesting]:
        return ends_there(text, at)
    if follower == '"' == quote and nesting == "{" and at > after:  # the comma between two members was left out
        return _is_member(text, at, final=final)
    if follower not in COMMAS:
        return False
    at = _skip_after(text, at + 1, quote, final=final)
    if at < 0:
        return None
    end = at + MOST_SPACE
    if member := _AFTER_COMMA[nesting].match(text, at, end):
        return not keys or nesting != "{" or member[0] in _CLOSING or member[0][:-1].strip(_AROUND_KEYS) in keys
    begun = _UNFINISHED_WORD.match(text, at) or (nesting == "{" and _UNFINISHED_KEY.match(text, at))
    return None if begun and len(text) <= end else False


def _is_member(text: str, at: int, *, final: bool) -> bool | None:
    """Tell whether a member of an object begins at `at`; None when more text is needed."""
    if _NEXT_MEMBER.match(text, at):
        return True
    return None if not final and _NEXT_MEMBER_SO_FAR.match(text, at) else False


def _skip_after(text: str, at: int, quote: str, *, final: bool) -> int:
    """Return where white space and comments from `at` on end; -1 when that is not known yet, or all that comes."""
    space, end = _SPACE_AFTER.get(quote, _SPACE_AFTER['"']), at + MOST_SPACE
    found = space.whole.match(text, at, end)
    at = found.end() if found else at
    if len(text) > end:
        return at
    if final:
        return -1 if text[at : at + 2] in ("", "\\") else at
    return -1 if space.begun.match(text, at) else at


def ends_there(text: str, at: int) -> bool | None:
    """Tell whether the brackets from `at` on end something: right before another quote they are part of the text."""
    found = _CLOSED.match(text, at)
    end = found.end() if found else at
    if end - at == _MOST_BRACKETS:
        return True
    if end >= len(text):
        return None
    return text[end] not in "\"'”" or text[end - 1].isspace()


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def skip_remarks(text: str, at: int) -> int:
    """Return where white space and comments from `at` on end, those after a `#` among them."""
    at = _skip(text, at)
    while found := _HASH.match(text, at):
        at = _skip(text, found.end())
    return at


class _Reader:
    """Recursive descent over one complete written value."""

    def __init__(self, text: str, quote: str = "") -> None:
        self.text = text
        self.quote = quote
        """A dialect's own string delimiter, such as Gemma's `<|"|>`."""

    def value(self, at: int, nesting: Nesting, depth: int = 0) -> tuple[Any, int]:
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        at = _skip(self.text, at)
        first = self.text[at : at + 1]
        if self.quote and self.text.startswith(self.quote, at):
            return self.delimited(at)
        if first == "{":
            return self.object(at + 1, depth)
        if first in ("[", "("):
            return self.array(at + 1, "]" if first == "[" else ")", depth)
        if first in CLOSERS and first:
            return self.string(at, nesting)
        return self.word(at, nesting)

    def delimited(self, at: int) -> tuple[str, int]:
        end = self.text.find(self.quote, at + len(self.quote))
        if end < 0:
            raise ValueError("string without end")
        return encodable(self.text[at + len(self.quote) : end]), end + len(self.quote)

    def object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        doubled = self.text.startswith("{", at)
        at += doubled
        while True:
            at = skip_remarks(self.text, at)
            if self.text[at : at + 1] == "}":
                return found, at + 1 + (doubled and self.text.startswith("}", at + 1))
            if self.text[at : at + 1] in COMMAS:
                at += 1
                continue
            key, at = self.key(at)
            value, at = self.value(at, "{", depth + 1)
            found.setdefault(key, value)
            at = self.after_item(at, "}")

    def key(self, at: int) -> tuple[str, int]:
        if self.quote and self.text.startswith(self.quote, at):
            key, at = self.delimited(at)
        elif self.text[at : at + 1] in CLOSERS and at < len(self.text):
            key, at = self.string(at, "{", key=True)
        else:
            found = BARE_KEY.match(self.text, at)
            if not found:
                raise ValueError("key expected")
            key, at = encodable(found[0].strip()), found.end()
        at = _skip(self.text, at)
        if self.text[at : at + 1] not in COLONS:
            raise ValueError("colon expected")
        return key, at + 1

    def array(self, at: int, closer: str, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            at = skip_remarks(self.text, at)
            if self.text[at : at + 1] == closer:
                return found, at + 1
            if self.text[at : at + 1] == ",":
                at += 1
                continue
            value, at = self.value(at, "[" if closer == "]" else "(", depth + 1)
            found.append(value)
            at = self.after_item(at, closer)

    def after_item(self, at: int, closer: str) -> int:
        at = skip_remarks(self.text, at)
        following = self.text[at : at + 1]
        if following in COMMAS:
            return at + 1
        if following == closer or (following and following in CLOSERS) or following in ("{", "["):
            return at
        raise ValueError("comma or end expected")

    def string(self, at: int, nesting: Nesting, *, key: bool = False) -> tuple[str, int]:
        opener = self.text[at]
        if opener in "\"'" and self.text.startswith(opener * 3, at) and not key:
            end = self.text.find(opener * 3, at + 3)
            if end >= 0:
                return unescape(self.text[at + 3 : end]), end + 3
        end = at + 1
        while True:
            end = self.next_quote(end, CLOSERS[opener])
            if closes(self.text, end + 1, nesting, key=key) is not False:
                return unescape(self.text[at + 1 : end]), end + 1
            end += 1

    def next_quote(self, at: int, closers: str) -> int:
        while at < len(self.text):
            if self.text[at] == "\\":
                at += 1
            elif self.text[at] in closers:
                return at
            at += 1
        raise ValueError("string without end")

    def word(self, at: int, nesting: Nesting) -> tuple[Any, int]:
        found = _BARE.match(self.text, at)
        bare = without_layout(found[0].strip()) if found else ""
        prefix = _STRING_PREFIX.match(bare)
        if prefix:
            return self.string(at + len(prefix[0]), nesting)
        if not bare:
            raise ValueError("value expected")
        end = at + len(bare)
        if bare in _WORDS:
            return _WORDS[bare], end
        if _NUMBER.match(bare):
            return _to_number(bare), end
        if any(mark in bare for mark in "\"'{[(:`"):
            raise ValueError("not a value")
        return encodable(bare), end


def without_layout(word: str) -> str:
    """Return a word without the escaped line breaks after it, which stand between two tokens."""
    end = len(word)
    while word[end - 2 : end] in WRITTEN_BREAKS:
        end -= 2
        while word[end - 1 : end].isspace():
            end -= 1
    return word[:end]


def _to_number(written: str) -> int | float | str:
    plain = written.replace("_", "").lstrip("+")
    if len(plain) > 400:
        return written
    try:
        if "x" in plain.lower():
            return int(plain, 16)
        if any(mark in plain for mark in ".eE"):
            value = float(plain)
            return value if math.isfinite(value) else written
        return int(plain)
    except ValueError:
        return written


def read_value(text: str, at: int, nesting: Nesting, quote: str = "") -> tuple[Any, int]:
    """Read one written value inside `nesting` and return it with the position after it.

    Raises:
        ValueError: It is none, or it has no end.
    """
    try:
        return _Reader(text, quote).value(at, nesting)
    except (RecursionError, IndexError) as error:
        raise ValueError("not a value") from error


def parse_literal(text: str, quote: str = "") -> Any:
    """Read a text that is one written value and nothing else.

    Raises:
        ValueError: It is not.
    """
    strict = decode_json(text.strip()) if not quote else None
    if strict and not text.strip()[strict[1] :].strip():
        return strict[0]
    value, end = read_value(text, 0, "{", quote)
    if skip_remarks(text, end) < len(text):
        raise ValueError("text after the value")
    return value
