"""What a value may come from: the question, what was said before it, and the results; compared by form alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from naru.tools.texts import TELLING_NUMBER, Text, found_in


class Sources:
    """The question, the turns before it, the results so far."""

    def __init__(self, question: str, before: Sequence[str] = ()) -> None:
        self.question = Text(question)
        self.before = [Text(one) for one in before]
        self.results: list[Text] = []
        self.taken: list[Text] = []  # Values that calls took: an answer may say them.
        self.used: set[str] = set()  # Those of calls which found something.

    def add_result(self, text: str, taken: Iterable[Any] = (), *, found: bool = True) -> None:
        """Take in a result, and the values that its call took."""
        values = [str(one) for one in taken]
        self.results.append(Text(text))
        self.taken.append(Text(" ".join(values)))
        self.used.update(values if found else ())

    @property
    def all(self) -> list[Text]:
        """Every source, the question first, then the newest."""
        return [self.question, *reversed(self.results), *reversed(self.before)]

    @property
    def subject(self) -> list[str]:
        """Return the ids and numbers that the question is about: its own, else those of the turns before it."""
        return self.question.spans or self._spans_before()

    def hold(self, value: Any) -> bool:
        """Tell whether a value stands in any source."""
        return any(one.holds(value) for one in self.all)

    def is_new(self, value: Any) -> bool:
        """Tell whether no turn before the question holds a value."""
        return not any(one.holds(value) for one in self.before)

    def as_written(self, value: str) -> str:
        """Return words as they stand in a source: `Felix Braun` for `felixbraun`, `harbour` for ` harbour`."""
        is_padded = value != value.strip()
        apart = re.escape(value.strip()) if is_padded else r"\s?".join(map(re.escape, value))
        looked_in = self.all if is_padded or value.isalpha() else []
        found = next(filter(None, (found_in(one.text, apart) for one in looked_in)), None)
        return found[0] if found and (is_padded or " " in found[0]) else value

    def spans(self) -> list[str]:
        """Return all that could be an id or a number, the likeliest first; of earlier turns no short number."""
        now = [span for one in (self.question, *reversed(self.results)) for span in one.spans]
        return list(dict.fromkeys([*now, *self._spans_before()]))

    def _spans_before(self) -> list[str]:
        before = [span for one in reversed(self.before) for span in one.spans]
        return [one for one in before if not one.isdigit() or len(one) >= TELLING_NUMBER]
