"""Judges whether a call was made or only shown, by what stands around it: the one rule that every form asks.

A model that reports what it read, explains a dialect or warns of an injection writes calls that must not run. First
structure tells, which needs no language: quotation marks and brackets of any script, comments, quoted lines, the
middle of a sentence, a question, a text before and after a form with which models end their turns, and what the
tools have returned. Each fact has a weight; a call whose facts add up to `LIMIT` was shown. What the words mean is
asked where nothing else can tell (`wording.py`, docs/decisions/0162). The weights were chosen by `bench/dialects.py
--only shown`.
"""

from __future__ import annotations

import importlib
import unicodedata

from naru.dialects.judging.wording import speaks_of_doing, speaks_of_showing
from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from naru.dialects.events import ParsedCall

LOOK_AHEAD = 200
"""How many characters after a call are looked at."""
DOUBTFUL = 0.5
"""From this doubt on a call is not announced before it is judged."""
LIMIT = 1.0
"""The doubt that makes a call a shown one."""

WEIGHTS = {
    "read in a tool's result": 1.0,
    "opened quotation": 1.0,
    "quoted line": 1.0,
    "inside of a comment or quotation": 1.0,
    "question before": 1.0,
    "pointed at": 1.0,
    "comment closed": 1.0,
    "sentence begun": 0.4,
    "list item": 0.4,
    "line open": 1.0,
    "marker named before": 1.0,
    "introduced": 0.35,
    "set apart by a blank": 0.65,
    "heading": 0.35,
    "sentence goes on": 0.6,
    "line goes on": 0.65,
    "sentence opened": 0.4,
    "text around": 1.0,
    "text after": 1.0,
    "question after": 0.35,
    "another was shown": 0.5,
    "placeholder": 0.5,
    "spoken of": 1.0,
}
"""What each fact speaks against a call's having been made."""

_CODE = frozenset({"pythonic", "list", "fenced"})
"""Forms of models that are asked for code: they explain what they wrote. With all others a turn ends."""
_UNMARKED = frozenset({"json", "list", "pythonic", "fenced", "name-json", "phi4-mini", "hyperclovax"})
_PYTHON = frozenset({"pythonic", "list"})
_QUOTES = "\"'`´‘’‚“”„«»‹›"
_SENTENCE_ENDS = ".!?…。！？।؟"
_QUESTIONS = "?？؟"
_COLONS = ":："
_GOES_ON = ",;.，、。:"
_FEW_WORDS = 2
_FEW_LETTERS = 6
"""Letters: what is longer is more than a word, in scripts that set none apart."""
_PUNCTUATION = lazy_pattern(r"[.!?…:。！？：।؟]\s*\Z|[:：]\s|^\s*(?:#|[-*+•]\s|\d{1,2}[.)]\s)")
"""What makes a sentence, a label, a heading or an item of a word or two."""
_PREFIX = lazy_pattern(r"\s*(?:(>|\||#{1,6}\s)|([-*+•]|\d{1,2}[.)])\s)")
_HEADING = lazy_pattern(r"(?:\A|\n)#{1,6} [^\n]*\Z")
_CONTAINERS = lazy_pattern(r"(?i)<(!--|/?(?:pre|code|blockquote|q|cite|samp|example|quote|sample)\b|/)|-->")
_HUMP = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_WORD = lazy_pattern(r"[^\W_]{4,}|\d+")
_MARKS = lazy_pattern(r"<[^<>\n]{1,60}>")
_NO_WORDS = lazy_pattern(r"<[|/｜]|\n\s*[{\[<`]")
_ESCAPES = lazy_pattern(r"\\u([0-9a-fA-F]{4})|\\[nrt]|\\")
_PLACEHOLDER = lazy_pattern(r"\.{3}|…|<[^<>]{1,40}>|\{[^{}]{1,40}\}|\[[^\[\]]{1,40}\]")


