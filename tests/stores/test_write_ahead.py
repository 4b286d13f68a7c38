"""Many processes open one SQLite file at the same moment: all of them get it (R-27)."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from naru.stores.files.write_ahead import patiently, write_ahead


def test_whoever_switches_a_file_while_it_is_locked_waits(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("create table kept (one)")
    holder.execute("begin exclusive")
    with ThreadPoolExecutor() as pool:
        connection = sqlite3.connect(path, timeout=0, check_same_thread=False)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("pragma journal_mode = wal")
        switched = pool.submit(write_ahead, connection)
        holder.execute("commit")
        switched.result(timeout=30)
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()
    holder.close()


def test_a_file_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    path.write_bytes(b"no database" * 200)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        write_ahead(sqlite3.connect(path))


def test_r27_a_write_that_sqlite_gives_up_is_tried_until_the_other_has_let_go(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("create table kept (one)")
    holder.execute("begin immediate")
    looked = threading.Event()
    writer = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)

    def write() -> None:
        looked.set()
        writer.execute("insert into kept values (1)")

    with ThreadPoolExecutor() as pool:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            write()
        looked.clear()
        written = pool.submit(patiently, write)
        assert looked.wait(60)
        holder.execute("commit")
        written.result(timeout=60)
    assert holder.execute("select one from kept").fetchall() == [(1,)]
    writer.close()
    holder.close()
