"""The seam to a database: one SELECT in, rows out; and its catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from naru.builtins.data.databases.catalogue import Catalogue
from naru.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may take (S-45)."""

    rows: int = 1_000
    bytes: int = 1_048_576
    statement_seconds: float = 10.0
    wait_seconds: float = 5.0
    """Wait for a free connection of the pool."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of one query, ready for JSON."""

    sql: str
    columns: list[dict[str, str]]
    """Name and the engine's type, in order."""
    records: list[JsonObject]
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What the self-test at opening found."""

    engine: str
    """Name and version: `PostgreSQL 18`."""
    refused: int
    """Statements that were tried and refused."""
    warnings: Sequence[str] = ()


class Database(Protocol):
    """Read-only access to one database; opened at the first use."""

    @property
    def dialect(self) -> str:
        """What a writer of SQL is told to write: `PostgreSQL`, `SQLite`."""
        ...

    async def query(self, sql: str) -> QueryResult:
        """Run one SELECT, or EXPLAIN of one, within the limits.

        Raises:
            RefusedStatementError: it is not one that only reads.
            QueryError: the engine refused it, or it took too long or gave too much.
            DatabaseUnavailableError: no connection, or none free.
            UnsafeDatabaseError: the self-test found that the connection could do more than read.
        """
        ...

    async def catalogue(self, *, values: bool = True) -> Catalogue:
        """Read what the database holds: tables, columns, comments, keys; a few values. Raises as `query`."""
        ...

    async def check(self) -> Checked:
        """Open it, and say what the self-test found. Raises as `query`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
