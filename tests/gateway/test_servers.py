"""Connections as the gateway's upstreams: what clients asked of a server survives its link."""

from __future__ import annotations

from naru.gateway.servers import ServerUpstreams
from tests.connections.conftest import http, managed, until
from tests.connections.fake_http import FakeHttpServer


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
