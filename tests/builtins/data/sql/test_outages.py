"""The database away, gone, silent or full: a clear error in time, and back by itself (R-22, R-23, S-46, area g)."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError
from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.stores.embedded_postgres import EmbeddedPostgres
from tests.builtins.data.servers import BgaServer, chaos_proxy
from tests.sizes import within

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

SLEEPER = DatabaseOptions(
    limits=Limits(statement_seconds=60), allowed_functions=frozenset({"pg_sleep"}), pool_min=2, pool_max=2
)


def through(proxy, bga: BgaServer, options: DatabaseOptions | None = None) -> Database:
    return bga.database(options, host="127.0.0.1", port=str(proxy.port), password="canary-password")


async def count_of(bga: BgaServer, condition: str) -> int:
    query = f"SELECT count(*) FROM pg_stat_activity WHERE usename = 'bga_reader' AND ({condition})"
    return bga.admin.execute(query.encode()).fetchone()[0]


async def is_asleep(bga: BgaServer) -> bool:
    return await count_of(bga, "state = 'active' AND query LIKE '%pg_sleep%'") == 1


async def until(condition, seconds: float) -> float:
    """Wait for a condition, at most so long; return how long it took."""
    start = time.monotonic()
    while not await condition():
        assert time.monotonic() - start < seconds, "it did not happen in time"
        await asyncio.sleep(0.02)
    return time.monotonic() - start


async def test_g10_a_database_that_is_down_at_start_is_told_and_used_once_it_is_up(bga: BgaServer):
    """R-22, g10."""
    async with chaos_proxy(bga) as proxy:
        await proxy.stop()
        database = through(proxy, bga)
        start = time.monotonic()
        with pytest.raises(DatabaseUnavailableError, match=rf"127\.0\.0\.1:{proxy.port}") as failure:
            await database.query("SELECT 1")
        assert time.monotonic() - start < within(5)
        assert "canary" not in str(failure.value)
        assert "bga_reader" not in str(failure.value)
        await proxy.start()

        async def works() -> bool:
            try:
                return (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
            except DatabaseUnavailableError:
                return False

        assert await until(works, 60) < within(5)
        await database.close()


async def test_r23_a_database_that_goes_away_mid_run_is_told_within_5_s_and_comes_back(bga: BgaServer):
    async with chaos_proxy(bga) as proxy:
        database = through(proxy, bga)
        await database.query("SELECT 1")
        await proxy.stop()
        for _ in range(3):
            start = time.monotonic()
            with pytest.raises(DatabaseUnavailableError):
                await database.query("SELECT 1")
            assert time.monotonic() - start < within(5)
        await proxy.start()

        async def works() -> bool:
            try:
                return bool(await database.query("SELECT 1"))
            except DatabaseUnavailableError:
                return False

        assert await until(works, 60) < within(5)

        async def is_full() -> bool:
            return await count_of(bga, "application_name = 'naru'") >= 5

        await until(is_full, 60)
        await database.close()


async def test_r23_a_database_that_falls_silent_mid_run_is_told_within_5_s(bga: BgaServer):
    async with chaos_proxy(bga) as proxy:
        database = through(proxy, bga, SLEEPER)
        await database.query("SELECT 1")
        running = asyncio.ensure_future(database.query("SELECT pg_sleep(50)"))
        await until(lambda: is_asleep(bga), 60)
        start = time.monotonic()
        proxy.fall_silent()
        with pytest.raises(DatabaseUnavailableError, match="stopped answering"):
            await running
        assert time.monotonic() - start < within(5)
        proxy.speak()
        assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
        await database.close()


async def test_r23_a_slow_query_on_a_live_database_is_not_taken_for_silence(bga: BgaServer):
    database = bga.database(SLEEPER)
    assert (await database.query("SELECT pg_sleep(2.2)")).records == [{"pg_sleep": ""}]
    await database.close()


async def test_r23_a_call_that_hears_of_no_end_is_told_as_a_query_that_took_too_long(
    bga: BgaServer, monkeypatch: pytest.MonkeyPatch
):
    async def answers(_: Database) -> bool:
        return True

    monkeypatch.setattr(Database, "_answers", answers)  # on a connection of its own, which the proxy would hold too
    async with chaos_proxy(bga) as proxy:
        options = DatabaseOptions(limits=Limits(statement_seconds=2), allowed_functions=frozenset({"pg_sleep"}))
        database = through(proxy, bga, options)
        await database.query("SELECT 1")
        running = asyncio.ensure_future(database.query("SELECT pg_sleep(50)"))
        await until(lambda: is_asleep(bga), 60)
        proxy.fall_silent()
        with pytest.raises(QueryError, match=r"stopped after 2 seconds"):
            await running
        proxy.speak()
        assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
        await database.close()


async def test_g11_killed_connections_are_replaced_and_the_next_query_works(bga: BgaServer):
    database = bga.database()
    await database.query("SELECT 1")
    killed = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'bga_reader'"
    assert bga.admin.execute(killed).fetchone()[0] >= 1
    assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
    await database.close()


async def test_g11_a_query_survives_a_pool_whose_killed_connections_die_one_after_another(
    bga: BgaServer, monkeypatch: pytest.MonkeyPatch
):
    async def find_all_alive(_: AsyncConnectionPool) -> None:
        """What a check sees while the backends have their signal but still answer, as on a busy machine."""

    monkeypatch.setattr(AsyncConnectionPool, "check", find_all_alive)
    database = bga.database(DatabaseOptions(pool_min=3, pool_max=3))
    await asyncio.gather(*(database.query("SELECT 1") for _ in range(3)))
    await until(lambda: pool_of_three(bga), seconds=60)
    bga.admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bga_reader'")
    try:
        assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
    finally:
        await database.close()


async def pool_of_three(bga: BgaServer) -> bool:
    return await count_of(bga, "true") == 3


async def test_g12_a_full_pool_queues_and_nothing_is_left_in_a_transaction(bga: BgaServer):
    database = bga.database(SLEEPER)
    await asyncio.gather(*(database.query("SELECT pg_sleep(0.3)") for _ in range(10)))
    cancelled = asyncio.ensure_future(database.query("SELECT pg_sleep(50)"))
    await until(lambda: is_asleep(bga), 60)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    for _ in range(20):
        with pytest.raises(QueryError):
            await database.query("SELECT nothing")
    assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]

    async def none_left() -> bool:
        return await count_of(bga, "state LIKE 'idle in transaction%' OR state = 'active'") == 0

    await until(none_left, 60)
    await database.close()


async def test_g12_waiting_too_long_for_the_pool_says_that_it_is_busy(bga: BgaServer):
    options = DatabaseOptions(
        limits=Limits(wait_seconds=0.2, statement_seconds=60),
        allowed_functions=frozenset({"pg_sleep"}),
        pool_min=1,
        pool_max=1,
    )
    database = bga.database(options)
    running = asyncio.ensure_future(database.query("SELECT pg_sleep(50)"))
    await until(lambda: is_asleep(bga), 60)
    with pytest.raises(DatabaseUnavailableError, match="busy"):
        await database.query("SELECT 1")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await database.close()


async def test_g14_a_huge_result_is_cut_by_rows_or_bytes_and_says_so(bga: BgaServer):
    database = bga.database(DatabaseOptions(pool_min=1))
    result = await database.query("SELECT generate_series(1, 1000000) AS n, repeat('x', 1000) AS x")
    assert result.is_truncated
    assert 900 < len(result.records) <= 1000
    assert result.records[0]["n"] == 1
    narrow = await database.query("SELECT generate_series(1, 1000000) AS n")
    assert narrow.is_truncated
    assert len(narrow.records) == 1000
    exact = await database.query("SELECT generate_series(1, 1000) AS n")
    assert not exact.is_truncated
    await database.close()


async def test_a_row_larger_than_the_limit_is_an_error_that_says_how_large(bga: BgaServer):
    database = bga.database(DatabaseOptions(pool_min=1))
    with pytest.raises(QueryError, match="The first row alone has 300"):
        await database.query("SELECT repeat('x', 3000000) AS x")
    cut = await database.query("SELECT CASE WHEN n = 3 THEN repeat('x', 3000000) END AS x FROM generate_series(1, 5) n")
    assert cut.is_truncated
    assert cut.records == [{"x": None}, {"x": None}]
    await database.close()


async def test_a_port_where_nothing_listens_is_told_as_the_reason_not_as_a_question():
    async def parameters() -> dict[str, str]:
        return {"host": "127.0.0.1", "port": "1", "user": "u", "password": "p", "dbname": "d"}

    with pytest.raises(DatabaseUnavailableError, match=r"PostgreSQL at 127\.0\.0\.1:1: Connection refused\. Check"):
        await Database(parameters).query("SELECT 1")


@pytest.mark.parametrize("host", ["canary-host.invalid", "127.0.0.1"])
async def test_s46_an_unknown_host_or_closed_port_shows_no_secret(host: str):
    async def parameters() -> dict[str, str]:
        return {"host": host, "port": "1", "user": "canary_user", "password": "canary-pw", "dbname": "canary_db"}

    database = Database(parameters)
    with pytest.raises(DatabaseUnavailableError) as failure:
        await database.query("SELECT 1")
    assert "canary" not in str(failure.value)


@pytest.fixture
def password_rules() -> Iterator[Path]:
    """A file that asks all but the superuser for a password, where PostgreSQL's own user can read it."""
    with tempfile.TemporaryDirectory(prefix="naru-hba-") as folder:
        Path(folder).chmod(0o755)
        rules = Path(folder) / "pg_hba.conf"
        rules.write_text("local all postgres trust\nlocal all all scram-sha-256\n", encoding="utf-8")
        rules.chmod(0o644)
        yield rules


async def test_s46_a_refused_password_shows_no_secret(password_rules: Path):
    with EmbeddedPostgres(settings={"hba_file": str(password_rules)}) as server:
        with psycopg.connect(server.dsn, autocommit=True) as admin:
            admin.execute("CREATE ROLE canary_user LOGIN PASSWORD 'right'")
        folder = psycopg.conninfo.conninfo_to_dict(server.dsn)["host"]

        async def parameters() -> dict[str, str]:
            return {"host": str(folder), "user": "canary_user", "password": "canary-pw", "dbname": "postgres"}

        database = Database(parameters)
        with pytest.raises(DatabaseUnavailableError, match="password authentication failed") as failure:
            await database.query("SELECT 1")
        assert "canary" not in str(failure.value)
        assert str(Path(str(folder))) not in str(failure.value)
