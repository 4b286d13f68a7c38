"""Vectors kept on disk by what they are of, so that a start with many known tools embeds nothing."""

from __future__ import annotations

import asyncio
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from naru.errors import StoreError

_KEPT = 20_000
_AT_ONCE = 500


def file_name(embedder: str) -> str:
    """Return an embedder's name as part of a file's."""
    return "".join(one if one.isalnum() or one in "-." else "-" for one in embedder)[:80]


class VectorShelf:
    """A SQLite file; one for each embedder, since vectors of two are never compared."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get(self, keys: Sequence[str]) -> Mapping[str, list[float]]:
        """Return the vectors that are known of these keys. Raises StoreError."""
        return await asyncio.to_thread(self._get, keys)

    async def put(self, vectors: Mapping[str, list[float]]) -> None:
        """Keep vectors; the oldest go when there are too many. Raises StoreError."""
        await asyncio.to_thread(self._put, vectors)

    def _get(self, keys: Sequence[str]) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        with self._open() as database:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                asked = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - question marks alone
                found |= {key: array("f", vector).tolist() for key, vector in self._run(database, asked, some)}
        return found

    def _put(self, vectors: Mapping[str, list[float]]) -> None:
        rows = [(key, array("f", vector).tobytes()) for key, vector in vectors.items()]
        try:
            with self._open() as database, database:
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                database.execute(
                    "DELETE FROM vectors WHERE rowid NOT IN (SELECT rowid FROM vectors ORDER BY rowid DESC LIMIT ?)",
                    (_KEPT,),
                )
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _open(self) -> closing[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            database = sqlite3.connect(self._path, timeout=30)
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error
        return closing(database)

    def _run(self, database: sqlite3.Connection, statement: str, values: Sequence[str]) -> list[tuple[str, bytes]]:
        try:
            return database.execute(statement, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> StoreError:
        return StoreError(
            f"The tools' vectors in {self._path} cannot be read or written: {error}.",
            remedy="Delete the file: they are worked out anew.",
        )
