"""The seam to whatever keeps server records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from naru.errors import ConflictError
from naru.records import ServerRecord
from naru.stores.formats.shapes import Problem


class Store(Protocol):
    """Keeps server records, by unique name (H7). Nothing acknowledged is ever lost."""

    async def open(self) -> None:
        """Make ready: create or migrate what is needed.

        Raises:
            StoreUnavailableError: it cannot be reached just now; every later use tries again (R-22).
            StoreError: it cannot be used.
        """
        ...

    async def list(self) -> Sequence[ServerRecord]:
        """Return all records in order of creation."""
        ...

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return the record of that name, or None."""
        ...

    async def save(self, record: ServerRecord) -> None:
        """Add a record. Raises ConflictError when the name is taken."""
        ...

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Replace the record of that name. Raises NotFoundError, or ConflictError when it changed meanwhile."""
        ...

    async def delete(self, name: str) -> bool:
        """Remove a record; tell whether there was one."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...

    async def version(self) -> object:
        """Return a value that differs whenever someone may have changed something. Raises StoreError."""
        ...

    def problems(self) -> Sequence[Problem]:
        """Return the entries that cannot be used, and why; they cost the others nothing."""
        ...


def name_taken(name: str) -> ConflictError:
    """Make the error of a store that has a record of that name."""
    return ConflictError(
        f"A server named {name!r} is registered already.", remedy="Choose another name, or remove or change that one."
    )


def changed_meanwhile(name: str) -> ConflictError:
    """Make the error of a store whose record is newer than the caller's."""
    return ConflictError(f"Server {name!r} was changed meanwhile.", remedy="Read it again and retry.")
