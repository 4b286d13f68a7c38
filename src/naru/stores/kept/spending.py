"""What keys have used of their budgets today (UTC): requests and tokens, counted in one file for all processes.

Kept for limited keys alone; one small statement each, so it is done where it is asked, if the file is free.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from naru.errors import StoreError
from naru.stores.files.small_database import SmallDatabase
from naru.stores.shared.untold import Untold

DAY_SECONDS = 86_400
_SCHEMA = """
pragma synchronous = normal;
create table if not exists spent (
    person text not null,
    day integer not null,
    requests integer not null default 0,
    tokens integer not null default 0,
    primary key (person, day)
) without rowid;
delete from spent where day < cast(strftime('%s', 'now') as integer) / 86400 - 35;
"""


_MOST = 2**63 - 1
"""SQLite counts no further."""
_OF = "select requests, tokens from spent where person = ? and day = ?"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used today."""

    requests: int = 0
    tokens: int = 0


class Spending(Untold):
    """Counts by person and day. Use inside one event loop; other processes may use the same file."""

    def __init__(self, path: Path) -> None:
        self._database = SmallDatabase(path, _SCHEMA, what="The budgets cannot be kept or read")
        self.path = self._database.path
        self._heard: Counter[str] = Counter()
        """What is not in the file yet: whoever tells it waits for no file."""

    def heard(self, counts: Mapping[str, int]) -> None:
        """Count what another hub has counted, with the next that is asked or settled."""
        self._heard.update(counts)

    def give_back(self, person: str) -> None:
        """Take back one request: another hub answers it, and counts it."""
        self.heard({f"requests {person}": -1})
        self._tell(f"requests {person}", -1)

    async def settle(self) -> None:
        """Write down what was heard. Raises StoreError; what could not be written is tried again with the next."""
        while self._heard:
            name, count = self._heard.popitem()
            column, _, person = name.partition(" ")
            if column not in ("requests", "tokens"):
                continue
            try:
                await self._database.run_soon(
                    f"insert into spent (person, day, {column}) values (?, ?, max(0, ?)) "  # noqa: S608  # one of two
                    f"on conflict (person, day) do update set {column} = max(0, {column} + ?)",
                    (person, today(), count, count),
                )
            except StoreError:
                self._heard[name] += count
                raise

    async def take_request(self, person: str, limit: int) -> bool:
        """Count a request unless that many were made today; tell whether it may be made. Raises StoreError."""
        if limit <= 0:
            return False
        await self.settle()
        made = await self._database.run_soon(
            "insert into spent (person, day, requests) values (?, ?, 1) "
            "on conflict (person, day) do update set requests = requests + 1 where requests < ? returning requests",
            (person, today(), min(limit, _MOST)),
        )
        if made:
            self._tell(f"requests {person}", 1)
        return bool(made)

    async def add_tokens(self, person: str, tokens: int) -> None:
        """Count tokens that were used. Raises StoreError."""
        try:
            await self._database.run_soon(
                "insert into spent (person, day, tokens) values (?, ?, ?) "
                "on conflict (person, day) do update set tokens = tokens + excluded.tokens",
                (person, today(), tokens),
            )
        except asyncio.CancelledError:  # the thread counts them all the same
            self._tell(f"tokens {person}", tokens)
            raise
        self._tell(f"tokens {person}", tokens)

    def of(self, person: str) -> Spent:
        """Return what a person has used today. Raises StoreError."""
        found = self._database.run(_OF, (person, today()))
        return Spent(*found[0]) if found else Spent()

    async def of_soon(self, person: str) -> Spent:
        """Return the same without holding up others. Raises StoreError."""
        await self.settle()
        found = await self._database.run_soon(_OF, (person, today()))
        return Spent(*found[0]) if found else Spent()

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def today() -> int:
    """Return the number of the day since the epoch, in UTC."""
    return int(time.time()) // DAY_SECONDS


def seconds_to_tomorrow() -> int:
    """Return how long the day still lasts, in UTC."""
    return DAY_SECONDS - int(time.time()) % DAY_SECONDS
