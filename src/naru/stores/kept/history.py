"""Figures over time, kept in SQLite over restarts: sums by minute, quarter of an hour, hour and day (N24).

Each resolution has its own rows: a view of a week reads hours and never a minute, and what a series came to in that
week whole days and the hours beside them, so that what a view costs does not grow with what is kept.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import orjson

from naru.errors import StoreError
from naru.stores.files.unusable import unusable
from naru.stores.files.write_ahead import write_ahead

_DAY = 86_400
STEPS = {60: 2 * _DAY, 900: 15 * _DAY, 3600: 400 * _DAY, _DAY: 400 * _DAY}
"""Seconds that one row sums up → seconds that such rows are kept."""
VIEWS = {60: 3600, 900: _DAY, 3600: 7 * _DAY}
"""Seconds of one step that is shown → seconds that are shown at most."""
Found = TypeVar("Found")
_SCHEMA = """
-- A step below zero holds what all series of a name that end in the same label, such as "ok", came to together.
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
"""
_VERSION = 2


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


Span = tuple[int, int, int | None]
"""Step, first moment, and the moment before which it ends; None: all that there is."""


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
        return await self._read([(step, since - since % step, None)])

    async def read_together(self, step: int, since: int) -> Sequence[Point]:
        """Return the same, but of all series of a name that end in the same label together, such as "ok"."""
        return await self._read([(-step, since - since % step, None)])

    async def read_sums(self, step: int, since: int) -> Sequence[Point]:
        """Return points that come to the same as those of `read`, in few rows: whole days, hours where those fit."""
        return await self._read(list(_spans(step, since - since % step, int(time.time()))))

    async def _read(self, spans: Sequence[Span]) -> Sequence[Point]:
        async with self._lock:
            return await self._work(lambda: self._found(spans))

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
            write_ahead(connection)
            connection.executescript(_SCHEMA)
            with connection:
                _bring_up(connection)
            self.path.chmod(0o600)
        connection.execute("pragma synchronous = normal")  # of this connection alone: a crash may cost the last seconds
        return connection

    def _add(self, gained: Sequence[Point]) -> None:
        with closing(self._connect()) as connection, connection:
            connection.execute("begin immediate")  # what is added to was read by no other process meanwhile
            for step, kept in STEPS.items():
                for point in gained:
                    _put(connection, step, point)
                    _put_together(connection, step, point)
                if gained:
                    old = [step, -step, gained[0].at - kept]
                    connection.execute("delete from figures where step in (?, ?) and at < ?", old)

    def _found(self, spans: Sequence[Span]) -> Sequence[Point]:
        with closing(self._connect()) as connection, connection:
            connection.execute("begin")  # all spans as they were at one moment
            return [point for span in spans for point in _points(connection, span)]


def _spans(step: int, since: int, now: int) -> Iterator[Span]:
    """Yield spans that follow each other from `since`: of each step up to where the next larger one begins anew."""
    sizes = [one for one in STEPS if one >= step]
    for size, larger in pairwise(sizes):
        edge = since + -since % larger
        if edge > now:
            yield size, since, None
            return
        yield size, since, edge
        since = edge
    yield sizes[-1], since, None


def _points(connection: sqlite3.Connection, span: Span) -> Iterator[Point]:
    rows = connection.execute(
        "select at, name, labels, count, total, buckets from figures"
        " where step = ? and at >= ? and at < ifnull(?, 1e18) order by at",
        span,
    )
    # The same series comes in every step: its labels are read once.
    known = cache(lambda labels: tuple(orjson.loads(labels)))
    for at, name, labels, count, total, buckets in rows:
        yield Point(at, name, known(labels), count, total, orjson.loads(buckets))


def _bring_up(connection: sqlite3.Connection) -> None:
    """Make of an older Naru's rows what it did not keep, as far back as a view reads."""
    connection.execute("begin immediate")
    if connection.execute("pragma user_version").fetchone()[0] == _VERSION:
        return  # another process was first
    for step, shown in VIEWS.items():
        for point in list(_points(connection, (step, int(time.time()) - shown - step, None))):
            _put_together(connection, step, point)
            if step == max(VIEWS):
                _put(connection, _DAY, point)
    connection.execute(f"pragma user_version = {_VERSION}")


def _put_together(connection: sqlite3.Connection, step: int, point: Point) -> None:
    if step in VIEWS and len(point.labels) > 1:
        _put(connection, -step, replace(point, labels=point.labels[-1:]))


def _put(connection: sqlite3.Connection, step: int, point: Point) -> None:
    key = [step, point.at - point.at % abs(step), point.name, json.dumps(point.labels, ensure_ascii=False)]
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
