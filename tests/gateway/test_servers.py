"""Connections as the gateway's upstreams: what clients asked of a server survives its link."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
from collections.abc import AsyncIterator, Iterator

import pytest

from naru.connections import personal
from naru.connections.manager import Manager
from naru.gateway.engine import Engine
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.servers import ServerUpstreams
from naru.persons import Person, current_person
from tests.connections.conftest import http, managed, stdio
from tests.connections.fake_http import FakeHttpServer, events
from tests.gateway.by_hand import request
from tests.waiting import sleep_as_the_machine, until


class ResourceServer(FakeHttpServer):
    def result(self, method, message):
        found = super().result(method, message)
        if method == "initialize":
            found["capabilities"] |= {"resources": {"subscribe": True}, "logging": {}}
        return found


async def test_subscriptions_and_the_log_level_are_asked_for_again_after_a_reconnect() -> None:
    async with managed() as manager, ResourceServer() as server:
        upstreams = ServerUpstreams(manager)
        await manager.register(http("web", server.url))
        assert await manager.connect("web")
        upstream = upstreams.find("web")
        assert upstream is not None
        await upstream.subscribe("a:b")
        await upstream.set_log_level("debug")
        for _ in range(2):
            server.seen.clear()
            server.sessions.clear()  # as a restart does
            assert (await manager.call_tool("web", "echo", {"text": "x"})).text == "x"
            await until(lambda: bool(server.seen["resources/subscribe"] and server.seen["logging/setLevel"]))


async def test_a_server_that_rests_is_told_the_log_level_when_it_wakes() -> None:
    async with managed() as manager, ResourceServer() as server:
        upstreams = ServerUpstreams(manager)
        await manager.register(http("web", server.url))
        assert await manager.connect("web")
        upstream = upstreams.find("web")
        assert upstream is not None
        await manager.disconnect("web")
        server.seen.clear()
        await upstream.set_log_level("debug")
        assert not server.seen
        assert await manager.connect("web")
        await until(lambda: server.seen["logging/setLevel"] == 1)


async def test_a_server_that_comes_later_is_told_the_log_level() -> None:
    async with managed() as manager, ResourceServer() as server, engine_before(manager) as engine:
        session = engine.open_session("ada", "")
        session.version = "2025-11-25"
        assert b'"result":{}' in await ask(engine, session, "logging/setLevel", level="debug")
        await manager.register(http("web", server.url))
        assert await manager.connect("web")
        await until(lambda: server.seen["logging/setLevel"] == 1)
        (told,) = (one["params"] for one in server.bodies if one.get("method") == "logging/setLevel")
        assert told["level"] == "debug"


async def test_a_call_waits_for_its_server_to_be_connected_and_is_told_why_it_is_not() -> None:
    async with managed() as manager:
        upstreams = ServerUpstreams(manager)
        await manager.register(stdio("my.raw", "raw_server.py"))
        await manager.register(stdio("bad", "raw_server.py", "exit"))
        connecting = asyncio.ensure_future(asyncio.gather(manager.connect("my.raw"), manager.connect("bad")))
        await until(lambda: manager.connection("my.raw").status == "CONNECTING")
        assert not (await upstreams.awaited("my_raw__echo")).why
        assert manager.connection("my.raw").is_live, "the call waited for it"
        await connecting
        assert "exited with code 1" in (await upstreams.awaited("bad__echo")).why
        assert not (await upstreams.awaited("nobody__echo")).why


async def test_a_machine_that_sleeps_meanwhile_costs_a_call_no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managed() as manager:
        upstreams = ServerUpstreams(manager)
        await manager.register(stdio("raw", "raw_server.py"))
        connecting = asyncio.ensure_future(manager.connect("raw"))
        await until(lambda: manager.connection("raw").status == "CONNECTING")
        waiting = asyncio.ensure_future(upstreams.awaited("raw__echo"))
        await asyncio.sleep(0)  # until it waits
        await sleep_as_the_machine(monkeypatch, 40)
        assert not (await waiting).why
        assert await connecting


URI = "file:///notes"


class OwnNotes(ResourceServer):
    """Has a note for each person, and says on their own stream when it changed."""

    def __init__(self) -> None:
        super().__init__()
        self.offers_stream = True

    def result(self, method, message):
        if method == "resources/list":
            return {"resources": [{"uri": URI, "name": "notes"}]}
        return super().result(method, message)

    async def say_updated(self, stream: int) -> None:
        note = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}}
        await self.streams[stream].write(events(note))


@contextlib.contextmanager
def asks(person: str, **headers: str) -> Iterator[None]:
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    before = current_person.set(Person(person, headers=given))
    try:
        yield
    finally:
        current_person.reset(before)


@contextlib.asynccontextmanager
async def engine_before(manager: Manager) -> AsyncIterator[Engine]:
    engine = Engine(ServerUpstreams(manager))
    try:
        yield engine
    finally:
        await engine.close()


async def subscribed(engine: Engine, person: str, heard: list[bytes]) -> Session:
    with asks(person):
        session = engine.open_session(person, "")
        session.version = "2025-11-25"
        session.attach(lambda frame: heard.append(frame) is None)
        assert b'"result":{}' in await ask(engine, session, "resources/subscribe", uri=URI)
        return session


async def ask(engine: Engine, session: Session, method: str, **params: str) -> bytes:
    async with asyncio.timeout(60):
        return await engine.answer_legacy(request(method, params), session, session.emit)


async def test_an_update_at_a_persons_own_server_is_told_to_that_person_alone() -> None:
    async with managed() as manager, OwnNotes() as server, engine_before(manager) as engine:
        await manager.register(http("notes", server.url, credentials="per-user"))
        heard: dict[str, list[bytes]] = {"ada": [], "bob": []}
        sessions = {}
        for number, (person, told) in enumerate(heard.items()):
            sessions[person] = await subscribed(engine, person, told)
            await until(lambda number=number: len(server.streams) == number + 1)
        assert server.seen["resources/subscribe"] == 2, "each has a link of their own"
        await server.say_updated(1)
        await until(lambda: heard["bob"])
        (note,) = heard["bob"]
        assert json.loads(note)["params"]["uri"] == URI
        assert not heard["ada"]

        with asks("bob"):  # after a restart of the server his link is asked again
            server.seen.clear()
            server.sessions.clear()
            await ask(engine, sessions["bob"], "tools/call", name="notes__echo")
        await until(lambda: server.seen["resources/subscribe"] == 1)
        with asks("bob"):
            await ask(engine, sessions["bob"], "resources/unsubscribe", uri=URI)
        assert server.seen["resources/unsubscribe"] == 1


async def test_credentials_that_change_with_each_request_leave_nothing_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(personal, "MOST_LINKS", 3)
    async with managed() as manager, FakeHttpServer() as server, engine_before(manager) as engine:
        await manager.register(http("web", server.url, credentials="forward", forwardHeaders={"x-token": "X-Token"}))
        for number in range(20):
            with asks("ada", x_token=f"token {number}"):
                view = await engine.catalog.view("", to_list=True)
                await until(lambda: manager.connection("web").is_live)
                view = await engine.catalog.view("", to_list=True)
                assert "web__echo" in view.tools
        del view
        await until(lambda: len(manager._personal._closing) == 0)
        gc.collect()
        assert isinstance(engine.upstreams, ServerUpstreams)
        assert len(engine.upstreams._known) <= 6
        assert len(engine.catalog._kept) <= 6
