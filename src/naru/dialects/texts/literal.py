"""One tolerant reader for written values: JSON first, then JSON as models misspell it, Python and Gemma literals.

Repairs spelling (quotes, commas, literals, escapes, control characters, unquoted keys); never adds a missing end.
"""

from __future__ import annotations

import json
import math
import re

from naru.dialects.texts.closing import COLONS, COMMAS, NO_MEMBER, Nesting, closes
from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

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
_TWO_TEXTS = lazy_pattern(r"([\"'])\s*\1")
_STRING_PREFIX = lazy_pattern(r"[rbfuRBFU]{1,2}(?=[\"'])")
_BARE = lazy_pattern(r"[-+.\w]+(?=，\s*[\"'])|(?:(?!\s(?:/[/*]|#\s))[^,\]\})\n])*")
BARE_KEY = lazy_pattern(r"[^\s:：={}\[\],，\"'][^:：={}\[\],，\"'\n]*")


class StrayText(str):
    """A text with quotes that end none: it may hold what was meant for others."""

    __slots__ = ("strays",)

    strays: int
    """How many they are."""

    @classmethod
    def of(cls, text: str, strays: int) -> str:
        """Return the text, as one of these if it has such quotes."""
        if not strays:
            return text
        strayed = cls(text)
        strayed.strays = strays
        return strayed


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

    def __init__(self, text: str, quote: str = "", keys: Collection[str] = ()) -> None:
        self.text = text
        self.keys = keys
        """Names of the arguments of the call whose argument the value is, where any is known."""
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
        at = _skip(self.text, at + 1)
        return key, at + (self.text[at : at + 1] in COLONS)

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
            if isinstance(value, StrayText) and _TWO_TEXTS.search(value):
                raise ValueError("comma expected")
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
        start = at + 1
        inside = strays = 0
        keys: Collection[str] = ()
        while True:
            end = self.next_quote(start, CLOSERS[opener])
            inside = max(0, inside - self.text.count("}", start, end))
            if closes(self.text, end + 1, nesting, key=key, keys=NO_MEMBER if inside else keys) is not False:
                return StrayText.of(unescape(self.text[at + 1 : end]), 0 if key else strays + inside), end + 1
            inside += self.text[start:end].rstrip()[-1:] == "{"
            strays += not inside  # an object in the text has quotes of its own
            start = end + 1
            keys = self.keys if nesting == "(" else ()

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


def read_value(text: str, at: int, nesting: Nesting, quote: str = "", keys: Collection[str] = ()) -> tuple[Any, int]:
    """Read one written value inside `nesting` and return it with the position after it; `keys` as in `closes`.

    Raises:
        ValueError: It is none, or it has no end.
    """
    try:
        return _Reader(text, quote, keys).value(at, nesting)
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
