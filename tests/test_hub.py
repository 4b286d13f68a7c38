"""The composition root: what the hub does when its store is away or taken (R-22, R-27, f13)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from naru.config import Settings
from naru.errors import ConfigError, StoreUnavailableError
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries
from naru.stores.open import open_store
from naru.stores.serving_lock import serving_lock
from tests.connections.conftest import SERVERS
from tests.sizes import within
from tests.waiting import until


def settings(folder: Path, store: str) -> Settings:
    declared = {"name": "declared", "command": sys.executable, "args": [str(SERVERS / "raw_server.py")]}
    return Settings.model_validate({"hub": {"data_dir": folder, "store": store}, "mcp": {"servers": [declared]}})


def is_live(hub: Hub, name: str) -> bool:
    connection = hub.manager.connections.get(name)
    return connection is not None and connection.is_live


@pytest.fixture
def late_database(tmp_path: Path) -> Iterator[tuple[str, EmbeddedPostgres, Path]]:
    """A database's URL, its server, and the link that makes it reachable."""
    place = Path(f"/tmp/naru-late-{os.getpid()}")
    server = EmbeddedPostgres(bin_dir=find_binaries(), durable=False)
    server.start()
    try:
        yield f"postgresql://postgres@/postgres?host={place}", server, place
    finally:
        place.unlink(missing_ok=True)
        server.stop()


@pytest.mark.slow
@pytest.mark.postgres
async def test_r22_a_hub_starts_without_its_database_and_takes_it_up_when_it_is_there(
    tmp_path: Path, late_database: tuple[str, EmbeddedPostgres, Path]
) -> None:
    url, server, place = late_database
    assert server._folder is not None
    other = open_store(url.replace(str(place), str(server._folder)))
    await other.open()
    stored = {"command": sys.executable, "args": [str(SERVERS / "raw_server.py")]}
    await other.save(ServerRecord(name="stored", config=stored))
    start = time.monotonic()
    backend = ScriptedBackend(["Hello."], repeat_last=True)
    async with open_hub(settings(tmp_path, url), backend=backend) as hub:
        ready = time.monotonic() - start
        assert hub.not_ready() == [f"store: {hub.manager.store_trouble}"]
        assert "cannot be reached" in hub.manager.store_trouble
        with pytest.raises(StoreUnavailableError):
            await hub.manager.list_servers()
        assert await hub.backend.models() == ["scripted"], "the model's faces are served"
        start = time.monotonic()
        place.symlink_to(server._folder)
        await until(lambda: is_live(hub, "stored") and is_live(hub, "declared"), 60)
        back = time.monotonic() - start
        assert hub.not_ready() == []
        assert {record.name for record in await hub.manager.list_servers()} == {"stored", "declared"}
        place.unlink()  # lost again: what runs goes on
        assert (await hub.manager.call_tool("stored", "echo", {"text": "x"})).text == "x"
    await other.close()
    print(f"R-22: started without its database in {ready:.2f} s, its servers live {back:.2f} s after it was there")
    assert ready < within(3)
    assert back < within(5)


async def test_r22_a_database_that_swallows_packets_delays_the_start_by_its_own_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    import asyncio

    from naru.stores import postgres

    monkeypatch.setattr(postgres, "START_SECONDS", 0.3)
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    url = f"postgresql://u:SENTINEL@127.0.0.1:{silent.sockets[0].getsockname()[1]}/db"
    async with open_hub(settings(tmp_path, url), backend=ScriptedBackend([])) as hub:
        assert "cannot be reached" in hub.manager.store_trouble
        assert "SENTINEL" not in hub.manager.store_trouble
        refused = await asyncio.gather(*(hub.manager.list_servers() for _ in range(50)), return_exceptions=True)
        assert all(isinstance(error, StoreUnavailableError) for error in refused)
    silent.close()


@pytest.mark.parametrize("kind", ["sqlite:{}/naru.db", "file:{}/mcp.json", "{}/naru.db"])
def test_r27_a_second_hub_on_the_same_store_is_told_who_has_it(tmp_path: Path, kind: str) -> None:
    url = kind.format(tmp_path)
    with serving_lock(url, "http://127.0.0.1:20006"):
        with pytest.raises(ConfigError) as refused, serving_lock(url, "http://127.0.0.1:9"):
            pass
        assert f"process {os.getpid()}, http://127.0.0.1:20006" in str(refused.value)
        assert "--store" in str(refused.value)
        with serving_lock(f"sqlite:{tmp_path}/other.db", "http://127.0.0.1:9"):
            pass
    with serving_lock(url, "http://127.0.0.1:9"):
        pass


def test_r27_stores_that_may_be_shared_are_not_held(tmp_path: Path) -> None:
    for url in ("memory:", "postgresql://h/db"):
        with serving_lock(url, "a"), serving_lock(url, "b"):
            pass


@pytest.mark.slow
def test_r27_f13_a_second_naru_serve_ends_at_once_and_leaves_the_store_alone(tmp_path: Path) -> None:
    store = tmp_path / "mcp.json"
    store.write_text('{"mcpServers": {"s1": {"url": "http://127.0.0.1:9/mcp"}}}', encoding="utf-8")
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", "0", "--store", f"file:{store}"]
    environment = {**os.environ, "NARU_HUB__DATA_DIR": str(tmp_path), "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        try:
            line = next(line for line in first.stderr if "Naru serves" in line)
            before = store.read_bytes()
            second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
            assert second.returncode == 2
            assert f"process {first.pid}, {line.split()[-1]}" in second.stderr
            assert "Traceback" not in second.stderr
            assert store.read_bytes() == before
        finally:
            first.kill()
    again = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert again.stderr is not None
    try:
        assert any("Naru serves" in line for line in again.stderr), "a killed hub holds nothing"
    finally:
        again.kill()
        again.communicate()
