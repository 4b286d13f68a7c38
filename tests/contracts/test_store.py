"""One contract for every store (H7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from naru.errors import ConflictError, NotFoundError
from naru.records import ServerRecord, TransportType
from naru.stores.base import Store
from naru.stores.open import open_store
from naru.stores.with_own_servers import WithOwnServers
from tests.postgres_servers import VERSIONS, PostgresServers

POSTGRES = [pytest.param(f"postgres-{version}", marks=[pytest.mark.slow, pytest.mark.postgres]) for version in VERSIONS]
KINDS = ["memory", "brought", "file", "file-array", "file-vscode", "sqlite", *POSTGRES]


def url_of(kind: str, folder: Path, servers: PostgresServers) -> str:
    if kind.startswith("postgres"):
        return servers.fresh_database(int(kind.removeprefix("postgres-")))
    if kind == "memory":
        return "memory:"
    if kind in ("sqlite", "brought"):
        return f"sqlite:{folder / 'naru.db'}"
    path = folder / "mcp.json"
    if not path.exists():
        starts = {"file": '{"mcpServers": {}}', "file-array": "[]", "file-vscode": '{"servers": {}, "inputs": []}'}
        path.write_text(starts[kind], encoding="utf-8")
    return f"file:{path}"


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path, postgres_servers: PostgresServers) -> Callable[[], Store]:
    url = url_of(request.param, tmp_path, postgres_servers)
    if request.param == "brought":
        return lambda: WithOwnServers(open_store(url), [])
    return lambda: open_store(url)


@pytest.fixture
async def store(make: Callable[[], Store]) -> AsyncIterator[Store]:
    store = make()
    await store.open()
    yield store
    await store.close()


def stdio(name: str, at: int = 1_000) -> ServerRecord:
    return ServerRecord(
        name=name,
        description="설명 and more" * 60,
        transport_type=TransportType.STDIO,
        config={"command": "npx", "args": ["-y", "서버"], "env": {"TOKEN": "${TOKEN}"}, "icon": {"any": [1, None]}},
        version="1.0.0",
        auto_connect=False,
        created_at=at,
        updated_at=at,
    )


async def test_a_saved_record_is_found_as_it_was(store: Store) -> None:
    record = stdio("filesystem")
    await store.save(record)
    assert await store.find_by_name("filesystem") == record
    assert await store.find_by_name("other") is None


@pytest.mark.parametrize("transport", [None, TransportType.HTTP, TransportType.SSE])
@pytest.mark.parametrize("url", ["http://127.0.0.1:9/mcp", "http://127.0.0.1:9/sse"])
async def test_every_transport_survives(store: Store, transport: TransportType | None, url: str) -> None:
    record = ServerRecord(name="remote", transport_type=transport, config={"url": url, "headers": {"X": "1"}})
    await store.save(record)
    assert await store.find_by_name("remote") == record


async def test_records_are_listed_in_order_of_creation(store: Store) -> None:
    for position, name in enumerate(["c", "a", "b"]):
        await store.save(stdio(name, 1_000 + position))
    assert [record.name for record in await store.list()] == ["c", "a", "b"]


async def test_a_taken_name_is_a_conflict_and_changes_nothing(store: Store) -> None:
    first = stdio("a")
    await store.save(first)
    with pytest.raises(ConflictError, match="registered already"):
        await store.save(ServerRecord(name="a", config={"url": "http://h/"}))
    assert list(await store.list()) == [first]


async def test_an_update_replaces_all_but_identity(store: Store) -> None:
    first = stdio("a")
    await store.save(first)
    changed = ServerRecord(name="a", config={"url": "http://h/mcp"}, updated_at=2_000)
    await store.update(changed)
    assert await store.find_by_name("a") == changed.model_copy(update={"id": first.id, "created_at": first.created_at})


async def test_an_update_of_an_older_version_is_refused(store: Store) -> None:
    await store.save(stdio("a"))
    await store.update(stdio("a").model_copy(update={"updated_at": 2_000}), expected_updated_at=1_000)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        await store.update(stdio("a").model_copy(update={"updated_at": 3_000}), expected_updated_at=1_000)
    found = await store.find_by_name("a")
    assert found is not None
    assert found.updated_at == 2_000


async def test_an_update_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        await store.update(stdio("a"))
    with pytest.raises(NotFoundError):
        await store.update(stdio("a"), expected_updated_at=1)


async def test_delete_tells_whether_there_was_one(store: Store) -> None:
    await store.save(stdio("a"))
    assert await store.delete("a") is True
    assert await store.delete("a") is False
    assert list(await store.list()) == []


async def test_names_that_look_like_sql_are_only_names(store: Store) -> None:
    assert await store.find_by_name("x'; drop table mcp_servers; --") is None
    assert await store.delete('" or 1=1') is False


async def test_many_at_once_are_all_kept(store: Store, request: pytest.FixtureRequest) -> None:
    count = 20 if "file" in request.node.name else 100  # a file is synced to the disk for each
    await asyncio.gather(*(store.save(stdio(f"s{number}", 1_000 + number)) for number in range(count)))
    await asyncio.gather(*(store.delete(f"s{number}") for number in range(0, count, 2)))
    assert {record.name for record in await store.list()} == {f"s{number}" for number in range(1, count, 2)}


async def test_of_many_at_once_one_gets_the_name(store: Store) -> None:
    outcomes = await asyncio.gather(*(store.save(stdio("a")) for _ in range(20)), return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 1
    assert sum(isinstance(outcome, ConflictError) for outcome in outcomes) == 19


async def test_what_was_kept_outlives_a_restart(make: Callable[[], Store], request: pytest.FixtureRequest) -> None:
    first = make()
    await first.open()
    await first.save(stdio("a"))
    await first.close()
    second = make()
    await second.open()
    expected = [] if "memory" in request.node.name else [stdio("a").name]
    assert [record.name for record in await second.list()] == expected
    await second.close()


async def test_a_store_opens_twice_at_once(make: Callable[[], Store], request: pytest.FixtureRequest) -> None:
    """f13: a second process that starts keeps what the first has."""
    first, second = make(), make()
    await asyncio.gather(first.open(), second.open())
    await asyncio.gather(first.save(stdio("a")), second.save(stdio("b", 1_001)))
    if "memory" not in request.node.name:
        assert {record.name for record in await first.list()} == {"a", "b"}
        await second.update(stdio("a").model_copy(update={"version": "2", "updated_at": 5}))
        found = await first.find_by_name("a")
        assert found is not None
        assert found.version == "2"
    await first.close()
    await second.close()


async def test_the_version_changes_with_every_change_of_another(
    make: Callable[[], Store], request: pytest.FixtureRequest
) -> None:
    if "memory" in request.node.name:
        return  # nobody else can change it
    first, second = make(), make()
    await first.open()
    await second.open()
    seen = [await first.version()]
    assert await first.version() == seen[0]
    for change in (second.save(stdio("a")), second.update(stdio("a", 1_001)), second.delete("a")):
        await change
        seen.append(await first.version())
        assert seen[-1] != seen[-2]
    await first.close()
    await second.close()
