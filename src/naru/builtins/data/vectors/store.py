"""The seam to whatever keeps documents with their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from naru.errors import ConflictError, NotFoundError, UpstreamError


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its vector."""

    id: str
    text: str
    vector: Sequence[float]


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

    async def query(self, vectors: Sequence[Sequence[float]], n_results: int, *, embedder: str) -> list[list[str]]:
        """Return the documents nearest to each vector, nearest first; fewer when there are fewer.

        Raises:
            CollectionMissingError: there is no such collection; names those there are.
            EmbedderMismatchError: its vectors come from another model or have another length.
        """
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


def missing(collection: str, existing: Sequence[str]) -> CollectionMissingError:
    """Say that there is no such collection, and which there are."""
    there = f"there are: {', '.join(sorted(existing))}" if existing else "there is none yet"
    return CollectionMissingError(
        f"No collection {collection!r}; {there}.",
        remedy="Fill it: naru data index FILE, or set CHROMADB_COLLECTION_NAME.",
    )
