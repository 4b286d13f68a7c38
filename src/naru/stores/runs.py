"""Finished runs, kept in SQLite: what was asked, each step, the answer. The newest thousand stay."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from naru.messages import JsonObject
from naru.stores.unusable import unusable

KEPT = 1000
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
pragma user_version = 1;
"""
_VERSION = 1


class RunStore:
    """Keeps traces by id; safe to use from many tasks of one loop."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._lock = asyncio.Lock()

    async def save(self, run: JsonObject) -> None:
        """Keep one run. Raises StoreError."""
        await self._work(self._save, run)

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
            after: only runs that started then or later.
            text: only runs with this in question or model.
            caller: only runs of this caller; None is all.
            reason: only runs that ended so; empty is all.

        Raises:
            StoreError: the file cannot be read.
        """
        found: Sequence[JsonObject] = await self._work(
            self._list,
            {"limit": limit, "before": before, "after": after, "caller": caller, "reason": reason, "text": text},
        )
        return found

    async def get(self, run_id: str) -> JsonObject | None:
        """Return a whole run, or None. Raises StoreError."""
        found: JsonObject | None = await self._work(self._get, run_id)
        return found

    async def _work(self, function: Any, *arguments: Any) -> Any:
        async with self._lock:
            try:
                return await asyncio.to_thread(function, *arguments)
            except (sqlite3.Error, OSError) as error:
                raise unusable(
                    self.path,
                    error,
                    what="The runs cannot be kept or read",
                    else_do="A damaged file can be moved away: runs then begin anew.",
                ) from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self.path, timeout=10)
        version = connection.execute("pragma user_version").fetchone()[0]
        if version > _VERSION:
            connection.close()
            raise sqlite3.DatabaseError(f"it was written by a newer Naru (version {version})")
        if version < _VERSION:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(_SCHEMA)
            self.path.chmod(0o600)
        return connection

    def _save(self, run: JsonObject) -> None:
        row = [run[key] for key in ("id", "started_at", "model", "question", "reason", "caller", "seconds")]
        with closing(self._connect()) as connection, connection:
            connection.execute(
                "insert or replace into runs values (?, ?, ?, ?, ?, ?, ?, ?)",
                [*row, json.dumps(run, ensure_ascii=False)],
            )
            connection.execute(
                "delete from runs where id in (select id from runs order by started_at desc limit -1 offset ?)", [KEPT]
            )

    def _list(self, wanted: dict[str, Any]) -> list[JsonObject]:
        text: str = wanted.pop("text")
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        statement = (
            "select id, started_at, model, question, reason, caller, seconds from runs "
            "where (:before is null or started_at < :before) and (:after is null or started_at >= :after) "
            "and (:caller is null or caller = :caller) "
            "and (:reason = '' or reason = :reason) "
            "and (question like :pattern escape '\\' or model like :pattern escape '\\') "
            "order by started_at desc limit :limit"
        )
        values = {**wanted, "pattern": pattern}
        with closing(self._connect()) as connection:
            cursor = connection.execute(statement, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _get(self, run_id: str) -> JsonObject | None:
        with closing(self._connect()) as connection:
            found = connection.execute("select body from runs where id = ?", [run_id]).fetchone()
        body: JsonObject | None = json.loads(found[0]) if found else None
        return body
