"""What keys have used of their budgets today (UTC): requests and tokens, counted in one file for all processes.

Kept for limited keys alone; one small statement each, so it is done where it is asked.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from naru.stores.unusable import unusable

DAY_SECONDS = 86_400
_KEPT_DAYS = 35
_SCHEMA = """
create table if not exists spent (
    person text not null,
    day integer not null,
    requests integer not null default 0,
    tokens integer not null default 0,
    primary key (person, day)
) without rowid;
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used today."""

    requests: int = 0
    tokens: int = 0


class Spending:
    """Counts by person and day. Use in one thread; other processes may use the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._connection: sqlite3.Connection | None = None

    def take_request(self, person: str, limit: int) -> bool:
        """Count a request unless that many were made today; tell whether it may be made. Raises StoreError."""
        if limit <= 0:
            return False
        made = self._run(
            "insert into spent (person, day, requests) values (?, ?, 1) "
            "on conflict (person, day) do update set requests = requests + 1 where requests < ? returning requests",
            (person, today(), limit),
        )
        return bool(made)

    def add_tokens(self, person: str, tokens: int) -> None:
        """Count tokens that were used. Raises StoreError."""
        self._run(
            "insert into spent (person, day, tokens) values (?, ?, ?) "
            "on conflict (person, day) do update set tokens = tokens + excluded.tokens",
            (person, today(), tokens),
        )

    def of(self, person: str) -> Spent:
        """Return what a person has used today. Raises StoreError."""
        found = self._run("select requests, tokens from spent where person = ? and day = ?", (person, today()))
        return Spent(*found[0]) if found else Spent()

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, statement: str, values: tuple[object, ...]) -> list[tuple[int, ...]]:
        try:
            if self._connection is None:
                self._connection = self._open()
            with self._connection as connection:
                return connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error, what="The budgets cannot be kept or read") from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.touch(mode=0o600)
        connection = sqlite3.connect(self.path, timeout=5, check_same_thread=False)
        connection.executescript("pragma journal_mode = wal; pragma synchronous = normal;" + _SCHEMA)
        connection.execute("delete from spent where day < ?", (today() - _KEPT_DAYS,))
        connection.commit()
        return connection


def today() -> int:
    """Return the number of the day since the epoch, in UTC."""
    return int(time.time()) // DAY_SECONDS


def seconds_to_tomorrow() -> int:
    """Return how long the day still lasts, in UTC."""
    return DAY_SECONDS - int(time.time()) % DAY_SECONDS
