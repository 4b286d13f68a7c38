"""Conversations of the Responses API: their items in order, until nobody has touched them for the days of retention."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from naru.encoding import decode, encode
from naru.messages import JsonObject
from naru.stores.tables import SqliteTables, Statement, Tables

_DAY = 86_400
_SCHEMA = """
create table if not exists conversations (
    id text primary key,
    caller text not null,
    created_at integer not null,
    touched_at integer not null,
    metadata text not null
);
create index if not exists conversations_by_time on conversations (touched_at);
create table if not exists conversation_items (
    position integer primary key autoincrement,
    conversation text not null,
    id text not null,
    item text not null,
    unique (conversation, id)
);
"""


class ConversationStore:
    """Keeps conversations by id and caller; nobody sees another's. All methods raise StoreError."""

    def __init__(self, where: Path | Tables, *, days: int) -> None:
        """Keep them for so many days after their last use, in a file or in tables that several hubs share."""
        self.days = days
        self.tables: Tables = where if not isinstance(where, Path) else _in_file(where)
        prefix = self.tables.prefix
        self._rows, self._items = f"{prefix}conversations", f"{prefix}conversation_items"
        self._mine = f"select id from {self._rows} where id = :conversation and caller = :caller"  # noqa: S608

    async def create(self, caller: str, conversation_id: str, metadata: JsonObject, created_at: int) -> None:
        """Begin a conversation, and forget those whose time is over."""
        old = f"select id from {self._rows} where touched_at < :oldest"  # noqa: S608  # constants only
        oldest = {"oldest": int(time.time()) - self.days * _DAY}
        row = {"conversation": conversation_id, "caller": caller, "at": created_at}
        await self.tables.run(
            (f"delete from {self._items} where conversation in ({old})", oldest),  # noqa: S608  # constants only
            (f"delete from {self._rows} where touched_at < :oldest", oldest),  # noqa: S608  # constants only
            (
                f"insert into {self._rows} (id, caller, created_at, touched_at, metadata) "  # noqa: S608
                "values (:conversation, :caller, :at, :at, :metadata)",
                {**row, "metadata": encode(metadata).decode()},
            ),
        )

    async def get(self, caller: str, conversation_id: str) -> tuple[int, JsonObject] | None:
        """Return when a conversation was made, and its metadata."""
        statement = (
            f"select created_at, metadata from {self._rows} "  # noqa: S608  # constants only
            "where id = :conversation and caller = :caller and touched_at >= :oldest"
        )
        oldest = int(time.time()) - self.days * _DAY
        values = {"conversation": conversation_id, "caller": caller, "oldest": oldest}
        rows = await self.tables.run((statement, values))
        return (int(rows[0][0]), decode(rows[0][1])) if rows else None

    async def describe(self, caller: str, conversation_id: str, metadata: JsonObject) -> None:
        """Change a conversation's metadata."""
        statement = (
            f"update {self._rows} set metadata = :metadata, touched_at = :now "  # noqa: S608  # constants only
            "where id = :conversation and caller = :caller"
        )
        values = {"conversation": conversation_id, "caller": caller, "now": int(time.time())}
        await self.tables.run((statement, {**values, "metadata": encode(metadata).decode()}))

    async def delete(self, caller: str, conversation_id: str) -> None:
        """Forget a conversation and its items."""
        values = {"conversation": conversation_id, "caller": caller}
        await self.tables.run(
            (f"delete from {self._items} where conversation in ({self._mine})", values),  # noqa: S608
            (f"delete from {self._rows} where id = :conversation and caller = :caller", values),  # noqa: S608
        )

    async def add(self, caller: str, conversation_id: str, items: Sequence[JsonObject]) -> None:
        """Put items at the end, all or none; nothing where the conversation was deleted meanwhile."""
        values: JsonObject = {"conversation": conversation_id, "caller": caller, "now": int(time.time())}
        touched: Statement = (
            f"update {self._rows} set touched_at = :now where id = :conversation and caller = :caller",  # noqa: S608
            values,
        )
        if not items:
            await self.tables.run(touched)
            return
        named = {f"id{n}": item["id"] for n, item in enumerate(items)}
        written = {f"item{n}": encode(item).decode() for n, item in enumerate(items)}
        rows = ", ".join(f"(:id{n}, :item{n})" for n in range(len(items)))
        statement = (
            f"insert into {self._items} (conversation, id, item) "  # noqa: S608  # constants only
            f"select :conversation, column1, column2 from (values {rows}) added where exists ({self._mine}) "
            "on conflict (conversation, id) do nothing"
        )
        await self.tables.run(touched, (statement, {**values, **named, **written}))

    async def items(self, caller: str, conversation_id: str) -> list[JsonObject]:
        """Return a conversation's items, oldest first."""
        statement = f"select item from {self._items} where conversation in ({self._mine}) order by position"  # noqa: S608
        rows = await self.tables.run((statement, {"conversation": conversation_id, "caller": caller}))
        return [decode(row[0]) for row in rows]

    async def remove(self, caller: str, conversation_id: str, item_id: str) -> bool:
        """Take one item out; tell whether it was there."""
        statement = f"delete from {self._items} where conversation in ({self._mine}) and id = :item returning id"  # noqa: S608
        values = {"conversation": conversation_id, "caller": caller, "item": item_id}
        return bool(await self.tables.run((statement, values)))


def _in_file(path: Path) -> Tables:
    return SqliteTables(
        path,
        _SCHEMA,
        what="The conversations cannot be kept or read",
        else_do="A damaged file can be moved away: conversations then begin anew.",
    )
