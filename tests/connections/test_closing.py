"""The end of a session: nothing that a server says meanwhile holds it up."""

from __future__ import annotations

import asyncio
from typing import Any

from naru.connections.session.options import ServerRequest
from naru.connections.session.session import Hooks, Session
from naru.connections.state.settings import ConnectionSettings
from naru.messages import JsonObject
from tests.connections.in_memory import InMemoryServer, InMemoryTransport


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
