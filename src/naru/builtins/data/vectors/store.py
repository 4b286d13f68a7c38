"""The seam to whatever keeps documents with their vectors."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from naru.errors import ConflictError, NotFoundError, UpstreamError

_STAGED = ".naru-new-"
STAGED_SECONDS = 86_400
"""A collection that was begun longer ago is filled by nobody any more: whoever began it was killed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its vector."""

    id: str
    text: str
    vector: Sequence[float]
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A document that was found."""

    id: str
    text: str
    score: float
    """Its closeness to the query: the cosine, 1 for the same direction."""
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a collection was made with; empty or 0 where that is not known."""

    embedder: str
    dimension: int


class VectorStoreError(UpstreamError):
    """The store cannot be reached or refused."""

    code = "vector_store_failed"


class CollectionMissingError(NotFoundError):
    """There is no such collection."""

    code = "collection_missing"


class EmbedderMismatchError(ConflictError):
    """The collection was made with another model."""

    code = "embedder_mismatch"


class VectorStore(Protocol):
    """One collection of documents, found by cosine similarity."""

    async def ensure(self, made_with: Recorded) -> None:
        """Create the collection if there is none.

        Raises:
            EmbedderMismatchError: there is one, made with another model or another length of vectors.
        """
        ...

    async def upsert(self, entries: Sequence[Entry]) -> None:
        """Add documents, or replace those with the same id. Raises CollectionMissingError."""
        ...

    async def query(self, vectors: Sequence[Sequence[float]], n_results: int, *, embedder: str) -> list[list[Found]]:
        """Return the documents nearest to each vector, nearest first; fewer when there are fewer.

        Raises:
            CollectionMissingError: there is no such collection; names those there are.
            EmbedderMismatchError: its vectors come from another model or have another length.
        """
        ...

    async def stored(self, ids: Sequence[str], *, made_with: Recorded) -> dict[str, Entry]:
        """Return those of these documents that are there, by id; none when another model made the collection."""
        ...

    def beside(self) -> Self:
        """Return an empty collection next to this one, to be filled and then taken."""
        ...

    async def sweep(self) -> None:
        """Remove what `beside` began and nobody ended, as `is_left` tells it."""
        ...

    async def take(self, other: Self) -> None:
        """Become what a collection from `beside` holds; what was here before goes only then."""
        ...

    async def count(self) -> int:
        """Return the number of documents; 0 when there is no collection."""
        ...

    async def clear(self) -> None:
        """Remove the collection with all its documents."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


def check_made_with(collection: str, recorded: Recorded, asked: Recorded) -> None:
    """Compare what a collection was made with and what is used now, as far as both are known.

    Raises:
        EmbedderMismatchError: they differ; nothing is deleted.
    """
    remedy = (
        "Choose another collection with CHROMADB_COLLECTION_NAME or the model it was made with, or index it anew: "
        "naru data index FILE --replace."
    )
    if recorded.dimension and asked.dimension and recorded.dimension != asked.dimension:
        raise EmbedderMismatchError(
            f"Collection {collection!r} holds vectors of {recorded.dimension} numbers"
            f"{f' made with {recorded.embedder}' if recorded.embedder else ''}; "
            f"{asked.embedder or 'the query'} gives {asked.dimension}.",
            remedy=remedy,
        )
    if recorded.embedder and asked.embedder and recorded.embedder != asked.embedder:
        raise EmbedderMismatchError(
            f"Collection {collection!r} was made with model {recorded.embedder}, not with {asked.embedder}.",
            remedy=remedy,
        )


def staged_name(collection: str) -> str:
    """Name a collection that is filled to take the place of this one, with the time when it is begun."""
    return f"{collection[:480]}{_STAGED}{int(time.time())}-{secrets.token_hex(4)}"


def is_left(name: str, collection: str) -> bool:
    """Tell whether a collection was begun beside this one, longer ago than any run takes.

    One without a time was begun by a Naru of before, which did not write it.
    """
    begun = re.fullmatch(r"(?:(\d+)-)?[0-9a-f]{8}", name.removeprefix(f"{collection[:480]}{_STAGED}"))
    return begun is not None and time.time() - int(begun[1] or 0) > STAGED_SECONDS


def missing(collection: str, existing: Sequence[str]) -> CollectionMissingError:
    """Say that there is no such collection, and which there are."""
    existing = [name for name in existing if _STAGED not in name]
    there = f"there are: {', '.join(sorted(existing))}" if existing else "there is none yet"
    return CollectionMissingError(
        f"No collection {collection!r}; {there}.",
        remedy="Fill it: naru data index FILE, or set CHROMADB_COLLECTION_NAME.",
    )
