"""Figures over time, kept in SQLite over restarts: sums by minute, quarter of an hour and hour (N24).

Each resolution has its own rows: a view of a week reads hours and never a minute, so that what it costs does not grow
with what is kept.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import orjson

from naru.errors import StoreError
from naru.stores.files.unusable import unusable

STEPS = {60: 2 * 86_400, 900: 15 * 86_400, 3600: 400 * 86_400}
"""Seconds that one row sums up → seconds that such rows are kept."""
Found = TypeVar("Found")
_SCHEMA = """
create table if not exists figures (
    step integer not null,
    at integer not null,
    name text not null,
    labels text not null,
    count integer not null,
    total real not null,
    buckets text not null,
    primary key (step, at, name, labels)
) without rowid;
pragma user_version = 1;
"""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Point:
    """What one series gained within one step."""

    at: int
    """Beginning of the step, in epoch seconds."""
    name: str
    labels: tuple[str, ...]
    count: int
    total: float
    buckets: Sequence[int]


class History:
    """Keeps sums of figures; safe to use from many tasks of one loop."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._lock = asyncio.Lock()

    async def add(self, gained: Sequence[Point]) -> None:
        """Add what series gained to their steps; `at` is the moment. Raises StoreError."""
        async with self._lock:
            await self._work(lambda: self._add(gained))

    async def read(self, step: int, since: int) -> Sequence[Point]:
        """Return the points of one resolution from `since` (epoch seconds) on, in order of time. Raises StoreError."""
        async with self._lock:
            return await self._work(lambda: self._read(step, since))

    async def _work(self, work: Callable[[], Found]) -> Found:
        try:
            return await asyncio.to_thread(work)
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error, what="The figures cannot be kept or read") from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self.path, timeout=10)
        version = connection.execute("pragma user_version").fetchone()[0]
        if version > _VERSION:
            connection.close()
            raise StoreError(
                f"{self.path} was written by a newer Naru (version {version}).",
                remedy="Run that one, or move the file away: figures then begin anew.",
            )
        if version < _VERSION:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            connection.executescript(_SCHEMA)
            self.path.chmod(0o600)
        return connection

    def _add(self, gained: Sequence[Point]) -> None:
        with closing(self._connect()) as connection, connection:
            connection.execute("begin immediate")  # what is added to was read by no other process meanwhile
            for step, kept in STEPS.items():
                for point in gained:
                    _put(connection, step, point)
                if gained:
                    connection.execute("delete from figures where step = ? and at < ?", [step, gained[0].at - kept])

    def _read(self, step: int, since: int) -> Sequence[Point]:
        with closing(self._connect()) as connection:
            rows = connection.execute(
                "select at, name, labels, count, total, buckets from figures where step = ? and at >= ? order by at",
                [step, since - since % step],
            )
            # The same series comes in every step: its labels are read once.
            known = cache(lambda labels: tuple(orjson.loads(labels)))
            return [
                Point(at, name, known(labels), count, total, orjson.loads(buckets))
                for at, name, labels, count, total, buckets in rows
            ]


def _put(connection: sqlite3.Connection, step: int, point: Point) -> None:
    key = [step, point.at - point.at % step, point.name, json.dumps(point.labels, ensure_ascii=False)]
    found = connection.execute(
        "select count, total, buckets from figures where step = ? and at = ? and name = ? and labels = ?", key
    ).fetchone()
    count, total, before = found or (0, 0.0, "[]")
    buckets = _sum(json.loads(before), point.buckets)
    connection.execute(
        "insert or replace into figures values (?, ?, ?, ?, ?, ?, ?)",
        [*key, count + point.count, total + point.total, json.dumps(buckets)],
    )


def _sum(one: Iterable[int], other: Sequence[int]) -> list[int]:
    before = list(one) or [0] * len(other)
    return [left + right for left, right in zip(before, other, strict=False)]
