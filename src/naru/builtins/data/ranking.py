"""Words and meaning together: what a query's vector finds, ordered again with the letters that query and text share.

Vectors find what means the same in another language; letters find a name, a code, an unusual word. A second reader,
where there is one, then reads the first of them once more. Measured on labelled columns
(docs/decisions/0061-embedded-embeddings.md).
"""

from __future__ import annotations

import functools
import math
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import add
from typing import Protocol

from naru.builtins.data.vectors.store import Found

CANDIDATES = 100
"""Documents by meaning, among which the words decide."""
WORDS = 1.2
"""Weight of a query wholly found in a text, in standard deviations of the candidates' closeness."""
READ_AGAIN = 20
"""Documents that the second reader reads: the one that is meant is seldom further back."""
MAX_CHARACTERS = 2_000
_SIZES = (2, 3)


class SecondReader(Protocol):
    """What compares a question with a few texts more closely than vectors that had to be made for all of them."""

    async def closeness(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """Return how near each text is to a question; None where it cannot tell."""
        ...


async def ordered(query: str, found: Sequence[Found], count: int, reader: SecondReader | None) -> list[Found]:
    """Order candidates as `fused` does, those in front as it and the reader say together; return the first."""
    ranked = _ranked(query, found)
    first = ranked[:READ_AGAIN]
    again = await reader.closeness(query, [one.text for _, one in first]) if reader and first else None
    if again:
        both = list(map(add, _standard([score for score, _ in first]), _standard(again)))
        first = [first[place] for place in sorted(range(len(first)), key=lambda place: (-both[place], place))]
    return [one for _, one in (*first, *ranked[READ_AGAIN:])][:count]


def fused(query: str, found: Sequence[Found], count: int) -> list[Found]:
    """Order candidates by closeness and shared words, and return the first; their scores stay the closeness."""
    return [one for _, one in _ranked(query, found)][:count]


def _ranked(query: str, found: Sequence[Found]) -> list[tuple[float, Found]]:
    shared = _shared(query, [one.text for one in found])
    closeness = _standard([one.score for one in found])
    scores = [close + WORDS * words for close, words in zip(closeness, shared, strict=True)]
    order = sorted(range(len(found)), key=lambda place: (-scores[place], place))
    return [(scores[place], found[place]) for place in order]


def _standard(values: Sequence[float]) -> list[float]:
    """Return how many standard deviations each value is above their mean."""
    if not values:
        return []
    middle, spread = statistics.fmean(values), statistics.pstdev(values) or 1.0
    return [(value - middle) / spread for value in values]


def _shared(query: str, texts: Sequence[str]) -> list[float]:
    """Return for each text how much of the query it holds, 0 to 1; groups of letters that are rare count more."""
    asked = _groups(query)
    texts_of = [_groups(text) for text in texts]
    seen = Counter(group for groups in texts_of for group in groups & asked)
    weights = {group: math.log(1 + (len(texts) - seen[group] + 0.5) / (seen[group] + 0.5)) for group in asked}
    whole = sum(weights.values()) or 1.0
    # Sorted, so that the sum is the same in every process.
    return [sum(weights[group] for group in sorted(groups & asked)) / whole for groups in texts_of]


@functools.lru_cache(maxsize=4096)
def _groups(text: str) -> frozenset[str]:
    return frozenset(_letters(text))


def _letters(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).casefold()
    for word in "".join(letter if letter.isalnum() else " " for letter in plain).split():
        padded = f" {word} "
        for size in _SIZES:
            yield from (padded[at : at + size] for at in range(len(padded) - size + 1))
