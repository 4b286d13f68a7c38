"""SQLite for the store: one connection on one thread, write-ahead log, every acknowledged change on the disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from naru.errors import ConflictError, StoreError
from naru.stores.files.atomic import HAD_SECONDS, wait_a_moment
from naru.stores.files.unusable import unusable
from naru.stores.files.write_ahead import patiently, write_ahead
from naru.stores.migrations import load_migrations


class SqliteDriver:
    """One SQLite file; `None` keeps it in memory."""

    read_time = "{}"
    write_time = "{}"

    def __init__(self, path: Path | None) -> None:
        self.path = path.expanduser().absolute() if path else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="naru-sqlite")
        self._connection: sqlite3.Connection | None = None
        self._changed_at = -HAD_SECONDS

    async def open(self) -> None:
        """Open or create the file, check it, migrate it, and keep a copy as `NAME.bak`. Raises StoreError."""
        await self._on_thread(self._open)

    async def run(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run one statement. Raises ConflictError, StoreError."""
        rows: Sequence[tuple[Any, ...]] = await self._on_thread(self._run, statement, values)
        return rows

    async def close(self) -> None:
        """Close the file."""
        await self._on_thread(self._close)
        self._thread.shutdown(wait=False)

    async def _on_thread(self, work: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _open(self) -> None:
        if self._connection is not None:
            return
        try:
            if self.path:
                self._prepare_file(self.path)
            connection = sqlite3.connect(self.path or ":memory:", timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise unusable(self.path or Path(":memory:"), error, what="The store cannot be opened") from error
        try:
            write_ahead(connection)
            connection.execute("pragma synchronous = full")
            found = patiently(lambda: connection.execute("pragma quick_check").fetchone()[0])
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            self._migrate(connection)
            self._copy(connection)
        except sqlite3.Error as error:
            connection.close()
            raise StoreError(f"{self.path} cannot be used: {error}.", remedy=self._remedy()) from error
        except StoreError:
            connection.close()
            raise
        self._connection = connection

    def _prepare_file(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        backup = self._backup(path)
        if path.exists() and path.stat().st_size == 0 and backup.exists():
            raise StoreError(f"{path} is empty, and its backup is not.", remedy=self._remedy())
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))

    @staticmethod
    def _backup(path: Path) -> Path:
        return path.with_name(f"{path.name}.bak")

    def _remedy(self) -> str:
        if self.path and self._backup(self.path).exists():
            return f"Nothing was changed. To go back to the last good copy: cp {self._backup(self.path)} {self.path}"
        return "Nothing was changed. Move it away to start with an empty store."

    def _migrate(self, connection: sqlite3.Connection) -> None:
        patiently(lambda: connection.execute("begin immediate"))
        try:
            connection.execute("create table if not exists naru_schema (version integer primary key, name text)")
            newest = connection.execute("select coalesce(max(version), 0) from naru_schema").fetchone()[0]
            steps = load_migrations("sqlite")
            if newest > steps[-1].version:
                raise StoreError(
                    f"{self.path} was written by a newer Naru: schema {newest}, this one knows {steps[-1].version}.",
                    remedy="Install that version; nothing was changed.",
                )
            for step in steps:
                if step.version > newest:
                    for statement in step.statements():
                        connection.execute(statement)
                    connection.execute("insert into naru_schema values (?, ?)", (step.version, step.name))
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise

    def _copy(self, connection: sqlite3.Connection) -> None:
        """Keep the state of this start beside the file; a start without it is better than none."""
        if self.path is None:
            return
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        with contextlib.suppress(OSError, sqlite3.Error):
            os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
            with contextlib.closing(sqlite3.connect(temporary)) as target:
                target.execute("pragma synchronous = off")  # a copy may be lost in a crash; the start does not wait
                connection.backup(target)
            temporary.replace(self._backup(self.path))
        temporary.unlink(missing_ok=True)

    def _run(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        connection = self._connection
        if connection is None:
            raise StoreError("The store is not open.")
        changes = not statement.startswith("select")
        if changes and time.monotonic() - self._changed_at < HAD_SECONDS:
            wait_a_moment()  # as with the lock of a file: others get their turn, else a busy writer starves them
        try:
            return patiently(lambda: connection.execute(statement, dict(values)).fetchall())
        except sqlite3.IntegrityError as error:
            raise ConflictError(str(error)) from error
        except sqlite3.Error as error:
            raise StoreError(
                f"Cannot use {self.path}: {error}. Nothing was changed.",
                remedy="Make room, or make the file writable, then try again.",
            ) from error
        finally:
            if changes:
                self._changed_at = time.monotonic()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
