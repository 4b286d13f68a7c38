"""What a session keeps for `Last-Event-ID`, by the ids that clients send."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from naru.gateway.faces.replay import Replay, replay_of
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.streams import Stream, StreamLimits
from tests.gateway.by_hand import Json, events, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream
from tests.waiting import until


@pytest.mark.parametrize(
    "told",
    ["", "x", "0", "-0", "0-", "0-1-2", "0-²", "٠-١", "0-" + "9" * 5000, "9" * 5000 + "-0", "1-0", "0-1"],
    ids=lambda told: told[:12] + f"({len(told)})",
)
def test_an_id_that_was_never_given_leads_nowhere(told: str) -> None:
    assert Replay().find(told) is None


def worker() -> tuple[ScriptedUpstream, asyncio.Event]:
    """Return a server with a tool that reports once and then waits until it is let go."""
    release = asyncio.Event()

    async def work(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        relay.progress({"progress": 1})
        await asyncio.wait_for(release.wait(), 30)
        return {"content": [{"type": "text", "text": "done"}]}

    return ScriptedUpstream("a", {"work": work}), release


def call(number: int) -> Json:
    return request("tools/call", {"name": "a__work", "_meta": {"progressToken": number}}, number)


async def last_id(response: aiohttp.ClientResponse) -> str:
    """Read up to the first report; return the id that it came under."""
    last = ""
    async for line in response.content:
        if line.startswith(b"id: "):
            last = line[4:].decode().strip()
        if line.startswith(b"data: {"):
            break
    return last


async def test_a_stream_that_was_taken_up_stays_when_the_end_of_the_old_connection_is_noticed_at_last() -> None:
    server, release = worker()
    async with gateway(server) as client, asyncio.timeout(30):
        session = await client.initialize()
        heads = {"mcp-session-id": session}
        old = await client.http.post(client.url + "/mcp", json=call(1), headers=heads)
        last = await last_id(old)
        async with client.http.get(client.url + "/mcp", headers={**heads, "last-event-id": last}) as new:
            await new.content.readline()  # it is held, and the old one still looks alive
            kept = client.engine.sessions[session].replay
            assert isinstance(kept, Replay)
            old.close()
            await until(lambda: len(kept.find(last)[0].outputs) < 2)  # type: ignore[index]
            release.set()
            assert (await next_event(new))["result"]["content"][0]["text"] == "done"


async def test_however_many_events_were_missed_they_all_come() -> None:
    async with gateway() as client, asyncio.timeout(30):
        session = await client.initialize()
        heads = {"mcp-session-id": session}
        replay = replay_of(client.engine.sessions[session])
        track = replay.open()
        for number in range(400):
            replay.add(track, b'{"n":%d}' % number)
        replay.finish(track)
        heads["last-event-id"] = f"{track.number}-0"
        async with client.http.get(client.url + "/mcp", headers=heads) as response:
            assert [event["n"] for event in events(await response.text())] == list(range(400))


async def test_what_is_cancelled_is_not_kept() -> None:
    server, _ = worker()
    async with gateway(server) as client, asyncio.timeout(30):
        session = await client.initialize()
        heads = {"mcp-session-id": session}
        async with client.http.post(client.url + "/mcp", json=call(1), headers=heads) as response:
            last = await last_id(response)
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            await client.post(note, mcp_session_id=session)
            await response.read()
        kept = client.engine.sessions[session].replay
        assert isinstance(kept, Replay)
        assert kept.find(last) is None, "who takes it up is told that nothing comes"


async def test_a_notice_that_nobody_took_comes_once_to_who_comes_back() -> None:
    session, replay = Session("", ""), Replay()
    session.replay = replay
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    gone = Stream(send, StreamLimits())
    gone.gone = True  # its end is not noticed yet
    track = replay.standalone()
    track.outputs.append(gone)
    session.attach(replay.push_standalone)
    session.emit(b"{}")
    track.outputs.remove(gone)
    session.detach(replay.push_standalone)
    found = replay.find("0-0")
    assert found is not None
    back = Stream(send, StreamLimits())
    for chunk in found[1]:
        back.push(chunk)
    track.outputs.append(back)
    session.attach(replay.push_standalone)
    await back.flush()
    assert b"".join(message.get("body", b"") for message in sent).count(b"data: {}") == 1
