"""Answered responses, kept for `previous_response_id` and for asking again; the oldest are forgotten."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from naru.encoding import decode, encode
from naru.messages import JsonObject
from naru.stores.tables import SqliteTables, Statement, Tables

UNDER_WAY = ("queued", "in_progress")
"""Status of a response that is still being made."""
MIB = 1024 * 1024
_DAY = 86_400
_COUNTED_BY = 64
"""What is kept is counted whenever this part of what one caller may keep has come."""
_MOST_TURNS = 1_000
_SCHEMA = """
create table if not exists responses (
    id text primary key,
    caller text not null,
    previous text,
    created_at integer not null,
    input text not null,
    response text not null
);
create index if not exists responses_by_time on responses (created_at);
"""
_SIZES = (
    "alter table responses add column size integer not null default 0",
    "update responses set size = length(cast(input as blob)) + length(cast(response as blob))",
    "create index responses_by_size on responses (created_at desc, id desc, caller, size)",
)
"""Since version 2: bytes of the texts; 0 as long as a response is being made, which is not forgotten for room."""
_COLUMNS = ("id", "caller", "previous", "created_at", "input", "response", "size")


@dataclass(frozen=True, slots=True)
class Kept:
    """A response with the input items that were sent for it."""

    response: JsonObject
    input: Sequence[JsonObject]
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is kept."""

    each: int = 256 * MIB
    """Of one caller."""
    all: int = 4096 * MIB


class ResponseStore:
    """Keeps responses by id and caller; nobody sees another's. Safe to use from many tasks of one loop."""

    def __init__(self, where: Path | Tables, *, days: int, sizes: Sizes = Sizes()) -> None:
        """Keep them for so many days, and so much of them, in a file or in tables that several hubs share."""
        self.days = days
        self._sizes = sizes
        self._uncounted = sizes.each
        self.tables: Tables = where if not isinstance(where, Path) else _in_file(where)
        self._table = f"{self.tables.prefix}responses"

    async def save(self, caller: str, kept: Kept) -> None:
        """Keep a response, on the disk when this returns. Raises StoreError."""
        response = kept.response
        written = [encode(list(kept.input)), encode(response)]
        size = 0 if response.get("status") in UNDER_WAY else sum(map(len, written))
        texts = (text.decode() for text in written)
        values = [response["id"], caller, kept.previous, response["created_at"], *texts, size]
        changed = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS if column != "id")
        await self.tables.run(
            (
                f"insert into {self._table} ({', '.join(_COLUMNS)}) "  # noqa: S608  # constants only
                f"values ({', '.join(f':{column}' for column in _COLUMNS)}) on conflict (id) do update set {changed}",
                dict(zip(_COLUMNS, values, strict=True)),
            ),
            (f"delete from {self._table} where created_at < :oldest", {"oldest": self._oldest()}),  # noqa: S608
            *self._too_much(size),
        )

    def _too_much(self, size: int) -> Sequence[Statement]:
        """Forget the oldest beyond what is kept of one caller and of all, but none that is being made.

        It looks at every row, so it waits until what came since the last time could matter.
        """
        self._uncounted += size
        if self._uncounted < self._sizes.each // _COUNTED_BY:
            return ()
        self._uncounted = 0
        newest_first = "order by created_at desc, id desc rows unbounded preceding"
        statement = (
            f"delete from {self._table} where id in (select id from (select id, size, "  # noqa: S608  # constants only
            f"cast(sum(size) over (partition by caller {newest_first}) as bigint) as own, "
            f"cast(sum(size) over ({newest_first}) as bigint) as together from {self._table}) sums "
            "where size > 0 and (own > :each or together > :together))"
        )
        return ((statement, {"each": self._sizes.each, "together": self._sizes.all}),)

    async def get(self, caller: str, response_id: str) -> Kept | None:
        """Return a caller's response. Raises StoreError."""
        rows = await self.tables.run(
            (
                f"select response, input, previous from {self._table} "  # noqa: S608  # constants only
                "where id = :id and caller = :caller and created_at >= :oldest",
                {"id": response_id, "caller": caller, "oldest": self._oldest()},
            )
        )
        return Kept(decode(rows[0][0]), decode(rows[0][1]), rows[0][2]) if rows else None

    async def conversation(self, caller: str, response_id: str) -> list[JsonObject] | None:
        """Return all items up to a response's end, oldest first; None when it is not there. Raises StoreError."""
        mine = "caller = :caller and created_at >= :oldest"  # what was deleted or forgotten takes along what is before
        rows = await self.tables.run(
            (
                f"with recursive chain (previous, input, response, turn) as ("  # noqa: S608  # constants only
                f"select previous, input, response, 1 from {self._table} where id = :id and {mine} union all "
                "select one.previous, one.input, one.response, turn + 1 "
                f"from chain join (select * from {self._table} where {mine}) one on one.id = chain.previous "
                "where turn < :most) select input, response from chain order by turn desc",
                {"id": response_id, "caller": caller, "oldest": self._oldest(), "most": _MOST_TURNS},
            )
        )
        items: list[JsonObject] = []
        for given, response in rows:
            items += decode(given)
            items += decode(response)["output"]
        return items if rows else None

    async def delete(self, caller: str, response_id: str) -> bool:
        """Forget a response; tell whether it was there. Raises StoreError."""
        statement = f"delete from {self._table} where id = :id and caller = :caller returning id"  # noqa: S608
        return bool(await self.tables.run((statement, {"id": response_id, "caller": caller})))

    def _oldest(self) -> int:
        return int(time.time()) - self.days * _DAY


def _in_file(path: Path) -> Tables:
    return SqliteTables(
        path,
        _SCHEMA,
        later=[_SIZES],
        what="The responses cannot be kept or read",
        else_do="A damaged file can be moved away, or responses left unkept: chat.keep_responses_days: 0.",
    )
