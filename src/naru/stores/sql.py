"""Server records in the table `mcp_servers` (H7): plain SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import ValidationError

from naru.errors import ConflictError, NotFoundError
from naru.records import ServerRecord, describe
from naru.stores.base import changed_meanwhile, name_taken
from naru.stores.formats.shapes import Problem

logger = logging.getLogger(__name__)
Row = tuple[Any, ...]

UNDECLARED = "AUTO"
"""`transport_type` of a record that declares none; the column is not null in the seed's table."""

_FIELDS = ("id", "name", "description", "transport_type", "config", "version", "auto_connect")


class Driver(Protocol):
    """What differs between databases: how to connect, to migrate, to run a statement, to write a time."""

    read_time: str
    """SQL that turns a time column `{}` into epoch milliseconds."""
    write_time: str
    """SQL that turns epoch milliseconds `{}` into a time column's value."""

    async def open(self) -> None:
        """Connect and migrate. Raises StoreError."""
        ...

    async def run(self, statement: str, values: Mapping[str, Any]) -> Sequence[Row]:
        """Run one statement with `:name` parameters and return its rows.

        Raises:
            ConflictError: a unique name is taken.
            StoreError: anything else.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class SqlStore:
    """Keeps server records in a database."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._problems: tuple[Problem, ...] = ()
        read, write = driver.read_time.format, driver.write_time.format
        columns = ", ".join(_FIELDS)
        chosen = f"{columns}, {read('created_at')}, {read('updated_at')}"
        self._list_all = f"select {chosen} from mcp_servers order by created_at, name"  # noqa: S608  # constants only
        self._find = f"select {chosen} from mcp_servers where name = :name"  # noqa: S608  # constants only
        self._insert = (
            f"insert into mcp_servers ({columns}, created_at, updated_at) "  # noqa: S608  # constants only
            f"values ({', '.join(':' + field for field in _FIELDS)}, {write(':created_at')}, {write(':updated_at')}) "
            "returning id"
        )
        settings = ", ".join(f"{field} = :{field}" for field in _FIELDS if field not in ("id", "name"))
        self._replace = (
            f"update mcp_servers set {settings}, updated_at = {write(':updated_at')} "  # noqa: S608  # constants only
            f"where name = :name and (:any_version or {read('updated_at')} = :expected) returning id"
        )

    async def open(self) -> None:
        """Connect and migrate. Raises StoreError."""
        await self.driver.open()

    async def list(self) -> Sequence[ServerRecord]:
        """Return all usable records in order of creation; `problems` tells about the others."""
        records: list[ServerRecord] = []
        problems: list[Problem] = []
        for row in await self.driver.run(self._list_all, {}):
            outcome = _read(row)
            if isinstance(outcome, ServerRecord):
                records.append(outcome)
            else:
                problems.append(outcome)
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s: %s", problem.place, problem.reason)
        self._problems = tuple(problems)
        return records

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return the record of that name, or None."""
        rows = await self.driver.run(self._find, {"name": name})
        outcome = _read(rows[0]) if rows else None
        return outcome if isinstance(outcome, ServerRecord) else None

    async def save(self, record: ServerRecord) -> None:
        """Add a record. Raises ConflictError, StoreError."""
        try:
            await self.driver.run(self._insert, {**_values(record), "created_at": record.created_at})
        except ConflictError as error:
            raise name_taken(record.name) from error

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Replace the record of that name; `id` and the time of creation stay. Raises NotFoundError, ConflictError."""
        values = _values(record)
        del values["id"]
        versions = {"any_version": expected_updated_at is None, "expected": expected_updated_at or 0}
        if await self.driver.run(self._replace, {**values, **versions}):
            return
        if not await self.driver.run("select 1 from mcp_servers where name = :name", {"name": record.name}):
            raise NotFoundError(f"No server named {record.name!r} is registered.")
        raise changed_meanwhile(record.name)

    async def delete(self, name: str) -> bool:
        """Remove a record; tell whether there was one."""
        return bool(await self.driver.run("delete from mcp_servers where name = :name returning id", {"name": name}))

    async def close(self) -> None:
        """Let go of the connections."""
        await self.driver.close()

    async def version(self) -> object:
        """Return a hash of all rows. Raises StoreError."""
        rows = await self.driver.run(self._list_all, {})
        return hashlib.sha256(repr(list(rows)).encode()).digest()

    def problems(self) -> Sequence[Problem]:
        """Return the rows that cannot be used, and why, as of the last `list`."""
        return self._problems


def _values(record: ServerRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "description": record.description,
        "transport_type": record.transport_type.value if record.transport_type else UNDECLARED,
        "config": json.dumps(record.config, ensure_ascii=False),
        "version": record.version,
        "auto_connect": record.auto_connect,
        "updated_at": record.updated_at,
    }


def _read(row: Row) -> ServerRecord | Problem:
    place = f"mcp_servers.{row[1]}"
    try:
        return ServerRecord(
            id=row[0],
            name=row[1],
            description=row[2],
            transport_type=None if row[3] == UNDECLARED else row[3],
            config=json.loads(row[4]),
            version=row[5],
            auto_connect=bool(row[6]),
            created_at=int(row[7]),
            updated_at=int(row[8]),
        )
    except ValidationError as error:
        return Problem(place, "; ".join(describe(error)))
    except ValueError as error:
        return Problem(place, f"config is not JSON: {error}")
