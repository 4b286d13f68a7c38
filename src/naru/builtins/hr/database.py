"""The HR server's SQLite file (V5): opened and checked, or made in memory from the demo data."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naru.builtins.hr.demo import DOCUMENTS, EMPLOYEES, vacations
from naru.errors import ConfigError

SCHEMA = """
CREATE TABLE documents (id INTEGER PRIMARY KEY, title TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL);
CREATE TABLE employees (id TEXT PRIMARY KEY, name TEXT NOT NULL, department TEXT NOT NULL, hire_date TEXT NOT NULL);
CREATE TABLE vacations (
  employee_id TEXT NOT NULL REFERENCES employees (id), year INTEGER NOT NULL, total REAL NOT NULL, used REAL NOT NULL,
  PRIMARY KEY (employee_id, year)
);
"""
COLUMNS = {
    "documents": {"id", "title", "content", "category"},
    "employees": {"id", "name", "department", "hire_date"},
    "vacations": {"employee_id", "year", "total", "used"},
}


class HrDatabase:
    """Reads by bound parameters alone; one connection, used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._connection.row_factory = sqlite3.Row
        self._connection.text_factory = lambda raw: raw.decode(errors="replace")  # as other programs may have left it
        self._lock = threading.Lock()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return the rows of one statement."""
        with self._lock:
            return [dict(row) for row in self._connection.execute(sql, parameters)]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def demo_database() -> HrDatabase:
    """Return the demo data in a database of its own, in memory."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    fill(connection)
    return HrDatabase(connection)


def fill(connection: sqlite3.Connection) -> None:
    """Create the tables and put the demo data into them."""
    connection.executescript(SCHEMA)
    connection.executemany("INSERT INTO employees VALUES (?, ?, ?, ?)", EMPLOYEES)
    connection.executemany("INSERT INTO documents (title, content, category) VALUES (?, ?, ?)", DOCUMENTS)
    connection.executemany("INSERT INTO vacations VALUES (?, ?, ?, ?)", vacations())
    connection.commit()


def open_database(path: Path) -> HrDatabase:
    """Open an existing HR database.

    Raises:
        ConfigError: it is missing, read-only, no SQLite database, or has not the HR tables.
    """
    if not path.is_file():
        what = "it is a folder" if path.is_dir() else "there is no such file"
        raise ConfigError(
            f"opening the HR database {path} failed: {what}.",
            remedy="Give the path of an SQLite file, or leave --db out for the demo data.",
        )
    if not os.access(path, os.R_OK):
        raise ConfigError(
            f"opening the HR database {path} failed: no permission to read it.", remedy=f"Run: chmod u+rw {path}"
        )
    if not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222:
        raise ConfigError(
            f"opening the HR database {path} failed: the file is read-only, and SQLite needs to lock it.",
            remedy=f"Run: chmod u+w {path}, or give a copy.",
        )
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        _check_tables(path, connection)
    except sqlite3.Error as error:
        raise ConfigError(
            f"opening the HR database {path} failed: {error}.",
            remedy="Give an SQLite file with the tables documents, employees and vacations.",
        ) from error
    return HrDatabase(connection)


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    for table, columns in COLUMNS.items():
        found = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
        if missing := sorted(columns - found):
            connection.close()
            what = f"column {missing[0]} of table {table} is missing" if found else f"table {table} is missing"
            raise ConfigError(
                f"opening the HR database {path} failed: {what}.",
                remedy="Give an SQLite file with the tables documents, employees and vacations.",
            )
