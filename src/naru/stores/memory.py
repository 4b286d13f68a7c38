"""Records in a dict: for tests and for hubs that need no memory."""

from __future__ import annotations

from collections.abc import Sequence

from naru.errors import NotFoundError
from naru.records import ServerRecord
from naru.stores.base import changed_meanwhile, name_taken
from naru.stores.formats.shapes import Problem


class MemoryStore:
    """Keeps server records for the life of the process."""

    def __init__(self, records: Sequence[ServerRecord] = ()) -> None:
        self._records = {record.name: record for record in records}

    async def open(self) -> None:
        """Do nothing."""

    async def list(self) -> Sequence[ServerRecord]:
        """Return all records in order of creation."""
        return tuple(self._records.values())

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return the record of that name, or None."""
        return self._records.get(name)

    async def save(self, record: ServerRecord) -> None:
        """Add a record."""
        if record.name in self._records:
            raise name_taken(record.name)
        self._records[record.name] = record

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Replace the record of that name."""
        kept = self._records.get(record.name)
        if kept is None:
            raise NotFoundError(f"No server named {record.name!r} is registered.")
        if expected_updated_at is not None and kept.updated_at != expected_updated_at:
            raise changed_meanwhile(record.name)
        self._records[record.name] = record.model_copy(update={"id": kept.id, "created_at": kept.created_at})

    async def delete(self, name: str) -> bool:
        """Remove a record; tell whether there was one."""
        return self._records.pop(name, None) is not None

    async def close(self) -> None:
        """Do nothing."""

    async def version(self) -> object:
        """Return the same always: nobody else can change it."""
        return 0

    def problems(self) -> Sequence[Problem]:
        """Return nothing: what is in memory was a record."""
        return ()
