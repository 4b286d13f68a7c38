"""The end of a session: nothing that a server says meanwhile holds it up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from naru.connections.session import opening
from naru.connections.session.options import ServerRequest
from naru.connections.session.session import Hooks, Session
from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Inbox
from naru.messages import JsonObject
from naru.records import ServerRecord, ServerStatus, TransportType
from tests.connections.conftest import managed
from tests.connections.in_memory import InMemoryServer, InMemoryTransport, reaching


class Hears:
    """A session's owner that does nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *said: None


class AsksAtItsEnd(InMemoryTransport):
    """Asks a question when it hears that it shall end, as a program may whose stdin is closed."""

    async def close(self) -> None:
        self.say({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}})
        await asyncio.sleep(0)
        await super().close()


async def test_a_question_asked_while_a_session_is_closed_is_given_up_with_it() -> None:
    asked: list[str] = []

    async def nobody_answers(request: ServerRequest) -> JsonObject:
        asked.append(request.method)
        await asyncio.Event().wait()
        return {}

    transport = AsksAtItsEnd(InMemoryServer())
    session = Session("s", transport, Hears(), settings=ConnectionSettings(), hooks=Hooks(on_request=nobody_answers))
    await transport.open(session)
    closing = asyncio.ensure_future(session.close())
    for _ in range(20):  # turns of the loop, in which nothing waits for a clock
        await asyncio.sleep(0)
    assert asked == ["elicitation/create"]
    assert closing.done()


@pytest.mark.parametrize("turns", range(12))
async def test_a_server_that_fails_in_the_moment_of_its_disconnect_stays_disconnected(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, fails = asyncio.Event(), asyncio.Event()

    class Fails(InMemoryTransport):
        async def open(self, inbox: Inbox) -> None:
            begun.set()
            await fails.wait()
            raise LinkError(Failure("launch", "not_started", "it could not be started."))

    server = InMemoryServer()
    server.link = lambda: Fails(server)  # type: ignore[method-assign]
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed() as manager:
        record = ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": "s"})
        await manager.register(record)
        connecting = asyncio.create_task(manager.connect("s"))
        await asyncio.wait_for(begun.wait(), 30)
        fails.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        await manager.disconnect("s")
        assert not await connecting
        life = manager.connection("s").life
        assert (life.status, life.wait_seconds(0.0)) == (ServerStatus.DISCONNECTED, None)
