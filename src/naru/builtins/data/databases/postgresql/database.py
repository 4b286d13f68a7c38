"""The database as the tool sees it: opened lazily, proven once, pooled, back after an outage (R-22, R-23)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from naru.builtins.data.databases.database import Limits, QueryResult
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError, stopped
from naru.builtins.data.databases.numbers import unique_names
from naru.builtins.data.databases.postgresql.bounded import OverdueError, SilentDatabaseError, bounded
from naru.builtins.data.databases.postgresql.columns import ResultColumn
from naru.builtins.data.databases.postgresql.errors import query_error, unreachable
from naru.builtins.data.databases.postgresql.guard import GENERIC_PLANS, PREPARE_GUARD
from naru.builtins.data.databases.postgresql.selftest import Proof, prove_read_only
from naru.builtins.data.databases.postgresql.statement import Statement, read_statement
from naru.builtins.data.databases.postgresql.transaction import RawRows, run_read_only
from naru.builtins.data.databases.postgresql.values import records

POOL_MIN, POOL_MAX = 5, 20
"""The seed's pool (D3)."""
CONNECT_SECONDS = 2.5
PATIENCE_SECONDS = 1.5
"""A query that takes longer makes us ask whether the database is still there."""
GRACE_SECONDS = 1.0
"""Time beyond the statement's own limit; then the server is stuck, and its connection is cut."""
_SERVER_REFUSES = ("FATAL", "치명적오류")
"""In a failed connection: the server itself answered, if only that it has too many connections."""
RETRY_SECONDS = 0.5
"""After a failed connection, calls within this time share its error instead of trying again."""


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """What may be run, and how much of it."""

    limits: Limits = field(default_factory=Limits)
    allowed_functions: frozenset[str] = frozenset()
    allow_superuser: bool = False
    pool_min: int = POOL_MIN
    pool_max: int = POOL_MAX


