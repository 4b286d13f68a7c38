"""Subscriptions of resources: what is counted is given back, and one that fails takes nothing else with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from naru.errors import NaruError
from naru.gateway.faces.duplex import take
from naru.gateway.sessions import subscriptions
from naru.gateway.sessions.subscriptions import Listen, Subscriptions
from naru.gateway.wire.protocol import RpcError
from naru.persons import Person, current_person
from tests.gateway.by_hand import META, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream
from tests.waiting import until

URI = "file:///notes"
MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
LISTEN = request(
    "subscriptions/listen", {"_meta": META, "notifications": {"resourceSubscriptions": [URI, "file:///b"]}}
)


class Server(ScriptedUpstream):
    """Takes subscriptions when it is let."""

    def __init__(self, refuses: str = "") -> None:
        super().__init__("a", items={"resources": [{"uri": URI, "name": "n"}, {"uri": "file:///b", "name": "b"}]})
        self.refuses = refuses
        self.held: Any = None
        self.holds: asyncio.Event | None = None

    async def subscribe(self, uri: str) -> None:
        await super().subscribe(uri)
        await asyncio.sleep(0)
        if self.holds is not None:
            await asyncio.wait_for(self.holds.wait(), 30)
        if uri == self.refuses:
            raise NaruError("the server is not connected")

    @property
    def told(self) -> list[str]:
        return [method for method, _, _ in self.seen if method in ("subscribe", "unsubscribe")]


async def test_a_stream_says_what_it_could_not_subscribe_to_and_tells_the_rest() -> None:
    async with (
        gateway(Server(refuses=URI)) as client,
        client.http.post(client.url + "/mcp", json=LISTEN, headers=MODERN) as stream,
    ):
        assert stream.status == 200
        told = await next_event(stream)
        assert told["params"]["notifications"]["resourceSubscriptions"] == ["file:///b"]


async def test_on_a_stream_for_everything_too() -> None:
    async with gateway(Server(refuses=URI)) as client:
        engine, got = client.engine, list[bytes]()
        session = engine.open_session("", "")
        session.attach(lambda frame: got.append(frame) is None)
        take(engine, LISTEN, session)
        await until(lambda: got)
        assert b"acknowledged" in got[0]
        assert b'["file:///b"]' in got[0]


async def test_a_subscription_without_a_session_ends_with_its_request() -> None:
    server = Server()
    async with gateway(server) as client:
        asked = request("resources/subscribe", {"uri": URI})
        assert (await client.post(asked, "/sse"))[0] == 200
        await until(lambda: server.told == ["subscribe", "unsubscribe"])


async def test_a_session_that_ends_while_it_subscribes_takes_no_other_ones_updates_away() -> None:
    server = Server()
    async with gateway(server) as client, asyncio.timeout(30):
        first, second = await client.initialize(), await client.initialize()
        server.holds = asyncio.Event()
        asked = request("resources/subscribe", {"uri": URI})
        calls = [asyncio.create_task(client.post(asked, mcp_session_id=first))]
        await until(lambda: server.told == ["subscribe"])
        calls.append(asyncio.create_task(client.post(asked, mcp_session_id=second)))
        await until(lambda: client.engine.sessions[second].subscriptions)
        async with client.http.delete(client.url + "/mcp", headers={"mcp-session-id": first}) as gone:
            assert gone.status == 204
        server.holds.set()
        await asyncio.gather(*calls)
        await until(lambda: not client.engine._running)
        assert server.told[-1] == "subscribe"


def test_s19_one_person_cannot_take_all_places_for_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MAX_LISTENS", 3)
    ended: list[object] = []
    streams = Subscriptions(lambda: ())

    def listen(person: str, stream: str) -> None:
        token = current_person.set(Person(person))
        try:
            none: frozenset[str] = frozenset()
            streams.open(Listen(stream, "", none, none, lambda frame: True, lambda frame: ended.append(stream)))
        finally:
            current_person.reset(token)

    for stream in ("a1", "a2", "a3"):
        listen("ada", stream)
    with pytest.raises(RpcError, match="Too many subscription streams"):
        listen("ada", "a4")
    listen("bob", "b1")
    assert ended == ["a3"]
    with pytest.raises(RpcError, match="Too many subscription streams"):
        listen("bob", "b2")
