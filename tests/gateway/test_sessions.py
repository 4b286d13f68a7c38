"""Sessions are bounded, and whoever opens very many has their own closed for it."""

from __future__ import annotations

import asyncio

from naru.gateway.engine import Engine
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.by_hand import gateway
from tests.gateway.scripted import ScriptedUpstream, ScriptedUpstreams


async def test_who_opens_sessions_without_end_closes_nobody_elses() -> None:
    engine = Engine(ScriptedUpstreams(ScriptedUpstream("a")), GatewaySettings(max_sessions=4))
    hers = engine.open_session("ann", "")
    own = [engine.open_session("bob", "") for _ in range(10)]
    assert engine.find_session(hers.id, "ann") is hers
    assert [one.id in engine.sessions for one in own] == [False] * 7 + [True] * 3
    engine.open_session("eve", "")
    assert engine.find_session(hers.id, "ann") is hers
    await engine.close()


async def test_the_streams_of_a_session_end_with_it() -> None:
    async with gateway() as client:
        session = await client.initialize()
        heads = {"mcp-session-id": session, "accept": "text/event-stream"}
        async with client.http.get(f"{client.url}/mcp", headers=heads) as stream:
            assert stream.status == 200
            await client.http.delete(f"{client.url}/mcp", headers={"mcp-session-id": session})
            async with asyncio.timeout(30):
                assert await stream.text() == ": open\n\n"
