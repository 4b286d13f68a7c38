"""Texts compared by form alone: the ids, numbers, names and values that stand in one, in any script."""

from __future__ import annotations

import json
import re
import unicodedata
from contextlib import suppress
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from naru.tools.lines import decoded

_LATIN = r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_LETTERS = rf"[{_LATIN}]+|[^\W\d_{_LATIN}]+"  # Of one script: Latin ones end where others begin.
TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|{_LETTERS}|[^\w\s]")
_SPAN = re.compile(r"[A-Za-z0-9]+(?:[-_./:#@][A-Za-z0-9]+)*", re.ASCII)
_NUMBER = re.compile(r"\d+(?:[., ]\d{3})*(?:[.,]\d+)?")
FIGURE = re.compile(rf"{_NUMBER.pattern}(?![\w\-/:#@])|{_SPAN.pattern}", re.ASCII)
"""The same, each number as a whole: `1.250,50` is one; in a list of ids it would be two."""
_WORD = re.compile(rf"{_LETTERS}|[^\w\s]")
TELLING_NUMBER = 3  # Digits from which a bare number may be an id.
_LONGEST_RUN = 6  # Tokens that may make up one id: `KR-2026/11-B`.


def folded(text: str) -> str:
    """Return a text as it is compared: one form for full-width letters, digits of all scripts and upper case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(str(unicodedata.digit(one, one)) if one.isdigit() else one for one in plain)


def bare(text: str) -> str:
    """Return only letters and digits, folded."""
    return "".join(one for one in folded(text) if one.isalnum())


def digits(text: str) -> str:
    """Return only the digits, of whatever script."""
    return "".join(one for one in folded(text) if one.isdigit())


def spans(text: str, form: re.Pattern[str] = _SPAN) -> list[str]:
    """Return what could be an id or a number: runs of Latin letters and digits that hold a digit, as written."""
    found = (one.strip(".:/") for one in form.findall(unicodedata.normalize("NFKC", text)))
    return [one for one in dict.fromkeys(found) if any(letter.isdigit() for letter in one)]


def words(text: str) -> dict[str, bool]:
    """Return the words of a text, and whether they could be names: capitals inside, Latin in a script without them."""
    plain = unicodedata.normalize("NFKC", text)
    for span in spans(text):
        plain = plain.replace(span, ",")
    is_caseless = any(one.isalpha() and one.upper() == one.lower() for one in plain)
    every = list(pairwise([".", *_WORD.findall(plain)]))
    inside = [one if before not in ".!?\u00bf\u00a1" else one.lower() for before, one in every]
    named = [len(one) > 1 and (one[0].isupper() or (is_caseless and one.isascii())) for one in inside]
    found: dict[str, bool] = {}
    for is_named, run in groupby(zip(every, named, strict=True), key=itemgetter(1)):
        run_of = [one for (_, one), _ in run]
        found |= {" ".join(run_of): True} if is_named else {one: False for one in run_of if one.isalpha()}
    return found


def found_in(text: str, pattern: str) -> re.Match[str] | None:
    """Find a pattern that no Latin letter or digit continues; scripts without spaces have no such borders."""
    return re.search(rf"(?<![{_LATIN}\d])(?:{pattern})(?![{_LATIN}\d])", text, re.IGNORECASE)


def numbers(text: str) -> set[float]:
    """Return the numbers in a text, whichever way thousands and decimals are written."""
    found: set[float] = set()
    for written in _NUMBER.findall(folded(text)):
        plain = written.replace(" ", "")
        # `1.250` is a thousand and more, or a little over one.
        for reading in (plain.replace(",", ""), plain.replace(".", "").replace(",", "."), plain.replace(",", ".")):
            with suppress(ValueError):
                found.add(float(reading))
    return found


class Text:
    """One source, read once; JSON without its escapes and with spaces, or `[31,44]` would be one number."""

    def __init__(self, text: str) -> None:
        value = decoded(text) if text[:1] in "{[" else None
        self.text = text = text if value is None else json.dumps(value, ensure_ascii=False).replace("\\n", "\n")
        self.spans = spans(text)
        self.words = words(text)
        self.names = [word for word, is_name in self.words.items() if is_name]
        self.numbers = numbers(text)
        self._folded = folded(text)
        tokens = [token for one in TOKEN.findall(self._folded) if (token := bare(one))]
        self._runs = {
            "".join(tokens[start:end]).lstrip("0")
            for start in range(len(tokens))
            for end in range(start + 1, min(len(tokens), start + _LONGEST_RUN) + 1)
        }

    def holds(self, value: Any) -> bool:
        """Tell whether a value stands here, however it is spaced, hyphened and capitalised."""
        if isinstance(value, bool) or value is None:
            return False
        if isinstance(value, int | float):
            return value in self.numbers  # Not as a float: a model may write more digits than one holds.
        wanted = bare(str(value))
        if wanted and wanted.lstrip("0") in self._runs:
            return True
        # Scripts without spaces, and particles that stick to a word: letters on both sides are no border.
        return not wanted.isascii() and wanted in bare(self._folded)
