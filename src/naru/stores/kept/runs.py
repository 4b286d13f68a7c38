"""Finished runs: what was asked, each step, the answer. A thousand stay: then the oldest of whoever has most goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from naru.messages import JsonObject
from naru.stores.tables import SqliteTables, Tables

KEPT = 1000
_DAY = 86_400
_SCHEMA = """
create table if not exists runs (
    id text primary key,
    started_at integer not null,
    model text not null,
    question text not null,
    reason text not null,
    caller text not null,
    seconds real not null,
    body text not null
);
create index if not exists runs_by_time on runs (started_at desc);
"""
_SHOWN = ("id", "started_at", "model", "question", "reason", "caller", "seconds")


class RunStore:
    """Keeps traces by id; safe to use from many tasks of one loop."""

    def __init__(self, where: Path | Tables, *, days: int = 0) -> None:
        """Keep them in a file, or in tables that several hubs share; no longer than so many days, if any are named."""
        self.days = days
        self.tables: Tables = where if not isinstance(where, Path) else _in_file(where)
        self.saved: Callable[[], None] = lambda: None
        """Called after a run was kept."""
        self._table = f"{self.tables.prefix}runs"

    async def save(self, run: JsonObject) -> None:
        """Keep one run. Raises StoreError."""
        oldest = int(time.time() - self.days * _DAY) * 1000 if self.days else 0
        row = {**{key: run[key] for key in _SHOWN}, "body": json.dumps(run, ensure_ascii=False)}
        columns = ", ".join(row)
        await self.tables.run(
            (
                f"insert into {self._table} ({columns}) values ({', '.join(f':{key}' for key in row)}) "  # noqa: S608
                f"on conflict (id) do update set {', '.join(f'{key} = excluded.{key}' for key in row)}",
                row,
            ),
            (
                f"delete from {self._table} where id in (select id from {self._table} where caller = "  # noqa: S608
                f"(select caller from {self._table} group by caller order by count(*) desc, min(started_at) limit 1) "
                "order by started_at limit "
                f"(select case when count(*) > :kept then count(*) - :kept else 0 end from {self._table}))",
                {"kept": KEPT},
            ),
            (f"delete from {self._table} where started_at < :oldest", {"oldest": oldest}),  # noqa: S608
        )
        self.saved()

    async def newest(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
        text: str = "",
        caller: str | None = None,
        reason: str = "",
    ) -> Sequence[JsonObject]:
        """Return runs without their steps, newest first.

        Args:
            limit: at most so many.
            before: only runs that started before this time, in epoch milliseconds.
            after: only runs that were still going on then, or began later. A minute's figures count what ended in it.
            text: only runs with this in question or model.
            caller: only runs of this caller; None is all.
            reason: only runs that ended so; empty is all.

        Raises:
            StoreError: they cannot be read.
        """
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        wanted = {
            "started_at < :before": before,
            "started_at + 1000 * seconds >= :after": after,
            "caller = :caller": caller,
            "reason = :reason": reason or None,
            "(question like :pattern escape '\\' or model like :pattern escape '\\')": pattern if text else None,
        }
        asked = {condition: value for condition, value in wanted.items() if value is not None}
        where = f"where {' and '.join(asked)} " if asked else ""
        values = {"before": before, "after": after, "caller": caller, "reason": reason, "pattern": pattern}
        rows = await self.tables.run(
            (
                f"select {', '.join(_SHOWN)} from {self._table} {where}"  # noqa: S608  # constants only
                "order by started_at desc limit :limit",
                {**values, "limit": limit},
            )
        )
        return [dict(zip(_SHOWN, row, strict=True)) for row in rows]

    async def get(self, run_id: str) -> JsonObject | None:
        """Return a whole run, or None. Raises StoreError."""
        rows = await self.tables.run((f"select body from {self._table} where id = :id", {"id": run_id}))  # noqa: S608
        body: JsonObject | None = json.loads(rows[0][0]) if rows else None
        return body


def _in_file(path: Path) -> Tables:
    what = "The runs cannot be kept or read"
    return SqliteTables(path, _SCHEMA, what=what, else_do="A damaged file can be moved away: runs then begin anew.")
