"""Judges whether a call was made or only shown, by what stands around it: the one rule that every form asks.

A model that reports what it read, explains a dialect or warns of an injection writes calls that must not run. What
stands around them tells, in this order: structure (quotation marks of any script, comments, quoted lines, the middle
of a sentence, an explanation that follows), which needs no language; then wording, which only adds to it. Each sign
has a weight, what is said of a call that was made takes some away, and the sum is compared with one limit per kind of
form (docs/decisions/0011). The weights were chosen by `bench/dialects.py --only shown`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from naru.dialects.catalog.talk import MADE, TALK
from naru.dialects.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from naru.dialects.events import ParsedCall

LOOK_AHEAD = 200
"""How many characters after a call are looked at."""
DOUBTFUL = 0.5
"""From this doubt on a call is not announced before it is judged."""
_LIMITS = {"marked": 1.0, "unmarked": 0.75, "python": 1.05}
"""How much doubt makes a call a shown one; people rarely show lists of Python calls, and models explain theirs."""
_PYTHON = frozenset({"pythonic", "list"})
_STEPS = frozenset({"react", "cline-xml"})
"""Unmarked forms with which a turn ends, as it does with marked ones: the client answers each."""
_UNMARKED = frozenset({
    "json", "fenced", "name-json", "inline-code", "phi4-mini", "hyperclovax", "cline-xml", "react",
})  # fmt: skip

_QUOTES = "\"'`´‘’‚“”„«»‹›"
_SENTENCE_ENDS = ".!?…。！？।؟"
_ENDS_OF_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_PARAGRAPHS = lazy_pattern(r"\n\s*\n")
_SHORT = 20
_ROLES = (
    r"(?:user|human|assistant|ai|bot|system|tool|model|agent|q|question"
    r"|사용자|어시스턴트|도구|질문|ユーザー|アシスタント|質問|用户|助手|问题|问|Frage|Nutzer)"
)
_ANSWERS = r"(?:a|answer|답변?|回答|答|Antwort|Respuesta|Réponse)"
_ROLE_BEFORE = lazy_pattern(rf"(?:\A|\n)[ \t>*]*{_ROLES}[*]*[:：][*]*\Z", re.IGNORECASE)
_ROLE_AFTER = lazy_pattern(rf"[ \t>*]*(?:{_ROLES}|{_ANSWERS})[*]*[:：]", re.IGNORECASE)
_HEADING = lazy_pattern(r"(?:\A|\n)#{1,6} [^\n]*\Z")
_POINTS = lazy_pattern(
    r"\bfollowing\b|\bbelow\b|다음(?:은|과|의|에)|아래|次の|以下|如下|下面|下列|\bfolgend|\bsiguiente|\bsuivant|\bci-dessous|следующ",
    re.IGNORECASE,
)
"""Words that point to what comes next: a sentence with one goes over into the call though it is over."""
_NAMES_CALLS = lazy_pattern(
    r"\bfunctions? (?:calls?|with the following)\b[^.?!\n]{0,120}\Z|\bcan use the [^?!\n]{0,80} function:\Z"
)
_POINTS_BACK = lazy_pattern(
    r"(?:this|that|these|those|above|the (?:\w+ )?(?:above|block|snippet|text)|as you (?:can )?see"
    r"|위|이것|이건|그것|これ|それ|上|这|那"
    r"|以上|das|dies|der \w+ oben|so sieht|ceci|cela|c'est|esto|eso|lo anterior)",
    re.IGNORECASE,
)
"""Words that point back to what a sentence is about."""
_NO_WORDS = lazy_pattern(r"<[|/｜]|\n\s*[{\[<`]")
_PREFIX = lazy_pattern(r"\s*(?:(>|\||#{1,6}\s)|([-*+•]|\d{1,2}[.)])\s)")
_CONTAINERS = lazy_pattern(r"<(!--|/?(?:pre|code|blockquote|q|cite|samp|example|quote|sample)\b|/)|-->", re.IGNORECASE)

_BEFORE = {
    "example": 1.0, "form": 0.9, "refused": 0.4, "not run": 0.6, "negated": 0.5, "told": 0.45, "past": 0.8,
    "taught": 0.9, "call": 0.1, "machinery": 0.3,
}  # fmt: skip
_AFTER = {
    "example": 0.6, "form": 0.7, "refused": 0.5, "not run": 1.3, "negated": 0.0, "told": 0.2, "past": 0.2,
    "taught": 0.2, "call": 0.2, "machinery": 0.3,
}  # fmt: skip
_FIRST = 0.3
"""What it takes away from the doubt that a reply begins with its call."""
_BETWEEN = 0.75
"""The doubt of a call that stands as a block between texts, in a form with which models end their turns."""
_EXPLAINED = 0.7
"""How much the text after a code fence or Python counts: models that write such calls explain them often."""
_MADE_WEIGHT = 0.6
_STRUCTURE = 1.0
_PLAIN = str.maketrans("’：", "':")
_LETTER = lazy_pattern(r"(?<!\\)[a-z]")
_UPPER = lazy_pattern(r"\\.|[A-Z]")


class _Words:
    """Alternatives to look for in lower-case text; those of other scripts only where there are any."""

    __slots__ = ("_latin", "_other")

    def __init__(self, words: str) -> None:
        plain = _UPPER.sub(lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), words)
        parts = _alternatives(plain)
        latin = [part for part in parts if _LETTER.search(part)]
        self._latin = re.compile("|".join(latin))
        self._other = re.compile("|".join(part for part in parts if part not in latin) or "(?!)")

    def count(self, text: str, most: int) -> int:
        """Return how many different ones are found, counting to `most`."""
        patterns = (self._latin,) if text.isascii() else (self._latin, self._other)
        if most == 1:
            return int(any(pattern.search(text) for pattern in patterns))
        return min(most, len({found[0] for pattern in patterns for found in pattern.finditer(text)}))


def _alternatives(words: str) -> list[str]:
    """Split a pattern at the bars that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(words):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "|" and not depth:
            parts.append(words[start:at])
            start = at + 1
    return [*parts, words[start:]]


