"""What the tools work on: embedder, vector store, database; each configured or embedded, opened at first use."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from naru.builtins.data.databases.catalogue import VALUES, Catalogue, documents_of
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.open import label_of, open_database, own_label_of
from naru.builtins.data.demo.columns import COLUMNS
from naru.builtins.data.documents.document import Document
from naru.builtins.data.embeddings.choose import choose_embedder, choose_reader, choose_second_reading
from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.indexing import Indexed, Indexer
from naru.builtins.data.ranking import CANDIDATES, ordered
from naru.builtins.data.vectors.choose import choose_store
from naru.builtins.data.vectors.local import LocalStore
from naru.builtins.data.vectors.store import Found, VectorStore
from naru.config import DataSettings
from naru.errors import NotFoundError

DEMO_COLLECTION = "naru_demo_columns"
CATALOGUE_SECONDS = 60.0
"""For so long a change of tables or columns may go unseen, unless a statement fails before."""


class DataSources:
    """Opened lazily, closed together.

    Args:
        settings: where the services are; what is not set is embedded.
    """

    def __init__(self, settings: DataSettings | None = None) -> None:
        self.settings = settings or DataSettings()
        self.embedder: Embedder = choose_embedder(self.settings)
        self._bare_names = choose_second_reading(self.embedder)
        self._reader = choose_reader(self.settings)
        self._database: Database | None = None
        self.store: VectorStore = choose_store(self.settings)
        self.columns: VectorStore = choose_store(self.settings, database=own_label_of(self.settings))
        """The columns of the database, as `index_database` found them."""
        self._demo_index: VectorStore | None = None
        self._catalogue: Catalogue | None = None
        self._shape: Catalogue | None = None
        """The same without values, as it was read last."""
        self._read_at = -CATALOGUE_SECONDS
        self._indexing = asyncio.Lock()

    @property
    def embeddings(self) -> str:
        """One line for people: what embeds, and what reads again."""
        return self.embedder.status + (f"; {self._reader.status}" if self._reader else "")

    @property
    def database(self) -> Database:
        """The database of the settings; without one, a PostgreSQL of our own with demo data. Raises ConfigError."""
        if self._database is None:
            self._database = open_database(self.settings)
        return self._database

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector per text; an empty one for a blank text."""
        return await self.embedder.embed(texts, "passage")

    async def search(self, queries: Sequence[str], n_results: int) -> list[list[str]]:
        """Return the documents most like each query; none for a blank query."""
        return [[one.text for one in found] for found in await self.find(queries, n_results)]

    async def find(self, queries: Sequence[str], n_results: int) -> list[list[Found]]:
        """Return the documents most like each query, by meaning and words, with where they come from."""
        vectors = await self.embedder.embed(queries, "query")
        wanted = [vector for vector in vectors if vector]
        store = await self._searched_store()
        candidates = max(n_results, CANDIDATES)
        found = iter(await store.query(wanted, candidates, embedder=self.embedder.name) if wanted else ())
        return [
            await self._ordered(query, vector, next(found), n_results) if vector else []
            for query, vector in zip(queries, vectors, strict=True)
        ]

    async def find_columns(self, question: str, n_results: int) -> list[tuple[str, str, float]]:
        """Return the database's columns most like a question: table, column, closeness; nearest first."""
        (vector,) = await self.embedder.embed([question], "query")
        if not vector:
            return []
        (found,) = await self.columns.query([vector], max(n_results, CANDIDATES), embedder=self.embedder.name)
        return [
            (str(one.metadata["table"]), str(one.metadata["column"]), one.score)
            for one in await self._ordered(question, vector, found, n_results)
        ]

    async def _ordered(self, query: str, vector: Sequence[float], found: Sequence[Found], count: int) -> list[Found]:
        if self._bare_names:
            found = await self._bare_names.nearer(vector, found)
        return await ordered(query, found, count, self._reader)

    async def index(
        self, documents: Sequence[Document], *, store: VectorStore | None = None, replace: bool = False
    ) -> AsyncIterator[Indexed]:
        """Embed and keep documents, yielding how far it has come after each batch; see `Indexer.run`."""
        async for report in Indexer(self.embedder, store or self.store).run(documents, replace=replace):
            yield report

    async def catalogue(self) -> Catalogue:
        """Return the database's catalogue, and have its columns indexed; both anew when tables or columns changed."""
        async with self._indexing:
            if self._catalogue is None or time.monotonic() - self._read_at >= CATALOGUE_SECONDS:
                shape = await self.database.catalogue(values=False)
                if self._catalogue is None or shape != self._shape:
                    await self._follow(shape)
                    self._catalogue, self._shape = await self.database.catalogue(), shape
                self._read_at = time.monotonic()
        return self._catalogue

    def doubt_catalogue(self) -> None:
        """Have the next call read what tables and columns there are: a statement failed, perhaps for their change."""
        self._read_at = -CATALOGUE_SECONDS

    async def _follow(self, shape: Catalogue) -> None:
        """Index the columns where the index is not of this shape; with values unless it was made without."""
        documents = documents_of(shape, label_of(self.settings))
        known = await Indexer(self.embedder, self.columns).stored(documents)
        same = [
            one
            for one in documents
            if one.id in known and f"{known[one.id].text}{VALUES}".startswith(one.text + VALUES)
        ]
        if not documents or not len(same) == len(documents) == await self.columns.count():
            values = not known or any(VALUES in entry.text for entry in known.values())
            async for _ in self.index_database(values=values):
                pass

    async def index_database(self, *, values: bool = True) -> AsyncIterator[Indexed]:
        """Read the database's catalogue and keep a document for each column in place of those of the last time."""
        catalogue = await self.database.catalogue(values=values)
        documents = documents_of(catalogue, label_of(self.settings))
        if not documents:
            raise NotFoundError(
                "The database shows no tables.", remedy="Check its name, and what its user may read (SELECT)."
            )
        async for report in self.index(documents, store=self.columns, replace=True):
            yield report

    async def close(self) -> None:
        """Close what was opened, the database before its server."""
        if self._database:
            await self._database.close()
        await self.store.close()
        await self.columns.close()
        if self._demo_index:
            await self._demo_index.close()
        await self.embedder.close()

    async def _searched_store(self) -> VectorStore:
        """Return the indexed columns of the database that NARU_DATABASE_URL names, or else the configured store.

        With nothing configured and nothing indexed it is the demo's column catalogue.
        """
        if self.settings.naru_database_url and await self.columns.count():
            return self.columns
        if self.settings.is_database_configured or self.settings.chromadb_host or await self.store.count():
            return self.store
        async with self._indexing:
            if self._demo_index is None:
                index = LocalStore(None, DEMO_COLLECTION)
                async for _ in self.index(demo_documents(), store=index):
                    pass
                self._demo_index = index
        return self._demo_index


def demo_documents() -> list[Document]:
    """Return the demo catalogue as documents: `bga_lot.yield_pct: 수율 (%) = …`."""
    return [Document(name, f"{name}: {text}", "demo") for name, text in COLUMNS.items()]


@asynccontextmanager
async def open_sources() -> AsyncIterator[DataSources]:
    """Open the sources that the environment gives, and close them."""
    sources = DataSources()
    try:
        yield sources
    finally:
        await sources.close()