class Database:
    """Read-only access to one PostgreSQL database.

    Args:
        parameters: gives libpq's connection parameters; called at each start, so an embedded server may come up then.
        options: limits and exceptions.
    """

    def __init__(
        self, parameters: Callable[[], Awaitable[Mapping[str, str]]], options: DatabaseOptions | None = None
    ) -> None:
        self._parameters_of = parameters
        self._parameters: Mapping[str, str] = {}
        self._options = options or DatabaseOptions()
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._failure: tuple[float, DatabaseUnavailableError] | None = None
        self._probe: asyncio.Task[bool] | None = None
        self._type_names: dict[int, str] = {}
        self.proof: Proof | None = None
        """What the self-test found; None before the first connection."""

    async def query(self, sql: str) -> QueryResult:
        """Run one SELECT within the limits.

        Raises:
            RefusedStatementError: it is not one that only reads.
            QueryError: the server refused it or it took too long or gave too much.
            DatabaseUnavailableError: no connection, or none free.
        """
        statement = read_statement(sql)
        raw, types = await self._run(statement)
        return self._result(statement.text, raw, types)

    async def close(self) -> None:
        """Close the pool."""
        if self._probe:
            self._probe.cancel()
        if self._pool:
            await self._pool.close(timeout=2)
            self._pool = None

    def _result(self, sql: str, raw: RawRows, types: Sequence[str]) -> QueryResult:
        limits = self._options.limits
        texts = [text for text in raw.texts[: limits.rows] if text is not None]
        if raw.texts and not texts:
            raise QueryError(
                f"The first row alone has {raw.first_size} bytes; at most {limits.bytes} are returned.",
                remedy="Ask for fewer columns, or for a part with left(column, 1000).",
            )
        names = unique_names([column.name for column in raw.columns])
        return QueryResult(
            sql=sql,
            columns=[{"name": name, "type": type_} for name, type_ in zip(names, types, strict=True)],
            records=records(texts, raw.columns),
            is_truncated=len(texts) < len(raw.texts),
        )

    async def _run(self, statement: Statement) -> tuple[RawRows, list[str]]:
        """Run on a pooled connection; when it had died the read is done once more on one made after that.

        Another of the pool may have been killed by the same stroke without having died yet.
        """
        for is_last in (False, True):
            pool = await self._open_pool()
            seconds = self._limits().statement_seconds
            try:
                async with self._new_connection() if is_last else self._connection(pool) as connection:
                    work = self._run_on(connection, statement)
                    return await bounded(
                        connection,
                        work,
                        seconds=seconds + GRACE_SECONDS,
                        patience=PATIENCE_SECONDS,
                        is_alive=self._is_alive,
                    )
            except OverdueError as error:
                raise stopped(seconds) from error
            except SilentDatabaseError as error:
                raise DatabaseUnavailableError(
                    "PostgreSQL stopped answering while the query ran; the connection was cut.",
                    remedy="Check the database and the network to it; the next call tries again.",
                ) from error
            except psycopg.Error as error:
                if not _has_lost_connection(error):
                    raise query_error(error, statement_seconds=seconds) from error
                if is_last:
                    raise unreachable(error, self._parameters) from error
                await pool.check()
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _connection(self, pool: AsyncConnectionPool[AsyncConnection[Any]]) -> AsyncIterator[AsyncConnection[Any]]:
        """Take a connection; a short wait in vain first makes sure that the database is there at all."""
        wait = self._options.limits.wait_seconds
        patience = min(PATIENCE_SECONDS, wait)
        try:
            connection = await pool.getconn(patience)
        except PoolTimeout:
            await self._grow_back(pool)
            try:
                connection = await pool.getconn(max(wait - patience, patience))
            except PoolTimeout as error:
                raise DatabaseUnavailableError(
                    f"All {self._options.pool_max} connections were busy for {wait:g} seconds.",
                    remedy="Try again in a moment.",
                ) from error
        try:
            async with connection:
                yield connection
        finally:
            await pool.putconn(connection)

    @asynccontextmanager
    async def _new_connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        async with await self._connect() as connection:
            await self._configure(connection)
            yield connection

    async def _grow_back(self, pool: AsyncConnectionPool[AsyncConnection[Any]]) -> None:
        """Raise when the database is gone; else replace the connections that an outage took."""
        async with await self._connect():
            pass
        await pool.resize(self._options.pool_min, self._options.pool_max)

    async def _run_on(self, connection: AsyncConnection[Any], statement: Statement) -> tuple[RawRows, list[str]]:
        allowed = self._options.allowed_functions
        may_keep = not self._is_pooled()
        raw = await run_read_only(connection, statement, self._limits(), allowed=allowed, is_prepared=may_keep)
        return raw, [await self._type_name(connection, column) for column in raw.columns]

    async def _open_pool(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        """Return the pool; the first call connects once, runs the self-test and opens it."""
        if self._pool:
            return self._pool
        async with self._opening:
            if self._pool:
                return self._pool
            if self._failure and time.monotonic() - self._failure[0] < RETRY_SECONDS:
                raise self._failure[1]
            self._parameters = await self._parameters_of()
            async with await self._connect() as connection:
                options = self._options
                try:
                    self.proof = await prove_read_only(
                        connection, allow_superuser=options.allow_superuser, allowed=options.allowed_functions
                    )
                except psycopg.OperationalError as error:
                    raise self._failed(unreachable(error, self._parameters)) from error
            pool = AsyncConnectionPool(
                self._conninfo(),
                kwargs={"autocommit": True},
                min_size=options.pool_min,
                max_size=options.pool_max,
                timeout=options.limits.wait_seconds,
                reconnect_timeout=2,  # then given up, so that the next call starts afresh without a long back-off
                configure=self._configure,
                open=False,
            )
            await pool.open()
            self._pool = pool
            return pool

    async def _connect(self) -> AsyncConnection[Any]:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await AsyncConnection.connect(self._conninfo(), autocommit=True)
        except TimeoutError as error:
            reason = TimeoutError(f"no answer within {CONNECT_SECONDS} seconds")
            raise self._failed(unreachable(reason, self._parameters)) from error
        except psycopg.OperationalError as error:
            raise self._failed(unreachable(error, self._parameters)) from error

    def _failed(self, error: DatabaseUnavailableError) -> DatabaseUnavailableError:
        self._failure = (time.monotonic(), error)
        return error

    async def _is_alive(self) -> bool:
        """Ask on a connection of its own whether the database answers; callers share one question."""
        if not self._probe or self._probe.done():
            self._probe = asyncio.create_task(self._answers())  # owned here, cancelled by close
        return await asyncio.shield(self._probe)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                async with await AsyncConnection.connect(self._conninfo(), autocommit=True) as connection:
                    await connection.execute("SELECT 1", prepare=False)
        except psycopg.OperationalError as error:
            return any(word in str(error) for word in _SERVER_REFUSES)
        except TimeoutError:
            return False
        return True

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        """Prepare the guard on a new connection, unless a pooler would hand it to others."""
        if not self._is_pooled():
            await connection.execute(GENERIC_PLANS, prepare=False)
            await connection.execute(PREPARE_GUARD.encode(), prepare=False)

    def _is_pooled(self) -> bool:
        return self.proof is None or self.proof.is_pooled

    def _conninfo(self) -> str:
        fixed = {"client_encoding": "UTF8", "application_name": "naru", "connect_timeout": "3"}
        return make_conninfo("", **{**self._parameters, **fixed})

    def _limits(self) -> Limits:
        """Return the limits, the statement's time never above the role's own."""
        limits = self._options.limits
        role_ms = self.proof.statement_timeout_ms if self.proof else 0
        if not role_ms or role_ms >= limits.statement_seconds * 1000:
            return limits
        return Limits(limits.rows, limits.bytes, role_ms / 1000, limits.wait_seconds)

    async def _type_name(self, connection: AsyncConnection[Any], column: ResultColumn) -> str:
        """Name a column's type; one that PostgreSQL does not ship is looked up once."""
        known = connection.adapters.types.get(column.type_code)
        if known:
            return known.get_type_display(oid=column.type_code, fmod=column.modifier)
        if column.type_code not in self._type_names:
            asked = "SELECT pg_catalog.format_type(%s::oid, NULL)"
            found = await (await connection.execute(asked, [column.type_code], prepare=False)).fetchone()
            self._type_names[column.type_code] = found[0] if found else str(column.type_code)
        return self._type_names[column.type_code]


def _has_lost_connection(error: psycopg.Error) -> bool:
    """Tell the end of a connection from an error of the query."""
    return (
        isinstance(error, psycopg.OperationalError)
        and (error.sqlstate or "08000")[:2] in {"08", "57"}
        and (error.sqlstate != "57014")
    )
