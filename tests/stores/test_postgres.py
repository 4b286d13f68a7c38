"""The PostgreSQL store beyond the contract: the seed's table, losses, newer schemas (H7, R-22, R-23, S-46)."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from naru.errors import ConfigError, StoreError, StoreUnavailableError
from naru.records import ServerRecord, TransportType
from naru.stores import postgres
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries
from naru.stores.open import open_store
from naru.stores.shared.link import Link
from tests.postgres_servers import VERSIONS, PostgresServers
from tests.sizes import IS_FULL, within
from tests.waiting import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

SEED_TABLE = """
CREATE TABLE IF NOT EXISTS mcp_servers (
    id              VARCHAR(36)     PRIMARY KEY,
    name            VARCHAR(100)    NOT NULL,
    description     VARCHAR(500),
    transport_type  VARCHAR(20)     NOT NULL,
    config          TEXT            NOT NULL DEFAULT '{}',
    version         VARCHAR(50),
    auto_connect    BOOLEAN         NOT NULL DEFAULT FALSE,
    created_at      TIMESTAMP       NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at      TIMESTAMP       NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS idx_mcp_servers_name ON mcp_servers(name);
INSERT INTO mcp_servers (id, name, transport_type, config, created_at, updated_at) VALUES
  ('11111111-1111-1111-1111-111111111111', 'swagger-agent', 'SSE', '{"url": "http://localhost:8081/sse"}',
   '2024-02-09 00:00:00', '2024-02-09 00:00:00.5'),
  ('2', 'broken', 'STDIO', '{}', now(), now()),
  ('3', 'no json', 'SSE', 'x', now(), now());
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_h7_the_guides_table_is_taken_over_with_its_rows(postgres_servers: PostgresServers, version: int) -> None:
    url = postgres_servers.fresh_database(version)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SEED_TABLE)
    store = open_store(url)
    await store.open()
    (kept,) = await store.list()
    assert (kept.name, kept.transport_type, kept.auto_connect) == ("swagger-agent", TransportType.SSE, False)
    assert (kept.created_at, kept.updated_at) == (1_707_436_800_000, 1_707_436_800_500)
    assert {problem.place for problem in store.problems()} == {"mcp_servers.broken", "mcp_servers.no json"}
    await store.update(
        kept.model_copy(update={"description": "설명" * 400, "updated_at": kept.updated_at + 1}),
        expected_updated_at=kept.updated_at,
    )
    found = await store.find_by_name("swagger-agent")
    assert found is not None
    assert found.description == "설명" * 400
    await store.close()


async def test_r23_a_lost_database_is_an_error_within_seconds_and_comes_back_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not IS_FULL:
        monkeypatch.setattr(postgres, "POOL_SECONDS", 3.0)
        monkeypatch.setattr(postgres, "START_SECONDS", HANG_SECONDS)  # a busy machine is slow to fork the first one
    folder = Path(f"/tmp/naru-store-{os.getpid()}")
    server = EmbeddedPostgres(folder, bin_dir=find_binaries(), durable=False)
    server.start()
    sockets = server._folder
    assert sockets is not None
    store = open_store(server.dsn)
    try:
        await store.open()
        await store.save(ServerRecord(name="a", config={"url": "http://h/"}))
        server.stop()
        started = time.monotonic()
        with pytest.raises(StoreUnavailableError) as refused:
            await store.list()
        lost = time.monotonic() - started
        assert str(sockets) not in str(refused.value)
        server.start()
        moved = server._folder
        assert moved is not None
        sockets.symlink_to(moved)  # the pool knows the old folder; a real server keeps its own
        started = time.monotonic()
        while True:
            try:
                assert [kept.name for kept in await store.list()] == ["a"]
                break
            except StoreUnavailableError:
                assert time.monotonic() - started < within(15)
        back = time.monotonic() - started
        print(f"R-23: error after {lost:.1f} s, back after {back:.1f} s")
        assert lost < within(7)
    finally:
        await store.close()
        server.stop()
        sockets.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


async def test_r23_a_frozen_database_is_an_error_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "START_SECONDS", HANG_SECONDS)
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", 1.0)
    with EmbeddedPostgres(bin_dir=find_binaries(), durable=False) as server:
        store = open_store(server.dsn)
        await store.open()
        with psycopg.connect(server.dsn) as connection:
            first = psutil.Process(connection.info.backend_pid).parent()
        assert first is not None
        frozen = [first, *first.children(recursive=True)]
        started = time.monotonic()
        try:
            for process in frozen:
                process.suspend()
            with pytest.raises(StoreUnavailableError, match="cannot be reached"):
                await store.list()
        finally:
            for process in frozen:
                process.resume()
        assert time.monotonic() - started < within(3)
        monkeypatch.setattr(postgres, "ANSWER_SECONDS", HANG_SECONDS)
        assert await store.list() == []
        await store.close()


async def test_r22_a_hub_that_froze_while_it_migrated_holds_up_no_start(
    postgres_servers: PostgresServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LOCK_MS", 200)
    monkeypatch.setattr(postgres, "RETRY_SECONDS", 0.0)
    url = postgres_servers.fresh_database(VERSIONS[0])
    store = open_store(url)
    with psycopg.connect(url, autocommit=True) as frozen:
        frozen.execute("select pg_advisory_lock(%s)", [postgres._LOCK])
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            await store.open()
    assert await store.list() == []
    await store.close()


def test_r23_what_a_network_swallows_is_waited_for_no_longer_than_a_beat(postgres_servers: PostgresServers) -> None:
    """Keepalives say nothing of a machine that vanished under a statement: that took a quarter of an hour."""
    held = Link(postgres_servers.fresh_database(VERSIONS[0]))
    with held.used("It could not be asked.") as connection:
        given = connection.info.get_parameters()
    held.close()
    beats = int(given["keepalives_idle"]) + int(given["keepalives_interval"]) * int(given["keepalives_count"])
    assert int(given["tcp_user_timeout"]) == beats * 1000


async def test_a_database_that_is_down_is_told_without_its_address() -> None:
    store = open_store("postgresql://user:SENTINEL@127.0.0.1:9/db")
    with pytest.raises(StoreUnavailableError) as refused:
        await store.open()
    assert "SENTINEL" not in str(refused.value)
    assert "127.0.0.1" not in str(refused.value)
    assert "cannot be reached: Connection refused." in str(refused.value)


async def test_r26_a_newer_schema_is_refused(postgres_servers: PostgresServers) -> None:
    url = postgres_servers.fresh_database(VERSIONS[0])
    store = open_store(url)
    await store.open()
    await store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into naru_schema values (99, 'future')")
    with pytest.raises(StoreError, match="newer Naru: schema 99"):
        await open_store(url).open()


def test_an_unknown_store_is_told_what_there_is() -> None:
    for url in ("mysql://h/db", "redis:", "x", "file:", "sqlite:"):
        with pytest.raises(ConfigError, match="Use memory:, file:mcp"):
            open_store(url)
    with pytest.raises(ConfigError) as refused:
        open_store("mysql://user:SENTINEL@h/db")
    assert "SENTINEL" not in str(refused.value)
