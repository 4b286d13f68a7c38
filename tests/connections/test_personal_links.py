"""Persons' own links to one server, closed by several who do not know of each other."""

from __future__ import annotations

import asyncio

import pytest

from naru.connections.link.connection import Connection
from naru.persons import Person, current_person
from tests.connections.conftest import managed, stdio


async def test_a_person_may_sign_out_while_their_server_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    close, go_on = Connection.close, asyncio.Event()

    async def slowly(link: Connection) -> None:
        await go_on.wait()
        await close(link)

    async with managed() as manager:
        record = stdio("s", "raw_server.py", credentials="per-user").model_copy(update={"enabled": False})
        await manager.register(record)
        for person in ("ada", "eve"):
            before = current_person.set(Person(person))
            manager.connection("s")
            current_person.reset(before)
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
