"""Behind PgBouncer in transaction mode: nothing is kept on a connection, every layer holds."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.postgresql.database import DatabaseOptions
from naru.errors import NaruError
from tests.builtins.data.servers import CASES, BgaServer
from tests.waiting import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

SETTINGS = """
[databases]
postgres = host={host} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 3
server_reset_query =
logfile = {folder}/log
pidfile =
"""


@pytest.fixture
def pgbouncer(bga: BgaServer) -> Iterator[int]:
    """Run PgBouncer before the server; give its port."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("PgBouncer is missing: apt-get install pgbouncer")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="naru-bouncer-") as name:
        folder = Path(name)
        (folder / "users").write_text('"bga_reader" ""\n', encoding="utf-8")
        settings = SETTINGS.format(host=bga.parameters()["host"], port=port, folder=folder)
        (folder / "ini").write_text(settings, encoding="utf-8")
        for path in (folder, folder / "users", folder / "ini"):
            path.chmod(0o777)
        process = subprocess.Popen([program, "-u", "nobody", str(folder / "ini")], stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            else:
                pytest.fail(f"PgBouncer did not start: {(folder / 'log').read_text(encoding='utf-8')[-500:]}")
            yield port
        finally:
            process.terminate()
            process.wait(60)


async def test_queries_and_verdicts_are_the_same_and_many_share_few_connections(bga: BgaServer, pgbouncer: int):
    options = DatabaseOptions(limits=Limits(statement_seconds=HANG_SECONDS))
    database = bga.database(options, host="127.0.0.1", port=str(pgbouncer))
    assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
    assert database.proof is not None
    assert database.proof.is_pooled
    results = await asyncio.gather(*(database.query(f"SELECT {number} AS n") for number in range(60)))
    assert [result.records[0]["n"] for result in results] == list(range(60))
    before = bga.fingerprint()
    for line in (CASES / "sql.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["category"] == "dos":
            continue
        try:
            await database.query(case["sql"])
            verdict = "allow"
        except NaruError:
            verdict = "reject"
        assert verdict == case["expect"], case["id"]
    assert bga.fingerprint() == before
    await database.close()