@lru_cache(maxsize=1)
def _concepts() -> tuple[dict[str, _Words], _Words]:
    return {name: _Words(words) for name, words in TALK.items()}, _Words(MADE)


class Before:
    """What stands before a call: how much it speaks against it, and how it goes over into it."""

    __slots__ = ("doubt", "introduces", "names_calls", "opens", "paragraph_doubt", "runs_on", "same_line", "some")

    def __init__(self, text: str) -> None:
        line = text[text.rfind("\n") + 1 :]
        bare = text.rstrip()
        self.some = bool(bare)
        last = bare[-1:]
        self.opens = _opening(line)
        """The mark that opens a quotation or a parenthesis right before the call."""
        self.same_line = bool(line.strip())
        """Whether text of the call's own line stands before it."""
        self.names_calls = _NAMES_CALLS.search(bare[-200:]) is not None
        """Whether it speaks of "the function call", as models do that are prompted for code."""
        self.introduces = last in (":", "：")
        self.runs_on = bool(line.strip()) and last not in _SENTENCE_ENDS and not self.introduces
        """Whether the call stands in the middle of a sentence."""
        paragraphs = [part for part in _PARAGRAPHS.split(text[-600:]) if part.strip()]
        paragraph = paragraphs[-1][-240:] if paragraphs else ""
        sentences = [part for part in _ENDS_OF_SENTENCES.split(paragraph) if part.strip()]
        sentence = sentences[-1] if sentences else ""
        if len(sentence) < _SHORT:
            sentence = " ".join(sentences[-2:])
        structure = _structure(text, line)
        if self.runs_on:
            structure += 0.4
        goes_over = last not in ("", *_SENTENCE_ENDS) and len(sentence.split()) > 2 and len(text) - len(bare) == 1
        if goes_over and not self.introduces and not line:
            structure += 0.2
        heading = _HEADING.search(bare) is not None
        if heading:
            structure += 0.4
        if last in ("?", "？", "؟") and not line and bare[-2:-1].isalnum():
            structure += 1.0
        if _ROLE_BEFORE.search(bare):
            structure += 0.7
        whole = self.introduces or self.runs_on or goes_over or heading or bool(self.opens)
        points = _POINTS.search(sentence) is not None
        structure += 0.1 if points or self.introduces else 0.0
        whole = whole or points
        said = _wording(sentence, _BEFORE, whole=whole)
        self.doubt = structure + said
        if paragraph != sentence:
            said = max(said, _wording(paragraph, _BEFORE, whole=whole))
        self.paragraph_doubt = structure + said


def _opening(line: str) -> str:
    """Return the mark at the end of a line's beginning that opens a quotation or a parenthesis."""
    bare = line.rstrip()
    last = bare[-1:]
    if not last or len(line) - len(bare) > 1:
        return ""
    if last in _QUOTES and (len(bare) == 1 or not bare[-2].isalnum()):
        return last
    return last if unicodedata.category(last) in ("Ps", "Pi") else ""


