"""What is known in a run: the question and the results so far, and the values that stand in them (UPLIFT: ground)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date
from typing import Any

from naru.agent.glossary import in_english
from naru.agent.moments import dates_in, months_in, times_in
from naru.agent.prompts import is_korean
from naru.agent.rendering import decoded
from naru.agent.selection import stem, terms

_ID = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*"
    r"|(?<![\w.-])\d+(?:-\d+)+(?![\w.-]*[A-Za-z0-9])"
    r"|(?<!\d)\d{2,3}[가-힣](?<![년월일시분초])\d{4}(?!\d)"
)
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|(?:19|20)\d\d-(?:0\d|1[0-2])$")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.:/-]*[A-Za-z0-9])")
_PATH = re.compile(
    r"(?:[A-Za-z]:)?(?:\.{0,2}[/\\])?(?:[\w가-힣.-]+[/\\])*[\w가-힣-]+\.[A-Za-z]\w{0,7}|/(?:[\w가-힣.-]+/?)+"
)
_QUOTED = re.compile(r"[\"“”'‘’「『`]([^\"“”'‘’」』`\n]{1,200})[\"“”'‘’」』`]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_URL = re.compile(r"https?://[^\s<>\"']+")
_CODE = re.compile(r"(?<![A-Za-z0-9_-])[A-Z]{2,5}(?![A-Za-z0-9_-])")
_CODE_LETTERS = 3
"""Letters of a code that a result gives: airports, currencies, languages, tickers mostly have so many."""
_NAME = re.compile(r"(?<![\w-])[A-Z][\w'’]*(?:-[A-Z][\w'’]*)*(?:\s+[A-Z][\w'’]*(?:-[A-Z][\w'’]*)*)*")
_SUM = re.compile(r"[\d(][\d\s.,()]*(?:[-+*/×÷^%]+[\s(]*\d[\d\s.,()]*)+")
_TOKEN = re.compile(r"[A-Za-z0-9@._/-]*\d[A-Za-z0-9@._/-]*")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "^": "**"})
_PAIR = re.compile(r'"([\w가-힣 -]+)"\s*:\s*"([^"\\\n]+)"')
_HANGUL = re.compile(r"[가-힣]{2}")
_NUMBER_ROWS = (
    "zero | one 한 하나 | two 두 둘 | three 세 셋 | four 네 넷 | five 다섯 | six 여섯 | seven 일곱 | eight 여덟 |"
    "nine 아홉 | ten 열"
)
_NUMBER_WORDS = {word: str(number) for number, row in enumerate(_NUMBER_ROWS.split("|")) for word in row.split()}
_NUMBER_WORD = re.compile(
    r"\b(zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|(?<![가-힣])(하나|둘|셋|넷|한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)"
    r"(?=\s?(?:개|명|권|번|시간|달|주|가지|장|대)(?![가-힣]{3}))",
    re.IGNORECASE,
)


def flat(text: str) -> str:
    """Return a text without case, commas and breaks, for comparing."""
    return re.sub(r"[\s,]+", " ", text).casefold().strip()


class Sources:
    """Texts that a value may stand in: the person's own words first, then what tools gave."""

    def __init__(
        self,
        question: str,
        results: Iterable[str] = (),
        *,
        today: date | None = None,
        subjects: Sequence[str] | None = None,
    ) -> None:
        """Take the question, with what it is about where that is known (`ToolIndex.subjects`)."""
        self.question = question
        self._subjects = subjects
        self._asked: Sources | None = None
        self._claims: Mapping[str, Set[str]] = {}
        self.spoken: Sequence[str] = ()
        """What the tools say of themselves, for the spelling of units."""
        self.things: Set[str] = frozenset()
        """Terms of the things that the tools' ids are of, such as `order`."""
        self._results: list[str] = list(results)
        self._givers: dict[int, str] = {}
        """Place of a result → the name of the tool that gave it."""
        self._today = today
        self._read: dict[str, list[str]] = {}

    def add(self, result: str, giver: str = "") -> None:
        """Take in what a tool gave; its name tells whose a bare `id` is."""
        self._givers[len(self._results)] = giver
        self._results.append(result)
        self._read.clear()

    def _once(self, kind: str, read: Callable[[], Iterable[str]]) -> list[str]:
        """Read values of a kind at the first asking: every parameter of every tool asks for them."""
        found = self._read.get(kind)
        if found is None:
            found = self._read[kind] = unique(read())
        return list(found)

    def claim(self, prefixes: Mapping[str, Set[str]]) -> None:
        """Take in which parameters say how their ids begin: such an id is none of another parameter's."""
        self._claims = prefixes
        self.asked._claims = prefixes  # noqa: SLF001 - the same class

    def is_of_another(self, value: str, own: Set[str]) -> bool:
        """Tell whether the question says of which thing a value is the id, such as `order 88`, and it is another's."""
        of = r"([A-Za-z]+|[가-힣]+?)(?: (?:number|no\.?|id|#)|번호)?[ #]*"
        before = re.search(rf"{of}{re.escape(value)}(?![A-Za-z0-9])", self.question)
        if before is None:
            return False
        said = {*terms(before.group(1)), *(stem(word) for word in in_english(before.group(1)))}
        return bool(said & self.things) and not said & own

    def is_claimed(self, value: str, name: str) -> bool:
        """Tell whether a value begins as ids of other parameters do."""
        letters = re.match(r"[A-Za-z]+", value)
        names = self._claims.get(letters.group(0).upper() if letters else "", set())
        return bool(names) and name not in names

    @property
    def asked(self) -> Sources:
        """The question alone."""
        if self._asked is None:
            self._asked = Sources(self.question, today=self._today, subjects=self._subjects)
            self._asked.spoken, self._asked.things = self.spoken, self.things
        return self._asked

    @property
    def text(self) -> str:
        """All of it, as one text."""
        return "\n".join([self.question, *self._results])

    def _text(self, results_too: bool) -> str:
        return self.text if results_too else self.question

    def ids(self, *, results_too: bool = True) -> list[str]:
        """Return words of letters and digits such as an order number, in order, each once; days are none."""
        return self._once(
            f"ids {results_too}",
            lambda: (one for one in _ID.findall(self._text(results_too)) if not _DAY.match(one)),
        )

    def numbers(self, *, results_too: bool = False) -> list[str]:
        """Return the numbers that stand alone, in digits or words; no parts of ids, days and times."""
        return self._once(f"numbers {results_too}", lambda: self._numbers(results_too))

    def _numbers(self, results_too: bool) -> list[str]:
        text = re.sub(r"(\d)(?=[가-힣])", r"\1 ", _DAY.sub(" ", self._text(results_too)))
        text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
        words = [next(filter(None, found)).lower() for found in _NUMBER_WORD.findall(self.question)]
        return [*_NUMBER.findall(text), *(_NUMBER_WORDS[word] for word in words)]

    def dates(self, *, results_too: bool = True) -> list[str]:
        """Return the days that are named, as ISO dates, `today` and the like included."""
        named = self._once("dates asked", lambda: dates_in(self.question, self._today))
        if not results_too:
            return named
        return self._once("dates", lambda: [*named, *dates_in("\n".join(self._results), self._today)])

    def months(self) -> list[str]:
        """Return the months that the question names, as YYYY-MM."""
        return self._once("months", lambda: months_in(self.question, self._today))

    def times(self) -> list[str]:
        """Return the times of day that the question names, as HH:MM."""
        return self._once("times", lambda: times_in(self.question))

    def paths(self) -> list[str]:
        """Return what looks like a path or file name in the question, then in the results."""
        return self._once("paths", lambda: (match.strip("'\"`.,") for match in _PATH.findall(self.text)))

    def quoted(self) -> list[str]:
        """Return what the question has in quotes."""
        return unique(_QUOTED.findall(self.question))

    def codes(self) -> list[str]:
        """Return words of two to five capitals in the question, such as a currency; else those of three in results."""
        asked = unique(_CODE.findall(self.question))
        return asked or unique(code for code in _CODE.findall("\n".join(self._results)) if len(code) == _CODE_LETTERS)

    def addresses(self) -> list[str]:
        """Return e-mail addresses and URLs."""
        return unique([*_EMAIL.findall(self.text), *_URL.findall(self.text)])

    def sums(self) -> list[str]:
        """Return arithmetic expressions in the question, with the signs that programs know."""
        found = [one.translate(_SIGNS).replace(",", "").strip() for one in _SUM.findall(_DAY.sub(" ", self.question))]
        return unique(one for one in found if not re.fullmatch(r"\d+(-\d+)+", one))

    def about(self) -> list[str]:
        """Return what is to be looked up by its name: what is quoted, else names, else what no tool speaks of."""
        return self.quoted() or self.names() or unique(self._subjects or ())

    def names(self) -> list[str]:
        """Return words and sequences in capitals at their beginning; a question's first word alone is none.

        In Korean, which has no capitals, these are the words that no tool speaks of.
        """
        if self._subjects is not None and is_korean(self.question):
            return unique(self._subjects)
        found = []
        for match in _NAME.finditer(self.question):
            name = match.group(0).removesuffix("'s").removesuffix("’s")
            if match.start() == 0 or self.question[: match.start()].rstrip()[-1:] in ".!?":
                name = " ".join(name.split()[1:])
            found.append(name)
        found += re.findall(r"[가-힣]{2,}", self.question)
        ids = self.ids(results_too=False)
        return unique(one for one in found if len(one) > 1 and not any(known.startswith(one) for known in ids))

    def singled_out(self, values: Sequence[str]) -> list[str]:
        """Keep of a result's many ids those in a row that names what the question is about; all when none does."""
        about = [flat(one) for one in self.about()]
        rows = [
            row for result in self._results for row in map(flat, rows_of(result)) if any(one in row for one in about)
        ]
        kept = [one for one in values if one in self.question or any(flat(one) in row for row in rows)]
        return kept if any(one not in self.question for one in kept) else list(values)

    def numbers_under(self, is_key: Callable[[str], bool]) -> list[str]:
        """Return the whole numbers that results hold under keys of a kind, in rows on the subject if any are."""
        about = [flat(one) for one in self.about()]
        found, near = [], []
        for place, result in enumerate(self._results):
            for row in records_of(result):
                keyed = {self._told(key, place): value for key, value in row.items()}
                values = [str(value) for key, value in keyed.items() if type(value) is int and is_key(key)]
                found += values
                near += values if any(one in flat(str(row)) for one in about) else []
        return unique(near or found)

    def texts_under(self, is_key: Callable[[str], bool]) -> list[str]:
        """Return the words that results hold under keys of a kind, in rows on the subject if any are."""
        found, near, about = [], [], [flat(one) for one in self.about()]
        for place, result in enumerate(self._results):
            for row in records_of(result):
                keyed = {self._told(key, place): value for key, value in row.items()}
                values = [one for key, one in keyed.items() if isinstance(one, str) and " " not in one and is_key(key)]
                found += values
                near += values if any(one in flat(str(row)) for one in about) else []
        return unique(near or found)

    def values_under(self, keys: re.Pattern[str]) -> list[str]:
        """Return the texts that results, in JSON, hold under keys of a kind."""
        pairs = [pair for result in self._results for pair in _PAIR.findall(result)]
        return unique(value for key, value in pairs if keys.search(key))

    def keys_of(self, value: str) -> list[str]:
        """Return the keys under which results, and not the question, hold a value."""
        if value in self.question:
            return []
        found = re.compile(rf'"(\w+)"\s*:\s*"{re.escape(value)}"')
        results = enumerate(self._results)
        return unique(self._told(key, place) for place, result in results for key in found.findall(result))

    def _told(self, key: str, place: int) -> str:
        """Return a key; a bare `id` with the name of the tool whose rows have it."""
        return f"{self._givers.get(place, '')} {key}" if key.lower() in ("id", "_id") else key

    def holds(self, value: object) -> bool:
        """Tell whether a value stands in the question or in a result, spacing and case aside."""
        text = str(value).strip()
        if isinstance(value, int | float) or text.isdigit():
            return re.search(rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)", self.text.replace(",", "")) is not None
        return bool(text) and flat(text) in flat(self.text)

    def invented(self, value: str) -> list[str]:
        """Return the tokens with digits, and the addresses, in a text that stand in no source."""
        known = f"{flat(self.text)} {' '.join([*self.dates(), *self.times(), *self.numbers()])}"
        known = f"{known} {known.replace(' ', '')}"
        tokens = [*_TOKEN.findall(value), *_EMAIL.findall(value)]
        return [token for token in unique(tokens) if not _stands(flat(token.strip("./-@_")), known)]


def rows_of(result: str) -> list[str]:
    """Return the rows of a result, as text each: the items of a list, else its lines."""
    value = decoded(result.strip())
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return [str(row) for row in value] if isinstance(value, list) else result.splitlines()


def records_of(result: str) -> list[dict[str, Any]]:
    """Return the objects of a result: the one that it is, or those of its list."""
    value = decoded(result.strip())
    while isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), dict | list):
        value = inner
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]


def _stands(token: str, known: str) -> bool:
    return token in known or token.replace(",", "").removesuffix(".0") in known


def unique(values: Iterable[str]) -> list[str]:
    """Return each value once, in order, without empty ones."""
    return list(dict.fromkeys(value for value in values if value))
