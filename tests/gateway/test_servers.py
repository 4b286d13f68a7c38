"""Connections as the gateway's upstreams: what clients asked of a server survives its link."""

from __future__ import annotations

import asyncio

import pytest

from naru.gateway.upstreams.servers import ServerUpstreams
from tests.connections.conftest import http, managed, stdio
from tests.connections.fake_http import FakeHttpServer
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
