"""What is known in a run: the question and the results so far, and the values that stand in them (UPLIFT: ground)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ID = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*[A-Za-z])")
_PATH = re.compile(
    r"(?:[A-Za-z]:)?(?:\.{0,2}[/\\])?(?:[\w가-힣.-]+[/\\])*[\w가-힣-]+\.[A-Za-z]\w{0,7}|/(?:[\w가-힣.-]+/?)+"
)
_QUOTED = re.compile(r"[\"“”'‘’「『`]([^\"“”'‘’」』`\n]{1,200})[\"“”'‘’」』`]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_TOKEN = re.compile(r"[A-Za-z0-9@._/-]*\d[A-Za-z0-9@._/-]*")


def _flat(text: str) -> str:
    return re.sub(r"[\s,]+", " ", text).casefold()


class Sources:
    """Texts that a value may stand in: the person's own words first, then what tools gave."""

    def __init__(self, question: str, results: Iterable[str] = ()) -> None:
        self.question = question
        self._results: list[str] = list(results)

    def add(self, result: str) -> None:
        """Take in what a tool gave."""
        self._results.append(result)

    @property
    def text(self) -> str:
        """All of it, as one text."""
        return "\n".join([self.question, *self._results])

    def ids(self, *, results_too: bool = True) -> list[str]:
        """Return words of letters and digits such as an order number, in order, each once."""
        return _unique(_ID.findall(self.text if results_too else self.question))

    def numbers(self) -> list[str]:
        """Return the numbers that stand alone in the question."""
        korean_units = re.sub(r"(\d)(?=[가-힣])", r"\1 ", self.question)
        return _unique(_NUMBER.findall(korean_units))

    def paths(self) -> list[str]:
        """Return what looks like a path or file name in the question, then in the results."""
        return _unique(match.strip("'\"`.,") for match in _PATH.findall(self.text))

    def quoted(self) -> list[str]:
        """Return what the question has in quotes."""
        return _unique(_QUOTED.findall(self.question))

    def holds(self, value: object) -> bool:
        """Tell whether a value stands in the question or in a result, spacing and case aside."""
        text = str(value).strip()
        if isinstance(value, int | float) or text.isdigit():
            return re.search(rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)", self.text.replace(",", "")) is not None
        return bool(text) and _flat(text) in _flat(self.text)

    def invented(self, value: str) -> list[str]:
        """Return the tokens with digits, and the addresses, in a text that stand in no source."""
        known = _flat(self.text)
        tokens = [*_TOKEN.findall(value), *_EMAIL.findall(value)]
        return [token for token in _unique(tokens) if _flat(token.strip("./-@_")) not in known]


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
