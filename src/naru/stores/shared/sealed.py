"""The rows of the vault where several hubs share a database: it is the truth, and each hub's file is a copy of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence

from naru.stores.secrets.common_rows import Place, Sealed
from naru.stores.shared.leases import Leases
from naru.stores.shared.link import Connection, Link

_FAILED = "The credentials cannot be kept or read."
_READ = "select person, server, kind, value, at from naru_sealed where person = %s and server = %s and kind = %s"
_REMOVE = "delete from naru_sealed where person = %s and server = %s and kind = %s returning value"


class SealedTable:
    """`CommonRows` of PostgreSQL. Every method may raise StoreError."""

    def __init__(self, url: str, me: str) -> None:
        """Keep rows in the database at `url`; `me` is the member that need not be told of its own changes."""
        self._link = Link(url, me or "naru")
        self._me = me or f"command-{secrets.token_hex(4)}"
        self._leases = Leases(self._link)

    def all(self) -> Sequence[Sealed]:
        """Return all rows."""
        with self._link.used(_FAILED) as link:
            return [_row(row) for row in link.execute("select person, server, kind, value, at from naru_sealed")]

    def read(self, place: Place) -> Sealed | None:
        """Return a row as it is now."""
        with self._link.used(_FAILED) as link:
            found = link.execute(_READ, place)
            row = found.fetchone()
            return None if row is None else _row(row)

    def write(self, row: Sealed) -> None:
        """Keep a row in place of what was kept."""
        with self._link.used(_FAILED) as link, link.transaction():
            link.execute(
                "insert into naru_sealed values (%s, %s, %s, %s, %s) on conflict (person, server, kind) "
                "do update set value = excluded.value, at = excluded.at",
                [*row.place, row.value, row.at],
            )
            self._tell(link, row.place)

    def add(self, rows: Iterable[Sealed]) -> None:
        """Keep rows where there are none yet."""
        with self._link.used(_FAILED) as link, link.transaction():
            for row in rows:
                statement = "insert into naru_sealed values (%s, %s, %s, %s, %s) on conflict do nothing"
                link.execute(statement, [*row.place, row.value, row.at])
                self._tell(link, row.place)

    def take(self, place: Place) -> bytes | None:
        """Remove a row; return its value to the one who removed it."""
        with self._link.used(_FAILED) as link, link.transaction():
            row = link.execute(_REMOVE, place).fetchone()
            self._tell(link, place)
            return None if row is None else bytes(row[0])

    def forget_server(self, server: str) -> None:
        """Remove a server's rows."""
        with self._link.used(_FAILED) as link, link.transaction():
            for place in link.execute(
                "delete from naru_sealed where server = %s returning person, server, kind", [server]
            ).fetchall():
                self._tell(link, place)

    def prune(self, kind: str, before: int) -> None:
        """Remove the rows of a kind, by its beginning, that are older."""
        with self._link.used(_FAILED) as link:
            link.execute("delete from naru_sealed where starts_with(kind, %s) and at < %s", [kind, before])

    def lease(self, name: str) -> bool:
        """Take what one process alone may hold; False while another does."""
        return self._leases.take(name)

    def end_lease(self, name: str) -> None:
        """Let others have it."""
        self._leases.give(name)

    def close(self) -> None:
        """Let go of the connection, and of leases with it."""
        self._leases.close()

    def _tell(self, link: Connection, place: Place) -> None:
        notice = json.dumps({"from": self._me, "topic": "sealed", "what": list(place)})
        link.execute("select pg_notify('naru', %s)", [notice])


def _row(row: Sequence[object]) -> Sealed:
    person, server, kind, value, at = row
    assert isinstance(value, bytes | memoryview)
    assert isinstance(at, int)
    return Sealed((str(person), str(server), str(kind)), bytes(value), at)