class Before:
    """What stands before a call, as facts."""

    __slots__ = ("doubt", "facts", "introduces", "same_line", "some", "text")

    def __init__(self, text: str) -> None:
        line = text[text.rfind("\n") + 1 :]
        self.text = text
        self.some = _has_words(text)
        self.same_line = bool(line.strip())
        """Whether text of the call's own line stands before it."""
        self.introduces = text.rstrip().endswith((":", "："))
        self.facts = tuple(_facts_before(text, line))
        self.doubt = sum(WEIGHTS[fact] for fact in self.facts)

    @property
    def is_doubtful(self) -> bool:
        """Whether a call should not be announced before it is judged."""
        return self.doubt >= DOUBTFUL or (self.some and speaks_of_showing(self.text, is_over=True))


def _facts_before(text: str, line: str) -> Iterator[str]:
    bare = text.rstrip()
    last = bare[-1:]
    if not last:
        return
    if _opens_quotation(line):
        yield "opened quotation"
    prefix = _PREFIX.match(line)
    if prefix is not None and prefix[1]:
        yield "quoted line"
    elif prefix is not None and line[prefix.end() :].strip():
        yield "list item"
    if _is_contained(text):
        yield "inside of a comment or quotation"
    if _HEADING.search(bare):
        yield "heading"
    elif last in _COLONS:
        yield "introduced"
    elif last not in _SENTENCE_ENDS:
        if line.strip():
            yield "sentence begun"
        elif last.isalnum() and _is_open(bare[bare.rfind("\n") + 1 :]):
            yield "line open"
    elif last in _QUESTIONS and not line and bare[-2:-1].isalnum():
        yield "question before"


def _opens_quotation(line: str) -> bool:
    """Tell whether a line's beginning ends in a mark that opens a quotation or a parenthesis."""
    bare = line.rstrip()
    last = bare[-1:]
    if not last or len(line) - len(bare) > 1:
        return False
    if last in _QUOTES and (len(bare) == 1 or not bare[-2].isalnum()):
        return True
    return unicodedata.category(last) in ("Ps", "Pi")


def _is_contained(text: str) -> bool:
    """Tell whether a comment or an element that quotes is open at the end of the text."""
    depth = 0
    for found in _CONTAINERS.finditer(text):
        written = found[0]
        if written == "-->" or written.startswith("</"):
            depth -= len(written) > 2 and depth > 0
        else:
            depth += 1
    return depth > 0


def _is_open(line: str) -> bool:
    """Tell whether a line without an end of a sentence is no item of a list, and more than a word or two."""
    return _is_long(line) and _PREFIX.match(line) is None


def _is_long(text: str) -> bool:
    """Tell whether a text is more than a word or two, in a script with blanks or without."""
    return len(text.split()) > _FEW_WORDS or (not text.isascii() and len(text) > _FEW_LETTERS)


def _says_something(text: str) -> bool:
    """Tell whether a text is more than a stray word."""
    return _is_long(text) or (_PUNCTUATION.search(text) is not None and any(map(str.isalnum, text)))


def _facts_after(before: Before, gap: str, text: str, calls: Sequence[ParsedCall]) -> Iterator[str]:
    """Yield what the text after calls, of which there is some, tells."""
    if text.startswith("-->"):
        yield "comment closed"
    if text[0] in "^↑⬆☝":
        yield "pointed at"
    if _sentence_goes_on(before, gap, text):
        yield "sentence goes on"
        if not before.some and gap and not _is_about(calls, text):
            yield "sentence opened"
    if not _says_something(_MARKS.sub("", text)):
        return
    dialect = calls[0].dialect
    if before.same_line and before.some:
        if dialect not in _PYTHON:
            yield "line goes on"
    elif before.some:
        is_code = dialect in _CODE and _is_about(calls, f"{before.text} {text}")
        if not is_code and not speaks_of_doing(before.text):
            yield "text around"
    elif "\n" in gap and dialect not in _PYTHON and not _is_about(calls, text) and not speaks_of_doing(text):
        yield "text after"
    if text.rstrip()[-1] in _QUESTIONS:
        yield "question after"


