"""One connection to the database that hubs share, for one statement at a time, made anew when it was lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from naru.stores.postgres import failure, place_of

STATEMENT_MS = 4_000
UNHEARD_MS = 11_000
"""How long a network may swallow what is sent, before the connection counts as lost: as long as beats take."""
Connection = psycopg.Connection[Any]


def connect(url: str, name: str = "naru") -> Connection:
    """Connect, so that either side notices in seconds when the other's machine has vanished. Raises psycopg.Error."""
    beats = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
    # Nothing beats while something that was sent has not arrived: then it has so many milliseconds.
    given = {"connect_timeout": 3, "tcp_user_timeout": UNHEARD_MS, "application_name": name, **beats}
    connection = psycopg.connect(url, autocommit=True, **given)  # type: ignore[arg-type]
    connection.execute(f"set statement_timeout = {STATEMENT_MS}")
    for name, value in beats.items():
        connection.execute(f"set tcp_{name} = {value}".encode())
    return connection


class Link:
    """For several threads, which queue."""

    def __init__(self, url: str, name: str = "naru") -> None:
        """Connect to `url` at the first use; the database shows it under `name`."""
        self._url, self._name = url, name
        self._place = place_of(url)
        self._busy = threading.RLock()
        self._connection: Connection | None = None
        self.times = 0
        """How often it was connected: what belongs to a session of the database is gone when this grows."""

    @contextlib.contextmanager
    def used(self, failed: str) -> Iterator[Connection]:
        """Hold the connection; `failed` begins the message when the database does not do it. Raises StoreError."""
        with self._busy:
            try:
                yield self._connected()
            except psycopg.Error as error:
                why = failure(self._place, error)
                raise type(why)(f"{failed} {why.message}", remedy=why.remedy) from error

    def close(self) -> None:
        """Let go of it."""
        with self._busy:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connected(self) -> Connection:
        held = self._connection
        if held is not None and held.info.transaction_status is TransactionStatus.IDLE:
            with contextlib.suppress(psycopg.Error):  # a database that was away has taken it along
                held.execute("select 1")
        if held is None or held.closed or held.broken:
            held = self._connection = connect(self._url, self._name)
            self.times += 1
        return held
