"""A server that asks and takes no answers, as one whose other end has vanished."""

from __future__ import annotations

import asyncio

from naru.connections.session.session import Hooks, Session
from naru.connections.state.settings import ConnectionSettings
from naru.messages import JsonObject
from tests.connections.in_memory import InMemoryServer, InMemoryTransport


class Unread(InMemoryTransport):
    async def send(self, body: bytes, *, version: str = "") -> None:
        await asyncio.Event().wait()


class Owner:
    def begun(self, session: Session) -> None: ...
    def list_changed(self, kind: str) -> None: ...
    def notified(self, method: str, params: JsonObject) -> None: ...
    def link_lost(self) -> None: ...


async def test_answers_that_nobody_takes_do_not_pile_up() -> None:
    transport = Unread(InMemoryServer())
    session = Session("deaf", transport, Owner(), settings=ConnectionSettings(), hooks=Hooks())
    for number in range(1000):
        session.receive({"jsonrpc": "2.0", "id": number, "method": "ping"}, None)
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) < 300
    assert transport.counters.strays == 800
    await session.close()
