"""PostgreSQL for the store: a small pool, opened on first use and after a loss; numbered migrations under one lock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from naru.errors import ConflictError, StoreError, StoreUnavailableError
from naru.stores.migrations import load_migrations

POOL_SECONDS = 5.0
"""How long a statement waits for a connection before the database counts as not reachable (R-23)."""
STATEMENT_MS = 5_000
_LOCK = 0x6E617275
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


class PostgresDriver:
    """Statements on a PostgreSQL database."""

    read_time = "(extract(epoch from {}) * 1000)::bigint"
    write_time = "(timestamp 'epoch' + {} * interval '1 millisecond')"

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: AsyncConnectionPool | None = None
        parts = urlsplit(url)
        self.place = f"PostgreSQL database {parts.path.lstrip('/') or 'postgres'!r}"
        """How messages name it: without host, user and password (S-46)."""

    async def open(self) -> None:
        """Connect and migrate.

        Raises:
            StoreUnavailableError: it cannot be reached.
            StoreError: it was written by a newer Naru, or the role may not create the table.
        """
        pool = AsyncConnectionPool(
            self._url,
            min_size=1,
            max_size=5,
            timeout=POOL_SECONDS,
            open=False,
            check=AsyncConnectionPool.check_connection,
            kwargs={"autocommit": True, "connect_timeout": 5},
            configure=_configure,
            name="naru-store",
        )
        try:
            async with await psycopg.AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=int(POOL_SECONDS)
            ) as connection:
                await self._migrate(connection)
            await pool.open(wait=True, timeout=POOL_SECONDS)
        except (psycopg.Error, PoolTimeout) as error:
            await pool.close()
            raise self._failed(error) from error
        self._pool = pool

    async def run(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run one statement. Raises ConflictError, StoreUnavailableError, StoreError."""
        if self._pool is None:
            raise StoreError("The store is not open.")
        text = _PARAMETER.sub(r"%(\1)s", statement)
        try:
            async with self._pool.connection() as connection:
                cursor = await connection.execute(text, values)
                return await cursor.fetchall() if cursor.description else ()
        except psycopg.errors.UniqueViolation as error:
            raise ConflictError(error.diag.message_primary or "The name is taken.") from error
        except (psycopg.Error, PoolTimeout) as error:
            raise self._failed(error) from error

    async def close(self) -> None:
        """Close the pool."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _migrate(self, connection: psycopg.AsyncConnection[Any]) -> None:
        async with connection.transaction():
            await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            await connection.execute("create table if not exists naru_schema (version int primary key, name text)")
            cursor = await connection.execute("select coalesce(max(version), 0) from naru_schema")
            row = await cursor.fetchone()
            newest = row[0] if row else 0
            steps = load_migrations("postgres")
            if newest > steps[-1].version:
                raise StoreError(
                    f"The {self.place} was written by a newer Naru: schema {newest}, this one knows "
                    f"{steps[-1].version}.",
                    remedy="Install that version; nothing was changed.",
                )
            for step in steps:
                if step.version > newest:
                    for sql in step.statements():
                        await connection.execute(sql.encode())
                    await connection.execute("insert into naru_schema values (%s, %s)", (step.version, step.name))

    def _failed(self, error: Exception) -> StoreError:
        if isinstance(error, psycopg.OperationalError | PoolTimeout) and not getattr(error, "sqlstate", None):
            return StoreUnavailableError(
                f"The {self.place} cannot be reached.",
                remedy="Start it, or correct hub.store; the next request tries again.",
            )
        diagnosis = getattr(error, "diag", None)
        said = (diagnosis.message_primary if diagnosis else None) or type(error).__name__
        state = getattr(error, "sqlstate", None)
        kind = StoreUnavailableError if state and state[:2] in ("08", "53", "57") else StoreError
        return kind(f"The {self.place} refused: {said} ({state or 'no SQLSTATE'}).")


async def _configure(connection: psycopg.AsyncConnection[Any]) -> None:
    """Set by statement, not by start-up options, which PgBouncer refuses."""
    await connection.execute(f"set statement_timeout = {STATEMENT_MS}")
    await connection.execute("set client_encoding = 'UTF8'")
    await connection.execute("set timezone = 'UTC'")
