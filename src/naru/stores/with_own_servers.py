"""Servers that a hub brings along by itself, beside those of its store: they last as long as the process."""

from __future__ import annotations

from collections.abc import Sequence

from naru.records import ServerRecord
from naru.stores.base import Store, name_taken
from naru.stores.formats.shapes import Problem
from naru.stores.memory import MemoryStore


class WithOwnServers:
    """A store with some records in front of it, which are never written into it; they hide others of their names."""

    def __init__(self, inner: Store, records: Sequence[ServerRecord]) -> None:
        self._inner = inner
        self._own = MemoryStore(records)

    async def open(self) -> None:
        """Open the store."""
        await self._inner.open()

    async def list(self) -> Sequence[ServerRecord]:
        """Return all records, those of its own first."""
        own = await self._own.list()
        names = {record.name for record in own}
        return [*own, *(record for record in await self._inner.list() if record.name not in names)]

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return the record of that name, or None."""
        return await (await self._store_of(name)).find_by_name(name)

    async def save(self, record: ServerRecord) -> None:
        """Add a record to the store."""
        if await self._own.find_by_name(record.name) is not None:
            raise name_taken(record.name)
        await self._inner.save(record)

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Replace the record of that name."""
        await (await self._store_of(record.name)).update(record, expected_updated_at=expected_updated_at)

    async def delete(self, name: str) -> bool:
        """Remove a record; one of its own is back after the next start."""
        return await (await self._store_of(name)).delete(name)

    async def close(self) -> None:
        """Close the store."""
        await self._inner.close()

    async def version(self) -> object:
        """Return the store's version."""
        return await self._inner.version()

    def problems(self) -> Sequence[Problem]:
        """Return the store's problems."""
        return self._inner.problems()

    async def _store_of(self, name: str) -> Store:
        return self._inner if await self._own.find_by_name(name) is None else self._own
