"""Columns read a second time without their table: a table's name is in all of them and says little of one.

Of a column's two vectors the nearer counts. The second is made for the first of those that were found, when they are
found, and kept; nothing stored changes. See docs/decisions/0061-embedded-embeddings.md.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul

from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.embeddings.sentence_encoder import without_table
from naru.builtins.data.vectors.store import Found

READ_AGAIN = 20
"""Of those found, nearest first: a new one takes 20 ms of CPU."""
MAX_KEPT = 4096
"""Texts whose second vector is kept, 15 MB."""


class BareNames:
    """Reads with the embedder that made the first vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, array.array[float]] = {}

    async def nearer(self, question: Sequence[float], found: Sequence[Found]) -> list[Found]:
        """Return what was found with the closeness of the nearer reading; a text that is no column's has one."""
        if len(self._kept) > MAX_KEPT:
            self._kept = {}
        kept = self._kept  # another question may begin anew meanwhile
        bare = {one.text: without_table(one.text) for one in found[:READ_AGAIN]}
        new = [text for text, name in bare.items() if name and text not in kept]
        vectors = await self._embedder.embed([bare[text] for text in new], "passage") if new else []
        kept.update((text, _unit(vector)) for text, vector in zip(new, vectors, strict=True))
        asked = _unit(question)
        again = [sum(map(mul, asked, kept[one.text])) if bare.get(one.text) else one.score for one in found]
        return [replace(one, score=max(one.score, score)) for one, score in zip(found, again, strict=True)]


def _unit(vector: Sequence[float]) -> array.array[float]:
    length = math.sqrt(sum(map(mul, vector, vector))) or 1.0
    return array.array("f", (value / length for value in vector))
