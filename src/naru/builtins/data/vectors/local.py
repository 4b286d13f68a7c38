"""Vectors in one SQLite file, compared in memory: exact, and fast enough for some 50,000 documents."""

from __future__ import annotations

import array
import asyncio
import heapq
import importlib
import json
import math
import sqlite3
import threading
from collections.abc import Callable, Sequence
from operator import mul
from pathlib import Path
from typing import Any, Self, TypeVar

from naru.builtins.data.vectors.store import (
    Entry,
    Found,
    Recorded,
    VectorStoreError,
    check_made_with,
    is_left,
    missing,
    staged_name,
)
from naru.stores.files.write_ahead import write_ahead

Result = TypeVar("Result")

SCHEMA = """
CREATE TABLE IF NOT EXISTS collections (name TEXT PRIMARY KEY, embedder TEXT NOT NULL, dimension INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
  collection TEXT NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
  id TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (collection, id));
"""
MIGRATIONS = ("ALTER TABLE entries ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'",)
"""In order; `PRAGMA user_version` counts those that a file has."""
_ASKED_AT_ONCE = 500


class LocalStore:
    """One collection in a SQLite file; `path` None keeps it in memory.

    Vectors are stored with length one, as 32-bit floats, so that a dot product is the cosine.
    """

    def __init__(self, path: Path | None, collection: str) -> None:
        self._path = path
        self._collection = collection
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owns_connection = True
        self._rows: list[tuple[str, str, str]] = []
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
                metadata = json.dumps(dict(entry.metadata), ensure_ascii=False)
                rows.append((self._collection, entry.id, entry.text, _unit(entry.vector).tobytes(), metadata))
            database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", rows)
            self._loaded_version = -1

        await self._run(work)

    async def query(self, vectors: Sequence[Sequence[float]], n_results: int, *, embedder: str) -> list[list[Found]]:
        """Return the documents nearest to each vector, nearest first."""

        def work(database: sqlite3.Connection) -> list[list[Found]]:
            recorded = self._recorded(database) or self._missing(database)
            for vector in vectors:
                check_made_with(self._collection, recorded, Recorded(embedder, len(vector)))
            self._load(database, recorded.dimension)
            found = (self._matrix.nearest(_unit(vector), n_results) for vector in vectors)
            return [[self._found(place, score) for place, score in places] for places in found]

        return await self._run(work)

    async def stored(self, ids: Sequence[str], *, made_with: Recorded) -> dict[str, Entry]:
        """Return those of these documents that are there, by id; none when another model made the collection."""

        def work(database: sqlite3.Connection) -> dict[str, Entry]:
            if self._recorded(database) != made_with:
                return {}
            entries: dict[str, Entry] = {}
            for start in range(0, len(ids), _ASKED_AT_ONCE):
                part = ids[start : start + _ASKED_AT_ONCE]
                asked = "SELECT id, text, vector, metadata FROM entries WHERE collection = ? AND id IN "
                marks = f"({','.join('?' * len(part))})"
                for id_, text, vector, metadata in database.execute(asked + marks, (self._collection, *part)):
                    entries[id_] = Entry(id_, text, array.array("f", vector), json.loads(metadata))
            return entries

        return await self._run(work)

    def beside(self) -> Self:
        """Return an empty collection next to this one, in the same file."""
        other = type(self)(self._path, staged_name(self._collection))
        if self._path is None:  # in memory: the same connection is the same file
            other._connection, other._lock, other._owns_connection = self._opened(), self._lock, False
        return other

    async def sweep(self) -> None:
        """Remove what `beside` began and nobody ended."""

        def work(database: sqlite3.Connection) -> None:
            names = [name for (name,) in database.execute("SELECT name FROM collections").fetchall()]
            left = [(name,) for name in names if is_left(name, self._collection)]
            database.executemany("DELETE FROM collections WHERE name = ?", left)

        await self._run(work)

    async def take(self, other: Self) -> None:
        """Become what a collection from `beside` holds, in one transaction."""

        def work(database: sqlite3.Connection) -> None:
            name, staged = self._collection, other._collection
            database.execute("BEGIN IMMEDIATE")
            database.execute("PRAGMA defer_foreign_keys = ON")
            database.execute("DELETE FROM collections WHERE name = ?", (name,))
            database.execute("UPDATE collections SET name = ? WHERE name = ?", (name, staged))
            database.execute("UPDATE entries SET collection = ? WHERE collection = ?", (name, staged))
            self._loaded_version = -1

        await self._run(work)

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
            if self._connection and self._owns_connection:
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

    def _opened(self) -> sqlite3.Connection:
        with self._lock:
            return self._open()

    def _found(self, place: int, score: float) -> Found:
        id_, text, metadata = self._rows[place]
        return Found(id_, text, score, json.loads(metadata))

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._path:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path or ":memory:", timeout=5, check_same_thread=False)
            write_ahead(database)
            database.execute("PRAGMA foreign_keys = ON")
            database.executescript(SCHEMA)
            _migrate(database)
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
        asked = "SELECT id, text, metadata, vector FROM entries WHERE collection = ? ORDER BY id"
        rows = database.execute(asked, (self._collection,)).fetchall()
        self._rows = [(id_, text, metadata) for id_, text, metadata, _ in rows]
        self._matrix = _Matrix(b"".join(vector for *_, vector in rows), dimension)
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

    def nearest(self, vector: array.array[float], count: int) -> list[tuple[int, float]]:
        """Return the places and cosines of the nearest rows, nearest first, the earlier one of equals."""
        if self._numpy:
            scores = (self._rows @ self._numpy.array(vector, dtype="float32")).tolist()
        else:
            scores = [sum(map(mul, row, vector)) for row in self._rows]
        places = heapq.nsmallest(count, range(len(scores)), key=lambda place: (-scores[place], place))
        return [(place, scores[place]) for place in places]


def _migrate(database: sqlite3.Connection) -> None:
    """Bring a file of an earlier version up to date, one process at a time."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        for migration in MIGRATIONS[version:]:
            database.execute(migration)
        database.execute(f"PRAGMA user_version = {max(version, len(MIGRATIONS))}")


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def _unit(vector: Sequence[float]) -> array.array[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return array.array("f", (value / length for value in vector))
