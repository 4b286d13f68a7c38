"""PostgreSQL for the store: a small pool, opened once the database is there; numbered migrations under one lock."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from naru.errors import ConflictError, StoreError, StoreUnavailableError
from naru.stores.migrations import load_migrations
from naru.tasks import Tasks

POOL_SECONDS = 5.0
"""How long a statement waits for a connection before the database counts as not reachable (R-23)."""
START_SECONDS = 2.5
"""How long one attempt to reach a database that was never reached may take: the hub's start waits for it (R-22)."""
RETRY_SECONDS = 1.0
"""How long the outcome of a failed attempt counts for those who ask next."""
STATEMENT_MS = 5_000
ANSWER_SECONDS = 6.0
"""How long a statement takes at most in all: a database that hangs cannot say itself that it is too late (R-23)."""
LOCK_MS = 2_500
"""How long a migration waits for its turn: another hub that froze in the middle of one must hold up no start (R-22)."""
_LOCK = 0x6E617275
_WHY = re.compile(r"(?:failed:|\[Errno -?\d+\]) ([A-Z][a-z][A-Za-z ]+)")
"""What the system said, which names no host."""
_REFUSED = re.compile(r"password authentication failed|no password supplied|does not exist|no pg_hba\.conf entry")
"""What libpq says, without a SQLSTATE, of a database that is there and does not let us in."""
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")


class PostgresDriver:
    """Statements on a PostgreSQL database."""

    read_time = "(extract(epoch from {}) * 1000)::bigint"
    write_time = "(timestamp 'epoch' + {} * interval '1 millisecond')"

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: AsyncConnectionPool | None = None
        self._is_wanted = False
        self._opening = asyncio.Lock()
        self._tasks = Tasks()
        self._failed_at = 0.0
        self._failure: StoreError | None = None
        self.place = place_of(url)

    async def open(self) -> None:
        """Connect and migrate. Once this was called, every statement tries again what did not succeed (R-22).

        Raises:
            StoreUnavailableError: it cannot be reached.
            StoreError: it was written by a newer Naru, or the role may not create the table.
        """
        self._is_wanted = True
        await self._connected()

    async def _connected(self) -> AsyncConnectionPool:
        """Return the pool, after one attempt that all who wait share. Raises StoreError."""
        pool = self._pool
        if pool is not None:
            return pool
        if not self._is_wanted:
            raise StoreError("The store is not open.")
        async with self._opening:
            pool = self._pool
            if pool is not None:  # opened while this one waited
                return pool
            if self._failure is not None and time.monotonic() - self._failed_at < RETRY_SECONDS:
                raise type(self._failure)(self._failure.message, remedy=self._failure.remedy)
            try:
                self._pool = pool = await self._open_pool()
            except StoreError as error:
                self._failure, self._failed_at = error, time.monotonic()
                raise
            return pool

    async def _open_pool(self) -> AsyncConnectionPool:
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
            async with asyncio.timeout(START_SECONDS):
                first = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
            async with first:
                await self._migrate(first)
            await pool.open(wait=True, timeout=POOL_SECONDS)
        except (psycopg.Error, PoolTimeout, TimeoutError) as error:
            await pool.close()
            raise failure(self.place, error) from error
        return pool

    async def run(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run one statement. Raises ConflictError, StoreUnavailableError, StoreError."""
        pool = await self._connected()
        # In a task of its own: one that is broken off first asks the database to stop, and waits for that.
        work = self._tasks.begin(self._run(pool, _PARAMETER.sub(r"%(\1)s", statement), values))
        try:
            done, _ = await asyncio.wait({work}, timeout=ANSWER_SECONDS)
        finally:
            work.cancel()
        if not done:
            raise failure(self.place, TimeoutError())
        return work.result()

    async def _run(self, pool: AsyncConnectionPool, text: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        try:
            async with pool.connection() as connection:
                cursor = await connection.execute(text, values)
                return await cursor.fetchall() if cursor.description else ()
        except psycopg.errors.UniqueViolation as error:
            raise ConflictError(error.diag.message_primary or "The name is taken.") from error
        except (psycopg.Error, PoolTimeout) as error:
            raise failure(self.place, error) from error

    async def close(self) -> None:
        """Close the pool."""
        self._is_wanted = False
        await self._tasks.end()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _migrate(self, connection: psycopg.AsyncConnection[Any]) -> None:
        async with connection.transaction():
            await connection.execute(f"set local lock_timeout = {LOCK_MS}")
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


def place_of(url: str) -> str:
    """Return how messages name a database: without host, user and password (S-46)."""
    return f"PostgreSQL database {urlsplit(url).path.lstrip('/') or 'postgres'!r}"


def failure(place: str, error: Exception) -> StoreError:
    """Return what an error of the driver means: away, refused, or wrong."""
    is_lost = isinstance(error, psycopg.OperationalError | PoolTimeout | TimeoutError)
    if is_lost and not getattr(error, "sqlstate", None):
        refused = _REFUSED.search(str(error))
        if refused:
            return StoreError(f"The {place} refused: {refused[0]}.", remedy="Correct hub.store.")
        why = _WHY.search(str(error))
        return StoreUnavailableError(
            f"The {place} cannot be reached: {why[1]}." if why else f"The {place} cannot be reached.",
            remedy="Start it, or correct hub.store; the next request tries again.",
        )
    diagnosis = getattr(error, "diag", None)
    said = (diagnosis.message_primary if diagnosis else None) or type(error).__name__
    state = getattr(error, "sqlstate", None)
    passes = state and (state[:2] in ("08", "53", "57") or state == "55P03")  # the last: a lock is another's
    kind = StoreUnavailableError if passes else StoreError
    return kind(f"The {place} refused: {said} ({state or 'no SQLSTATE'}).")


async def _configure(connection: psycopg.AsyncConnection[Any]) -> None:
    """Set by statement, not by start-up options, which PgBouncer refuses."""
    await connection.execute(f"set statement_timeout = {STATEMENT_MS}")
    await connection.execute("set client_encoding = 'UTF8'")
    await connection.execute("set timezone = 'UTC'")
