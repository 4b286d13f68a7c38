"""Words and meaning together: what a query's vector finds, ordered again with the letters that query and text share.

Vectors find what means the same in another language; letters find a name, a code, an unusual word. Measured on the
labelled columns (docs/decisions/0061-embedded-embeddings.md).
"""

from __future__ import annotations

import functools
import math
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from naru.builtins.data.vectors.store import Found

CANDIDATES = 100
"""Documents by meaning, among which the words decide."""
WORDS = 1.2
"""Weight of a query wholly found in a text, in standard deviations of the candidates' closeness."""
MAX_CHARACTERS = 2_000
_SIZES = (2, 3)


def fused(query: str, found: Sequence[Found], count: int) -> list[Found]:
    """Order candidates by closeness and shared words, and return the first; their scores stay the closeness."""
    if len(found) < 2:
        return list(found[:count])
    closeness = [one.score for one in found]
    middle, spread = statistics.fmean(closeness), statistics.pstdev(closeness) or 1.0
    shared = _shared(query, [one.text for one in found])
    scores = [(close - middle) / spread + WORDS * words for close, words in zip(closeness, shared, strict=True)]
    order = sorted(range(len(found)), key=lambda place: (-scores[place], place))
    return [found[place] for place in order[:count]]


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
