"""SQLite's write-ahead log, switched on by whichever process opens a file first."""

from __future__ import annotations

import sqlite3
import time

_SECONDS = 10.0
_PAUSE_SECONDS = 0.01


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a file to its write-ahead log; it blocks while others open the file.

    SQLite waits for locks, but not for this one: who switches while another does is refused at once.

    Raises:
        sqlite3.Error: the file cannot be used, or stays locked.
    """
    end = time.monotonic() + _SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
