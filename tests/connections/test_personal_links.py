"""Persons' own links to one server: closed by several who do not know of each other, and their pins (S-50)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.connections.rules.pins import PinBook
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.persons import Person, current_person
from tests.connections.conftest import http, managed, stdio
from tests.connections.fake_http import FakeHttpServer


@contextmanager
def asks(person: str) -> Iterator[None]:
    before = current_person.set(Person(person))
    try:
        yield
    finally:
        current_person.reset(before)


def quarantining(folder: Path) -> PolicyGuard:
    book = PinBook(folder / "pins.json")
    book.load()
    return PolicyGuard(Policy(), book, quarantines=True)


async def offered(manager: Manager, person: str) -> list[str]:
    with asks(person):
        assert await manager.connect("web")
        return [tool.name for tool in manager.tools("web")]


@pytest.mark.parametrize("credentials", ["shared", "per-user"])
async def test_s50_what_an_admin_changed_is_offered_to_each_person_also_after_a_restart(
    tmp_path: Path, credentials: str
) -> None:
    async with FakeHttpServer() as one, FakeHttpServer() as other, FakeHttpServer() as third:
        record = http("web", one.url, credentials=credentials)
        async with managed(guard=quarantining(tmp_path)) as manager:
            await manager.register(record)
            assert await offered(manager, "ada") == ["echo"]
            record = record.model_copy(update={"config": {**record.config, "url": other.url}, "auto_connect": False})
            await manager.update(record)
            assert await offered(manager, "ada") == ["echo"]
            with asks("ada"):
                await manager.disconnect("web")
            record = record.model_copy(update={"config": {**record.config, "url": third.url}})
            await manager.update(record)
        async with managed(guard=quarantining(tmp_path)) as manager:
            await manager._store.save(record)
            await manager.initialize_from_store()
            assert await offered(manager, "ada") == ["echo"]
            changed = record.model_copy(update={"config": {**record.config, "url": one.url}})
            await manager._store.update(changed)  # behind the hub (S-24)
            await manager.reload()
            assert await offered(manager, "ada") == []


async def test_a_person_may_sign_out_while_their_server_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    close, go_on = Connection.close, asyncio.Event()

    async def slowly(link: Connection) -> None:
        await go_on.wait()
        await close(link)

    async with managed() as manager:
        record = stdio("s", "raw_server.py", credentials="per-user").model_copy(update={"enabled": False})
        await manager.register(record)
        for person in ("ada", "eve"):
            with asks(person):
                manager.connection("s")
        links = manager._personal._links["s"]
        assert len(links) == 2
        monkeypatch.setattr(Connection, "close", slowly)
        changing = asyncio.create_task(manager._personal.drop("s"))  # as an update does
        await asyncio.sleep(0)
        signing_out = asyncio.create_task(manager.signed("s", "eve", wakes=False))
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(changing, signing_out)
        assert not links
