"""Vectors in one SQLite file, compared in memory: exact, and fast enough for some 50,000 documents."""

from __future__ import annotations

import array
import asyncio
import heapq
import importlib
import math
import sqlite3
import threading
from collections.abc import Callable, Sequence
from operator import mul
from pathlib import Path
from typing import Any, TypeVar

from naru.builtins.data.vectors.store import Entry, Recorded, VectorStoreError, check_made_with, missing

Result = TypeVar("Result")

SCHEMA = """
CREATE TABLE IF NOT EXISTS collections (name TEXT PRIMARY KEY, embedder TEXT NOT NULL, dimension INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
  collection TEXT NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
  id TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (collection, id));
"""


class LocalStore:
    """One collection in a SQLite file; `path` None keeps it in memory.

    Vectors are stored with length one, as 32-bit floats, so that a dot product is the cosine.
    """

    def __init__(self, path: Path | None, collection: str) -> None:
        self._path = path
        self._collection = collection
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._texts: list[str] = []
        self._matrix = _Matrix(b"", 1)
        self._loaded_version = -1

    async def ensure(self, made_with: Recorded) -> None:
        """Create the collection if there is none. Raises EmbedderMismatchError."""

        def work(database: sqlite3.Connection) -> None:
            if recorded := self._recorded(database):
                check_made_with(self._collection, recorded, made_with)
                return
            values = (self._collection, made_with.embedder, made_with.dimension)
            database.execute("INSERT INTO collections VALUES (?, ?, ?)", values)

        await self._run(work)

    async def upsert(self, entries: Sequence[Entry]) -> None:
        """Add documents, or replace those with the same id."""

        def work(database: sqlite3.Connection) -> None:
            recorded = self._recorded(database) or self._missing(database)
            rows = []
            for entry in entries:
                check_made_with(self._collection, recorded, Recorded("", len(entry.vector)))
                rows.append((self._collection, entry.id, entry.text, _unit(entry.vector).tobytes()))
            database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", rows)
            self._loaded_version = -1

        await self._run(work)

    async def query(self, vectors: Sequence[Sequence[float]], n_results: int, *, embedder: str) -> list[list[str]]:
        """Return the documents nearest to each vector, nearest first."""

        def work(database: sqlite3.Connection) -> list[list[str]]:
            recorded = self._recorded(database) or self._missing(database)
            for vector in vectors:
                check_made_with(self._collection, recorded, Recorded(embedder, len(vector)))
            self._load(database, recorded.dimension)
            found = (self._matrix.nearest(_unit(vector), n_results) for vector in vectors)
            return [[self._texts[place] for place in places] for places in found]

        return await self._run(work)

    async def count(self) -> int:
        """Return the number of documents."""
        asked = "SELECT count(*) FROM entries WHERE collection = ?"
        return await self._run(lambda database: int(database.execute(asked, (self._collection,)).fetchone()[0]))

    async def clear(self) -> None:
        """Remove the collection with all its documents."""

        def work(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM collections WHERE name = ?", (self._collection,))
            self._loaded_version = -1

        await self._run(work)

    async def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._connection = None

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await asyncio.to_thread(self._locked, work)

    def _locked(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            with self._lock:
                database = self._open()
                with database:
                    return work(database)
        except (sqlite3.Error, OSError) as error:
            raise VectorStoreError(
                f"The vector store {self._path or 'in memory'} failed: {error}.",
                remedy="Check that its folder can be written to, or set NARU_DATA_DIR.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._path:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path or ":memory:", timeout=5, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA foreign_keys = ON")
            database.executescript(SCHEMA)
            self._connection = database
        return self._connection

    def _recorded(self, database: sqlite3.Connection) -> Recorded | None:
        asked = "SELECT embedder, dimension FROM collections WHERE name = ?"
        found = database.execute(asked, (self._collection,)).fetchone()
        return Recorded(*found) if found else None

    def _missing(self, database: sqlite3.Connection) -> Recorded:
        raise missing(self._collection, [name for (name,) in database.execute("SELECT name FROM collections")])

    def _load(self, database: sqlite3.Connection, dimension: int) -> None:
        """Bring the vectors into memory unless they are there; another process's writes change `data_version`."""
        version = int(database.execute("PRAGMA data_version").fetchone()[0])
        if version == self._loaded_version:
            return
        asked = "SELECT text, vector FROM entries WHERE collection = ? ORDER BY id"
        rows = database.execute(asked, (self._collection,)).fetchall()
        self._texts = [text for text, _ in rows]
        self._matrix = _Matrix(b"".join(vector for _, vector in rows), dimension)
        self._loaded_version = version


class _Matrix:
    """Rows of length-one vectors; with NumPy when it is installed."""

    def __init__(self, raw: bytes, dimension: int) -> None:
        self._numpy = _numpy()
        if self._numpy:
            self._rows = self._numpy.frombuffer(raw, dtype="float32").reshape(-1, dimension)
        else:
            flat = array.array("f", raw)
            self._rows = [flat[start : start + dimension] for start in range(0, len(flat), dimension)]

    def nearest(self, vector: array.array[float], count: int) -> list[int]:
        """Return the places of the nearest rows, nearest first, the earlier one of equals."""
        if self._numpy:
            scores = (self._rows @ self._numpy.array(vector, dtype="float32")).tolist()
        else:
            scores = [sum(map(mul, row, vector)) for row in self._rows]
        return heapq.nsmallest(count, range(len(scores)), key=lambda place: (-scores[place], place))


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def _unit(vector: Sequence[float]) -> array.array[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return array.array("f", (value / length for value in vector))
