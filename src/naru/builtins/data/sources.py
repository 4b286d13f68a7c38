"""What the tools work on: embedder, vector store, database; each configured or embedded, opened at first use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from naru.builtins.data.demo.columns import COLUMNS
from naru.builtins.data.demo.postgres import DemoPostgres
from naru.builtins.data.embeddings.choose import choose_embedder
from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.sql.database import Database, DatabaseOptions
from naru.builtins.data.sql.transaction import Limits
from naru.builtins.data.vectors.choose import choose_store
from naru.builtins.data.vectors.local import LocalStore
from naru.builtins.data.vectors.store import Entry, Recorded, VectorStore
from naru.config import DataSettings

logger = logging.getLogger(__name__)

DEMO_COLLECTION = "naru_demo_columns"
INDEX_BATCH = 64


class DataSources:
    """Opened lazily, closed together.

    Args:
        settings: where the services are; what is not set is embedded.
    """

    def __init__(self, settings: DataSettings | None = None) -> None:
        self.settings = settings or DataSettings()
        self.embedder: Embedder = choose_embedder(self.settings)
        self._demo = None if self.is_database_configured else DemoPostgres()
        self.database = Database(self._parameters, _options(self.settings))
        self.store: VectorStore = choose_store(self.settings)
        self._demo_index: VectorStore | None = None
        self._indexing = asyncio.Lock()

    @property
    def is_database_configured(self) -> bool:
        """Whether the settings name a database; without one, an own server with demo data is started."""
        return bool(self.settings.postgresql_db_host or self.settings.postgresql_db_name)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector per text; an empty one for a blank text."""
        return await self.embedder.embed(texts, "passage")

    async def search(self, queries: Sequence[str], n_results: int) -> list[list[str]]:
        """Return the documents most like each query; none for a blank query."""
        vectors = await self.embedder.embed(queries, "query")
        wanted = [vector for vector in vectors if vector]
        store = await self._searched_store()
        found = iter(await store.query(wanted, n_results, embedder=self.embedder.name) if wanted else ())
        return [next(found) if vector else [] for vector in vectors]

    async def index(self, documents: Mapping[str, str], *, store: VectorStore | None = None) -> AsyncIterator[int]:
        """Embed and keep documents (id → text), yielding how many are done after each batch.

        Raises:
            EmbedderMismatchError: the collection was made with another model.
        """
        target = store or self.store
        entries = [(id_, text) for id_, text in documents.items() if text.strip()]
        for start in range(0, len(entries), INDEX_BATCH):
            batch = entries[start : start + INDEX_BATCH]
            vectors = await self.embedder.embed([text for _, text in batch], "passage")
            await target.ensure(Recorded(self.embedder.name, len(vectors[0])))
            await target.upsert([Entry(id_, text, vector) for (id_, text), vector in zip(batch, vectors, strict=True)])
            yield start + len(batch)

    async def close(self) -> None:
        """Close what was opened, the database before its server."""
        await self.database.close()
        if self._demo:
            await self._demo.close()
        await self.store.close()
        if self._demo_index:
            await self._demo_index.close()
        await self.embedder.close()

    async def _searched_store(self) -> VectorStore:
        """Return the configured store; with nothing configured and nothing indexed, the demo's column catalogue."""
        if self._demo is None or self.settings.chromadb_host or await self.store.count():
            return self.store
        async with self._indexing:
            if self._demo_index is None:
                index = LocalStore(None, DEMO_COLLECTION)
                async for _ in self.index(demo_documents(), store=index):
                    pass
                self._demo_index = index
        return self._demo_index

    async def _parameters(self) -> Mapping[str, str]:
        if self._demo:
            logger.info("no POSTGRESQL_DB_HOST: starting a PostgreSQL of our own with demo data")
            return await self._demo.parameters()
        settings = self.settings
        wanted = {
            "host": settings.postgresql_db_host or "localhost",
            "port": str(settings.postgresql_db_port),
            "user": settings.postgresql_db_user,
            "password": settings.postgresql_db_pass.get_secret_value(),
            "dbname": settings.postgresql_db_name,
        }
        return {key: value for key, value in wanted.items() if value}


def demo_documents() -> dict[str, str]:
    """Return the demo catalogue as documents: `bga_lot.yield_pct: 수율 (%) = …`."""
    return {name: f"{name}: {text}" for name, text in COLUMNS.items()}


@asynccontextmanager
async def open_sources() -> AsyncIterator[DataSources]:
    """Open the sources that the environment gives, and close them."""
    sources = DataSources()
    try:
        yield sources
    finally:
        await sources.close()


def _options(settings: DataSettings) -> DatabaseOptions:
    return DatabaseOptions(
        limits=Limits(
            rows=settings.postgresql_db_max_rows,
            bytes=settings.postgresql_db_max_bytes,
            statement_seconds=settings.postgresql_db_statement_timeout_seconds,
            wait_seconds=settings.postgresql_db_pool_wait_seconds,
        ),
        allowed_functions=frozenset(
            name.strip() for name in settings.postgresql_db_allow_functions.split(",") if name.strip()
        ),
        allow_superuser=settings.postgresql_db_allow_superuser,
    )
