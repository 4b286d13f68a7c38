"""A small SQLite file: opened at its first use, kept open, readable by its owner alone."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from naru.stores.files.unusable import unusable
from naru.stores.files.write_ahead import write_ahead

_BUSY_SECONDS = 5


class SmallDatabase:
    """Runs one statement at a time; for several threads, and beside other processes."""

    def __init__(self, path: Path | None, schema: str, *, what: str) -> None:
        """Take the file (None keeps it in memory), what is run when it is opened, and what is told when it fails."""
        self.path = Path(":memory:") if path is None else path.expanduser()
        self._is_kept = path is not None
        self._schema, self._what = schema, what
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def exists(self) -> bool:
        """Tell whether anything was ever kept."""
        return self.path.exists() if self._is_kept else self._connection is not None

    def run(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement in a transaction of its own; return its rows. Raises StoreError."""
        try:
            with self._lock, self._opened() as connection:
                return connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error, what=self._what) from error

    async def run_soon(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement as `run` does: here where nobody else is at the file, else in a thread that waits.

        Raises:
            StoreError: it could not be run.
        """
        if self._connection is not None and self._lock.acquire(blocking=False):
            try:
                return self._run_now(self._connection, statement, values)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise unusable(self.path, error, what=self._what) from error
            except (sqlite3.Error, OSError) as error:
                raise unusable(self.path, error, what=self._what) from error
            finally:
                self._lock.release()
        return await asyncio.to_thread(self.run, statement, values)

    @staticmethod
    def _run_now(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        connection.execute("pragma busy_timeout = 0")
        try:
            with connection:
                return connection.execute(statement, values).fetchall()
        finally:
            connection.execute(f"pragma busy_timeout = {_BUSY_SECONDS * 1000}")

    def copy(self, path: Path) -> None:
        """Write all of it to another file. Raises StoreError."""
        try:
            path.touch(mode=0o600)
            with closing(sqlite3.connect(path)) as copy, self._lock:
                self._opened().backup(copy)
        except (sqlite3.Error, OSError) as error:
            raise unusable(path, error, what="A copy cannot be written") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._is_kept:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self.path.touch(mode=0o600)
            connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
            write_ahead(connection)
            connection.executescript(self._schema)
            connection.commit()
            self._connection = connection
        return self._connection
