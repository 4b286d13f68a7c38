"""SQLite's write-ahead log, switched on by whichever process opens a file first, and waiting for its locks in turn."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from naru.stores.files.atomic import LOCK_SECONDS, wait_a_moment

_T = TypeVar("_T")


def patiently(work: Callable[[], _T]) -> _T:
    """Do something with a file, anew as long as others hold it; return what it returns.

    SQLite looks ever more rarely whether a lock is free, so that a process among many busy writers waits in vain, and
    for some locks it does not wait at all. Best with a connection whose own `timeout` is 0.

    Raises:
        sqlite3.Error: the file cannot be used, or stays locked.
    """
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            wait_a_moment()


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a file to its write-ahead log. Raises sqlite3.Error."""
    patiently(lambda: connection.execute("pragma journal_mode = wal"))