def _is_about(calls: Sequence[ParsedCall], text: str) -> bool:
    """Tell whether a text speaks of what calls are about: has a word of a tool's name, or of a value."""
    said = set(_words(text))
    return any(not said.isdisjoint(_words(f"{call.name} {_values(call.arguments)}")) for call in calls)


def _values(value: object) -> str:
    """Return the values inside of a value as one text."""
    if isinstance(value, dict | list):
        return " ".join(map(_values, value.values() if isinstance(value, dict) else value))
    return "" if isinstance(value, bool) or value is None else str(value)


def _words(text: str) -> list[str]:
    """Return the words of four letters and more, and the numbers."""
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]


def _has_words(text: str) -> bool:
    """Tell whether a text is more than tags and punctuation."""
    return any(map(str.isalnum, _MARKS.sub("", text)))


def _sentence_goes_on(before: Before, gap: str, text: str) -> bool:
    first = text[0]
    letter = unicodedata.category(first)
    if not gap and (first in _QUOTES or (letter in ("Pe", "Pf") and first not in "}]")):
        return True
    if "\n" in gap:
        return first.islower()
    if first in _GOES_ON:
        return True
    return (first.islower() or letter == "Lo") and _says_something(text.split("\n", 1)[0])


def facts(before: Before, opener: str, gap: str, after: str, calls: Sequence[ParsedCall]) -> list[str]:
    """Return what speaks against calls' having been made.

    Args:
        before: what stands before the first of them.
        opener: the marker that announced it; empty where none did.
        gap: the white space after the last of them.
        after: the text after that, as much of it as is looked at; empty where nothing comes.
        calls: the calls.
    """
    found = list(before.facts)
    if opener and before.some and _is_named(opener, before.text):
        found.append("marker named before")
    stop = _NO_WORDS.search(after)
    text = after[: stop.start()] if stop is not None else after
    if text:
        found += _facts_after(before, gap, text, calls)
    elif (
        before.some
        and (dialect := calls[0].dialect) not in _PYTHON
        and speaks_of_showing(before.text, is_over=dialect not in _UNMARKED)
    ):
        found.append("spoken of")
    if before.introduces and before.same_line and before.text[-1] == " " and calls[0].dialect not in _UNMARKED:
        found.append("set apart by a blank")
    if before.some and any(_is_placeholder(call) for call in calls):
        found.append("placeholder")
    return found


def _is_named(marker: str, text: str) -> bool:
    """Tell whether a marker stands in the middle of a line of words, where it announced nothing."""
    at = text.find(marker)
    return at > 0 and text[at - 1] == " " and text[:at].rstrip(" ")[-1:].isalnum()


def _is_placeholder(call: ParsedCall) -> bool:
    """Tell whether a value of a call stands for one: three dots, its own name, something in brackets."""
    return any(value == key or _PLACEHOLDER.fullmatch(value) is not None for key, value in _texts(call.arguments))


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text inside of a value with the key that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)


class Seen:
    """What tools have returned; made comparable when it is first asked."""

    __slots__ = ("_solid", "_texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._solid: list[str] | None = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    def has(self, unit: str) -> bool:
        """Tell whether calls stand there word for word, however they are laid out and escaped."""
        if self._solid is None:
            self._solid = [_solid(text) for text in self._texts]
        solid = _solid(unit)
        return any(solid in text for text in self._solid)


def _solid(text: str) -> str:
    """Return a text without white space and escapes of JSON and HTML."""
    if "\\" in text:
        text = _ESCAPES.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text)
    if "&" in text:
        text = importlib.import_module("html").unescape(text)  # few texts need it, and every start would pay for it
    return "".join(text.split())


def doubt_of(found: Sequence[str]) -> float:
    """Return how much facts speak against a call."""
    return sum(WEIGHTS[fact] for fact in found)


NOTHING_BEFORE = Before("")
NOTHING_SEEN = Seen(())
