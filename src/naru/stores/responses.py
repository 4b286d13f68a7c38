"""Answered responses, kept in SQLite for `previous_response_id` and for asking again; the oldest are forgotten."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson

from naru.messages import JsonObject
from naru.stores.unusable import unusable

T = TypeVar("T")
_DAY = 86_400
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
pragma user_version = 1;
"""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """A response with the input items that were sent for it."""

    response: JsonObject
    input: Sequence[JsonObject]
    previous: str | None = None


class ResponseStore:
    """Keeps responses by id and caller; nobody sees another's. Safe to use from many tasks of one loop."""

    def __init__(self, path: Path, *, days: int) -> None:
        self.path = path.expanduser()
        self.days = days
        # One thread: writes follow each other, and none of them holds up the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="naru-responses")

    async def save(self, caller: str, kept: Kept) -> None:
        """Keep a response, on the disk when this returns. Raises StoreError."""
        await self._work(lambda connection: self._save(connection, caller, kept))

    async def get(self, caller: str, response_id: str) -> Kept | None:
        """Return a caller's response. Raises StoreError."""
        return await self._work(lambda connection: self._get(connection, caller, response_id))

    async def conversation(self, caller: str, response_id: str) -> list[JsonObject] | None:
        """Return all items up to a response's end, oldest first; None when it is not there. Raises StoreError."""
        return await self._work(lambda connection: self._conversation(connection, caller, response_id))

    async def delete(self, caller: str, response_id: str) -> bool:
        """Forget a response; tell whether it was there. Raises StoreError."""

        def forget(connection: sqlite3.Connection) -> bool:
            found = connection.execute("delete from responses where id = ? and caller = ?", [response_id, caller])
            return found.rowcount > 0

        return await self._work(forget)

    async def _work(self, function: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._on_thread, function)
        except (sqlite3.Error, OSError) as error:
            raise unusable(
                self.path,
                error,
                what="The responses cannot be kept or read",
                else_do="A damaged file can be moved away, or responses left unkept: chat.keep_responses_days: 0.",
            ) from error

    def _on_thread(self, function: Callable[[sqlite3.Connection], T]) -> T:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self.path, timeout=10)) as connection:
            version = connection.execute("pragma user_version").fetchone()[0]
            if version > _VERSION:
                raise sqlite3.DatabaseError(f"it was written by a newer Naru (version {version})")
            if version < _VERSION:
                connection.execute("pragma journal_mode = wal")
                connection.executescript(_SCHEMA)
                self.path.chmod(0o600)
            with connection:
                return function(connection)

    def _save(self, connection: sqlite3.Connection, caller: str, kept: Kept) -> None:
        response = kept.response
        written = [orjson.dumps(list(kept.input)).decode(), orjson.dumps(response).decode()]
        row = [response["id"], caller, kept.previous, response["created_at"], *written]
        connection.execute("insert or replace into responses values (?, ?, ?, ?, ?, ?)", row)
        connection.execute("delete from responses where created_at < ?", [int(time.time()) - self.days * _DAY])

    def _get(self, connection: sqlite3.Connection, caller: str, response_id: str) -> Kept | None:
        found = connection.execute(
            "select response, input, previous from responses where id = ? and caller = ? and created_at >= ?",
            [response_id, caller, int(time.time()) - self.days * _DAY],
        ).fetchone()
        return Kept(orjson.loads(found[0]), orjson.loads(found[1]), found[2]) if found else None

    def _conversation(self, connection: sqlite3.Connection, caller: str, response_id: str) -> list[JsonObject] | None:
        parts: list[Sequence[JsonObject]] = []
        following: str | None = response_id
        while following and len(parts) < 2 * _MOST_TURNS:
            kept = self._get(connection, caller, following)
            if kept is None:  # One that was deleted or forgotten takes what is before it along.
                break
            parts += [kept.response["output"], kept.input]
            following = kept.previous
        return [item for part in reversed(parts) for item in part] if parts else None
