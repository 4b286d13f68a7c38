"""The seam to whatever turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Kind = Literal["query", "passage"]


class Embedder(Protocol):
    """Turns texts into vectors of one length; texts of both kinds land in one space."""

    @property
    def name(self) -> str:
        """What is recorded with a collection; vectors of different names are never compared."""
        ...

    @property
    def status(self) -> str:
        """One line for people: what embeds, and how well."""
        ...

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        """Return a vector per text, in order; an empty list for a blank text.

        Raises:
            EmbeddingError: it failed as a whole; never a partial or made-up result.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
