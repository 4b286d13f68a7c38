"""What SQLite, DuckDB and MySQL share: nothing is asked before the engine has proved that it is only read."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Iterable

from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.database import Checked, QueryResult
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError, UnsafeDatabaseError
from naru.builtins.data.databases.gather import with_values
from naru.builtins.data.databases.open import limits_of
from naru.builtins.data.databases.worker import Worker
from naru.config import DataSettings


class CheckedDatabase(abc.ABC):
    """The seam `Database`, without what each engine does in its own way."""

    mark = '"'
    """Stands around a name."""
    breaking: tuple[type[Exception], ...] = ()
    """Errors of the engine after which it answers no more."""

    def __init__(self, settings: DataSettings) -> None:
        self._limits = limits_of(settings)
        self._worker = Worker(self._limits)
        self._checking = asyncio.Lock()
        self._checked: Checked | None = None

    async def query(self, sql: str) -> QueryResult:
        """Run one SELECT; see `Database.query`."""
        await self.check()
        return await self._query(sql)

    async def catalogue(self, *, values: bool = True) -> Catalogue:
        """Read what the database holds; see `Database.catalogue`."""
        await self.check()
        found = await self._catalogue()
        return await with_values(found, self._query, self.mark) if values else found

    async def check(self) -> Checked:
        """Open it once, and prove that it is only read."""
        async with self._checking:
            if self._checked is None:
                self._checked = await self._prove()
            return self._checked

    @property
    def is_stuck(self) -> bool:
        """Tell whether a query does not end; then only the end of this process ends it."""
        return self._worker.is_stuck

    async def close(self) -> None:
        """End what still runs; bounded."""
        await self._worker.settle()

    @abc.abstractmethod
    async def _query(self, sql: str) -> QueryResult:
        """Judge a statement and run it."""

    @abc.abstractmethod
    async def _catalogue(self) -> Catalogue:
        """Read tables, columns, comments and keys."""

    @abc.abstractmethod
    async def _prove(self) -> Checked:
        """Try what must not work.

        Raises:
            UnsafeDatabaseError: some of it did.
        """

    async def _prove_refused(self, statements: Iterable[str], *, or_by_the_engine: bool = False) -> None:
        """Hold that each is refused before the engine runs it; where the engine itself is the judge, as it reads it."""
        for sql in statements:
            try:
                await self._query(sql)
            except RefusedStatementError:
                continue
            except QueryError as error:
                if or_by_the_engine:
                    continue
                raise UnsafeDatabaseError(f"Self-test: {sql!r} was stopped by the engine alone ({error}).") from error
            raise UnsafeDatabaseError(f"Self-test: {sql!r} was not refused.")
