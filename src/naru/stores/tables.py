"""Rows of one kind, kept in a SQLite file of the data folder, or in a table of the database that several hubs share."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from naru.errors import StoreUnavailableError
from naru.stores.files.unusable import unusable
from naru.stores.files.write_ahead import write_ahead
from naru.stores.sql import Driver, Row

Statement = tuple[str, Mapping[str, Any]]
"""SQL with `:name` parameters, and their values."""


class Tables(Protocol):
    """Runs statements; `prefix` stands before the names of tables."""

    prefix: str

    async def run(self, *statements: Statement) -> Sequence[Row]:
        """Run statements in order and return the rows of the last. Raises StoreError."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


class SqliteTables:
    """One file, opened for each use, so that it can be moved away at any time."""

    prefix = ""

    def __init__(
        self, path: Path, schema: str, *, what: str, else_do: str = "", later: Sequence[Sequence[str]] = ()
    ) -> None:
        """Take the file, the statements that make its tables, and what people are told when it fails.

        The schema is version 1; `later` has the statements that make each version after it.
        """
        self.path = path.expanduser()
        self._schema = f"{schema}\npragma user_version = 1;"
        self._what, self._else_do, self._later = what, else_do, later
        # One thread: writes follow each other, and none of them holds up the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"naru-{path.stem}")

    async def run(self, *statements: Statement) -> Sequence[Row]:
        """Run statements in one transaction and return the rows of the last. Raises StoreError."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, statements)
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error, what=self._what, else_do=self._else_do) from error

    async def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False)

    def _run(self, statements: Sequence[Statement]) -> Sequence[Row]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self.path, timeout=10)) as connection:
            version = connection.execute("pragma user_version").fetchone()[0]
            if version > 1 + len(self._later):
                raise sqlite3.DatabaseError(f"it was written by a newer Naru (version {version})")
            if version < 1:
                write_ahead(connection)
                connection.executescript(self._schema)
                self.path.chmod(0o600)
            if version < 1 + len(self._later):
                self._upgrade(connection)
            with connection:
                rows: Sequence[Row] = ()
                for statement, values in statements:
                    rows = connection.execute(statement, values).fetchall()
                return rows

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute("begin immediate")  # another process may be at it
            version = connection.execute("pragma user_version").fetchone()[0]
            for number, statements in enumerate(self._later[version - 1 :], version + 1):
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {number}")


class SharedTables:
    """Tables of the store's own database, which its migrations made."""

    prefix = "naru_"

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def open(self) -> None:
        """Connect, if the database is there; else each use tries again."""
        with contextlib.suppress(StoreUnavailableError):
            await self._driver.open()

    async def close(self) -> None:
        """Let go of connections."""
        await self._driver.close()

    async def run(self, *statements: Statement) -> Sequence[Row]:
        """Run statements one after the other and return the rows of the last. Raises StoreError."""
        await self._driver.open()
        rows: Sequence[Row] = ()
        for statement, values in statements:
            rows = await self._driver.run(statement, {name: _plain(value) for name, value in values.items()})
        return rows


def _plain(value: Any) -> Any:
    """Return what PostgreSQL takes for text: anything but NUL."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) and "\0" in value else value