def _structure(text: str, line: str) -> float:
    doubt = _STRUCTURE if _opening(line) else 0.0
    prefix = _PREFIX.match(line)
    if prefix is not None:
        doubt += _STRUCTURE if prefix[1] else 0.4
    open_containers = 0
    for found in _CONTAINERS.finditer(text):
        written = found[0].lower()
        if written == "-->" or written.startswith("</"):
            open_containers = max(0, open_containers - 1) if len(written) > 2 else open_containers
        else:
            open_containers += 1
    return doubt + (_STRUCTURE if open_containers else 0.0)


def _wording(text: str, weights: dict[str, float], *, whole: bool = True) -> float:
    """Weigh words; those of a sentence that is over and does not go over into the call count for less."""
    if not text.strip():
        return 0.0
    concepts, made = _concepts()
    text = text.lower().translate(_PLAIN)
    doubt = 0.0
    for name, pattern in concepts.items():
        if weights[name]:
            doubt += weights[name] * pattern.count(text, 2 if name == "machinery" else 1)
    if not whole:
        doubt *= 0.6
    if made.count(text, 1) and text.rstrip()[-1] not in "?？":
        doubt = doubt - _MADE_WEIGHT if whole else min(doubt, 0.3) - _MADE_WEIGHT
    return max(doubt, -_MADE_WEIGHT)


def _after(before: Before, gap: str, text: str, *, ends_turns: bool) -> float:
    """Return how much the text after a call speaks against it."""
    stop = _NO_WORDS.search(text)
    if stop is not None:
        text = text[: stop.start()]
    if not text:
        return 0.0
    doubt = _place(before, gap, text)
    if _ROLE_AFTER.match(text):
        doubt += 0.6
    if text.startswith("-->"):
        doubt += _STRUCTURE
    if text[0] in "^↑⬆☝":
        doubt += _STRUCTURE + _FIRST
    if _POINTS_BACK.match(text):
        doubt += 0.4
    if not before.some and "\n" in gap:
        doubt -= _FIRST
    elif "\n" in gap and not before.same_line:
        doubt += _BETWEEN if ends_turns else 0.1
    if before.introduces and ends_turns:
        doubt += 0.2
    return doubt + _wording(text, _AFTER)


def _place(before: Before, gap: str, text: str) -> float:
    """Weigh how the text after a call joins it: as the rest of a quotation or of a sentence, or as a new one."""
    first = text[0]
    if not gap:
        if first in _QUOTES or (unicodedata.category(first) in ("Pe", "Pf") and first not in "}]"):
            return 0.5
        if first in ",;.，、。:" or unicodedata.category(first) == "Lo":
            return 0.7 if before.same_line else 0.4
    if "\n" not in gap:
        rest = text.split("\n", 1)[0]
        goes_on = first in ",;.，、。:" or first.islower() or unicodedata.category(first) == "Lo"
        return (0.6 if len(rest.split()) > 1 or len(rest) > 7 else 0.3) if goes_on else 0.1
    return 0.4 if first.islower() else 0.0


def is_shown(before: Before, gap: str, after: str, calls: Sequence[ParsedCall]) -> bool:
    """Tell whether calls were only shown.

    Args:
        before: what stands before the first of them.
        gap: the white space after the last of them.
        after: the text after that, as much of it as is looked at; empty where nothing comes.
        calls: the calls.
    """
    return score(before, gap, after, calls) >= limit(calls)


def limit(calls: Sequence[ParsedCall]) -> float:
    """Return the doubt from which calls of this kind of form count as shown."""
    return _LIMITS[_kind(calls)]


def score(before: Before, gap: str, after: str, calls: Sequence[ParsedCall]) -> float:
    """Return the doubt that calls were made."""
    doubt = before.doubt if _kind(calls) == "marked" else before.paragraph_doubt
    dialect = calls[0].dialect
    if before.introduces and before.same_line and _kind(calls) == "marked":
        doubt += 0.6
    code = dialect == "fenced" or dialect in _PYTHON
    explained = _EXPLAINED if code else 1.0
    if code and before.names_calls:
        doubt -= _MADE_WEIGHT
    return doubt + explained * _after(before, gap, after, ends_turns=_kind(calls) == "marked" or dialect in _STEPS)


def _kind(calls: Sequence[ParsedCall]) -> str:
    dialect = calls[0].dialect
    return "python" if dialect in _PYTHON else "unmarked" if dialect in _UNMARKED else "marked"


NOTHING_BEFORE = Before("")
