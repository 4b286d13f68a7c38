"""A store whose changes are written down before they are made: for commands, which no gate sees.

What the store is going to refuse is no change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from naru.records import ServerRecord
from naru.stores.base import Store
from naru.stores.formats.shapes import Problem

Note = Callable[..., None]
"""Gets what happens and facts about it; blocks until the disk has it. Raises StoreError."""


class AuditedStore:
    """Passes everything on to another store; see `naru.stores.base.Store`."""

    def __init__(self, inner: Store, note: Note) -> None:
        self._inner = inner
        self._note = note

    async def open(self) -> None:
        """Open the inner store."""
        await self._inner.open()

    async def close(self) -> None:
        """Close the inner store."""
        await self._inner.close()

    async def list(self) -> Sequence[ServerRecord]:
        """Return all records."""
        return await self._inner.list()

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return a record, or None."""
        return await self._inner.find_by_name(name)

    async def version(self) -> object:
        """Return the inner store's."""
        return await self._inner.version()

    def problems(self) -> Sequence[Problem]:
        """Return the entries that cannot be used."""
        return self._inner.problems()

    async def save(self, record: ServerRecord) -> None:
        """Write it down, then keep the record."""
        if await self._inner.find_by_name(record.name) is None:
            await self._told("server.added", record.name)
        await self._inner.save(record)

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Write it down, then replace the record."""
        kept = await self._inner.find_by_name(record.name)
        if kept is not None and expected_updated_at in (None, kept.updated_at):
            await self._told("server.changed", record.name)
        await self._inner.update(record, expected_updated_at=expected_updated_at)

    async def delete(self, name: str) -> bool:
        """Write it down, then remove the record."""
        if await self._inner.find_by_name(name) is not None:
            await self._told("server.removed", name)
        return await self._inner.delete(name)

    async def _told(self, what: str, server: str) -> None:
        await asyncio.to_thread(self._note, what, server=server)
