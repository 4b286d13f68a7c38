"""Documents into a collection: what is unchanged is not embedded again, what cannot be embedded is named."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from naru.builtins.data.documents.document import Document, Refused, Scalar
from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.embeddings.errors import EmbedderUnavailableError, EmbeddingError
from naru.builtins.data.vectors.store import Entry, Recorded, VectorStore

BATCH = 64
FAILURES_IN_A_ROW = 5
"""So many documents one after another are the embedder's fault and not theirs."""
_PROBE = "나루"


@dataclass(slots=True)
class Indexed:
    """How far it has come."""

    done: int = 0
    """Documents that are dealt with, one way or another."""
    embedded: int = 0
    unchanged: int = 0
    refused: list[Refused] = field(default_factory=list)
    """Those that could not be embedded, each with its reason."""


class Indexer:
    """One run over one collection."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store
        self._failures = 0
        self.report = Indexed()

    async def run(self, documents: Sequence[Document], *, replace: bool = False) -> AsyncIterator[Indexed]:
        """Embed and keep documents, yielding the report after each batch.

        With `replace` the collection holds these and no others afterwards; until all are there it stays as it was.

        Raises:
            EmbedderMismatchError: the collection was made with another model, and is not to be replaced.
            EmbeddingError: the embedder itself fails; what was stored before stays.
        """
        made_with = await self._made_with()
        if not replace:
            async for report in self._fill(self._store, documents, made_with):
                yield report
            return
        await self._store.sweep()
        staged = self._store.beside()
        try:
            async for report in self._fill(staged, documents, made_with, keeps_known=True):
                yield report
            if documents and len(self.report.refused) == len(documents):
                first = self.report.refused[0]
                raise EmbeddingError(
                    f"None of {len(documents)} documents could be embedded; {first.source}: {first.reason}.",
                    remedy="The collection is as it was.",
                )
            await self._store.take(staged)
        finally:
            await staged.clear()
            await staged.close()

    async def stored(self, documents: Sequence[Document]) -> dict[str, Entry]:
        """Return what the collection holds of these, by id. Raises EmbedderMismatchError, as `run` does."""
        made_with = await self._made_with()
        await self._store.ensure(made_with)
        return await self._store.stored([one.id for one in documents], made_with=made_with)

    async def _made_with(self) -> Recorded:
        (probe,) = await self._embedder.embed([_PROBE], "passage")
        return Recorded(self._embedder.name, len(probe))

    async def _fill(
        self, target: VectorStore, documents: Sequence[Document], made_with: Recorded, *, keeps_known: bool = False
    ) -> AsyncIterator[Indexed]:
        await target.ensure(made_with)
        for start in range(0, len(documents), BATCH):
            batch = documents[start : start + BATCH]
            known = await self._store.stored([one.id for one in batch], made_with=made_with)
            same = [one for one in batch if one.id in known and _is_same(one, known[one.id])]
            fresh = [one for one in batch if one not in same]
            entries = await self._entries(fresh, made_with.dimension)
            kept = [known[one.id] for one in same] if keeps_known else []
            if entries or kept:
                await target.upsert([*entries, *kept])
            self.report.done += len(batch)
            self.report.embedded += len(entries)
            self.report.unchanged += len(same)
            yield self.report

    async def _entries(self, documents: Sequence[Document], dimension: int) -> list[Entry]:
        """Embed a batch; when it fails, its halves, until the documents at fault stand alone."""
        if not documents:
            return []
        try:
            vectors = await self._embedder.embed([one.text for one in documents], "passage")
        except EmbedderUnavailableError:
            raise
        except EmbeddingError as error:
            if len(documents) == 1:
                self._refuse(documents[0], error)
                return []
            middle = len(documents) // 2
            first = await self._entries(documents[:middle], dimension)
            return first + await self._entries(documents[middle:], dimension)
        entries = []
        for document, vector in zip(documents, vectors, strict=True):
            if len(vector) == dimension and all(map(math.isfinite, vector)):
                self._failures = 0
                entries.append(Entry(document.id, document.text, vector, _metadata(document)))
            else:
                self._refuse(document, EmbeddingError("its vector is not one of finite numbers"))
        return entries

    def _refuse(self, document: Document, error: EmbeddingError) -> None:
        self._failures += 1
        if self._failures >= FAILURES_IN_A_ROW:
            raise error
        self.report.refused.append(Refused(document.source, f"it could not be embedded: {error}"))


def _is_same(document: Document, entry: Entry) -> bool:
    return document.text == entry.text and _metadata(document) == dict(entry.metadata)


def _metadata(document: Document) -> dict[str, Scalar]:
    return {"source": document.source, **document.metadata}
