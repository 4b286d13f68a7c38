"""Clients that leave, do not read, come back or are too many (R-28, R-29, R-36, R-37, R-39); isolation (S-14, V3)."""

from __future__ import annotations

import asyncio
import gc
import json
import random
from functools import partial
from types import TracebackType
from typing import Any

import aiohttp
import pytest
from yarl import URL

from naru.gateway.requests.core import GatewaySettings
from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.streams import StreamLimits
from naru.http1.head import address_of, request_head, with_body
from naru.http1.pool import Pool
from naru.persons import Person, current_person
from naru.web.one_write import OneWriteProtocol
from tests.gateway.by_hand import META, Client, Json, events, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream
from tests.sizes import sized
from tests.waiting import until

"""Run what has a number in SECURITY.md at that number; minutes instead of seconds."""


def words(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


class Slow:
    """A tool that waits until it is let go, and remembers who was given up."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.started = 0
        self.cancelled = 0
        self.finished = 0

    async def __call__(self, params: Json, relay: Relay | None) -> Json:
        self.started += 1
        try:
            await asyncio.wait_for(self.release.wait(), 60)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.finished += 1
        return words("slept")


async def abort(client: Client, message: Json, started: Any, **headers: str) -> None:
    """Send a request over a socket of its own and hang up once it is under way."""
    body = json.dumps(message).encode()
    lines = ["POST /mcp HTTP/1.1", f"Host: {client.url[7:]}", "Content-Type: application/json"]
    lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
    reader, writer = await asyncio.open_connection(*client.url[7:].split(":"))
    writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}"]).encode() + b"\r\n\r\n" + body)
    await until(started)
    writer.transport.abort()
    del reader


MODERN = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "a__slow"}


@pytest.mark.slow
@pytest.mark.parametrize("http", [OneWriteProtocol, "httptools"], ids=["our server", "any server"])
@pytest.mark.parametrize("length", [0, 200_000], ids=["short", "long"])
async def test_a_stateless_client_that_leaves_takes_its_call_with_it(http: Any, length: int) -> None:
    slow = Slow()
    async with gateway(ScriptedUpstream("a", {"slow": slow}), http=http) as client:
        for number in range(1, sized(21, 1001)):
            call = request("tools/call", {"name": "a__slow", "arguments": {"x": "y" * length}, "_meta": META})
            await abort(client, call, lambda number=number: slow.started == number, **MODERN)
            await until(lambda number=number: slow.cancelled == number)
        print(f"R-28: {slow.cancelled} clients left, {slow.finished} calls went on")
        assert slow.finished == 0
        assert not client.engine._running, "nobody's work is left"


@pytest.mark.slow
async def test_a_session_client_that_leaves_does_not_cancel_and_takes_the_answer_up_again() -> None:
    cut = asyncio.Event()

    async def work(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        relay.progress({"progress": 1})
        await asyncio.wait_for(cut.wait(), 30)
        relay.progress({"progress": 2})
        return words("done")

    async with gateway(ScriptedUpstream("a", {"work": work})) as client:
        session = await client.initialize()
        other = await client.initialize()
        for number in range(sized(20, 100)):
            cut.clear()
            call = request("tools/call", {"name": "a__work", "_meta": {"progressToken": number}}, number)
            headers = {"mcp-session-id": session}
            async with client.http.post(client.url + "/mcp", json=call, headers=headers) as response:
                last = ""
                async for line in response.content:
                    if line.startswith(b"id: "):
                        last = line[4:].decode().strip()
                    if line.startswith(b"data: {"):
                        break
                response.close()
            if number % 2:
                cut.set()  # the rest is written while nobody reads, or as it is read
            stolen = {"mcp-session-id": other, "last-event-id": last}
            async with client.http.get(client.url + "/mcp", headers=stolen) as response:
                assert response.status == 404, "another session's events are not to be had"
            asyncio.get_running_loop().call_later(0.005, cut.set)
            again = {"mcp-session-id": session, "last-event-id": last}
            async with client.http.get(client.url + "/mcp", headers=again) as response, asyncio.timeout(30):
                got: list[Json] = events(await response.text())
            assert [event["params"]["progress"] for event in got[:-1]] == [2]
            assert (got[-1]["id"], got[-1]["result"]["content"][0]["text"]) == (number, "done")
        print(f"R-39: {number + 1} streams cut and taken up, none lost, doubled or foreign")


async def test_a_cancelled_request_ends_upstream_and_is_not_answered() -> None:
    slow = Slow()
    async with gateway(ScriptedUpstream("a", {"slow": slow})) as client:
        session = await client.initialize()
        call = asyncio.create_task(
            client.post(request("tools/call", {"name": "a__slow", "arguments": {}}, 1), mcp_session_id=session)
        )
        await until(lambda: slow.started == 1)
        for other in (1.0, "1", [1], True, None, 1):
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": other}}
            assert slow.cancelled == 0, "only its own id cancels it"
            assert (await client.post(note, mcp_session_id=session))[0] == 202
        status, told, _ = await asyncio.wait_for(call, 30)
        assert (status, told, slow.cancelled) == (200, [], 1)
        assert (await client.post(request("ping", request_id=1), mcp_session_id=session))[1]["result"] == {}


async def test_a_client_that_does_not_read_is_cut_off_and_others_feel_nothing() -> None:
    async def flood(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        for step in range(2000):
            relay.progress({"progress": step, "message": "x" * 10_000})
            await asyncio.sleep(0)
        return words("flooded")

    settings = GatewaySettings(stream=StreamLimits(messages=256, bytes=1024 * 1024))
    async with gateway(ScriptedUpstream("a", {"flood": flood, "quick": quick}), settings=settings) as client:
        session = await client.initialize()
        body = json.dumps(request("tools/call", {"name": "a__flood", "_meta": {"progressToken": 1}})).encode()
        _, writer = await asyncio.open_connection(*client.url[7:].split(":"), limit=1024)
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: {client.url[7:]}\r\nContent-Type: application/json\r\n"
            f"Mcp-Session-Id: {session}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        writer.write(body)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(20):
            async with asyncio.timeout(30):
                _, answer, _ = await client.modern("tools/call", {"name": "a__quick"})
            assert answer["result"]["content"][0]["text"] == "quick"
        replay = client.engine.sessions[session].replay
        assert replay is not None
        assert replay._bytes <= 4 * 1024 * 1024  # type: ignore[attr-defined]
        writer.transport.abort()


async def quick(params: Json, relay: Relay | None) -> Json:
    return words("quick")


async def test_one_request_too_many_is_refused_at_once_and_says_when_to_come_back() -> None:
    slow = Slow()
    settings = GatewaySettings(max_inflight=5)
    async with gateway(ScriptedUpstream("a", {"slow": slow}), settings=settings) as client:
        params = {"name": "a__slow", "arguments": {}}
        running = [asyncio.create_task(client.modern("tools/call", params)) for _ in range(5)]
        await until(lambda: slow.started == 5)
        for _ in range(10):
            status, answer, headers = await client.modern("tools/call", params)
            assert (status, headers["retry-after"], answer["error"]["code"]) == (503, "1", -32000)
        assert slow.started == 5, "what is refused never reaches a server"
        slow.release.set()
        assert [status for status, _, _ in await asyncio.gather(*running)] == [200] * 5


@pytest.mark.parametrize(
    ("askers", "places"),
    [(["ada", "bob", "eve"], [3, 2, 1]), (["local", "ada"], [6, 0])],
    ids=["keys", "no keys"],
)
async def test_s19_one_key_leaves_places_for_the_requests_of_others(askers: list[str], places: list[int]) -> None:
    async with gateway(settings=GatewaySettings(max_inflight=6)) as client:
        engine, release = client.engine, asyncio.Event()

        async def wait() -> None:
            await release.wait()

        def taken(person: str) -> int:
            before, count = current_person.set(Person(person)), 0
            while not engine.busy:
                engine.run(wait())
                count += 1
            current_person.reset(before)
            return count

        assert [taken(person) for person in askers] == places
        release.set()
        await until(lambda: not engine._running)
        assert taken(askers[0]) == places[0], "what has ended takes no place"


@pytest.mark.slow
async def test_a_refusal_keeps_nothing_of_the_request_that_it_refused() -> None:
    settings = GatewaySettings(max_inflight=0)
    async with gateway(settings=settings) as client:  # an error raised again and again keeps every frame
        params = {"name": "a__echo", "arguments": {}}

        async def kept_after(refusals: int) -> int:
            for _ in range(refusals):
                assert (await client.modern("tools/call", params))[0] == 503
            gc.collect()
            return sum(isinstance(each, TracebackType) for each in gc.get_objects())

        before = await kept_after(5)
        assert await kept_after(50) < before + 50


async def test_a_stop_ends_streams_at_once_and_lets_requests_finish() -> None:
    slow = Slow()
    async with gateway(ScriptedUpstream("a", {"slow": slow})) as client:
        session = await client.initialize()
        call = asyncio.create_task(client.modern("tools/call", {"name": "a__slow", "arguments": {}}))
        await until(lambda: slow.started == 1)
        async with client.http.get(client.url + "/mcp", headers={"mcp-session-id": session}) as stream:
            client.engine.end_streams()
            await asyncio.wait_for(stream.content.read(), 30)
            assert slow.finished == 0, "the stream did not wait for the call"
        assert (await client.modern("tools/call", {"name": "a__slow"}))[0] == 503
        async with client.http.get(client.url + "/mcp", headers={"mcp-session-id": session}) as stream:
            assert stream.status == 503, "a stream that begins now would keep the stop waiting"
        slow.release.set()
        assert (await call)[1]["result"]["content"][0]["text"] == "slept"


@pytest.mark.parametrize("is_modern", [False, True], ids=["session", "stateless"])
async def test_what_does_not_finish_before_the_stop_is_answered_with_an_error(is_modern: bool) -> None:
    slow = Slow()
    async with gateway(ScriptedUpstream("a", {"slow": slow}), settings=GatewaySettings(drain_seconds=0.2)) as client:
        session = await client.initialize()
        params = {"name": "a__slow", "arguments": {}}
        by_session = partial(client.post, request("tools/call", params), mcp_session_id=session)
        call = asyncio.create_task(client.modern("tools/call", params) if is_modern else by_session())
        await until(lambda: slow.started == 1)
        await client.engine.close()
        _, answer, _ = await asyncio.wait_for(call, 30)
        assert answer["error"]["message"] == "Naru is stopping."


async def test_a_session_belongs_to_who_opened_it() -> None:
    async with gateway() as client:  # S-13
        session = client.engine.open_session("ann", "")
        assert client.engine.find_session(session.id, "ann") is session
        assert client.engine.find_session(session.id, "bob") is None
        assert len(session.id) >= 32


async def test_parked_calls_of_two_callers_are_not_interchangeable() -> None:
    from naru.gateway.sessions.exchange import Exchange
    from naru.gateway.sessions.parked import ParkedCall, Parking
    from naru.gateway.wire.protocol import RpcError

    def exchange(caller: str) -> Exchange:
        return Exchange(caller, "", "2026-07-28", {"elicitation": {}}, {}, lambda frame: None)

    parking = Parking()
    call = ParkedCall(exchange("ann"))

    async def ask() -> Json:
        return dict(await call.ask("elicitation/create", {}))

    parking.start(call, ask())
    assert await call.next() is None
    parked = parking.park(call)
    with pytest.raises(RpcError):
        parking.take(parked, exchange("bob"), {})
    assert parking.take(parked, exchange("ann"), {}) is call
    call.answer({next(iter(call.questions)): {"action": "decline"}})
    assert await call.next() == {"action": "decline"}
    await parking.close()


async def isolation(ids: range) -> tuple[int, int]:
    """100 clients, all with the same ids; every answer must carry its own client's canary."""
    answered = foreign = 0

    async def jitter(params: Json, relay: Relay | None) -> Json:
        if random.random() < 0.2:
            await asyncio.sleep(random.random() * 0.005)
        return words(params["arguments"]["canary"])

    async with gateway(ScriptedUpstream("a", {"echo": jitter})) as client:
        url = URL(client.url + "/mcp")
        pool = Pool(address_of(url))

        async def call(session: str, request_id: int, canary: str) -> None:
            nonlocal answered, foreign
            params = {"name": "a__echo", "arguments": {"canary": canary}}
            heads = {"Content-Type": "application/json", "Accept": "application/json", "Mcp-Session-Id": session}
            asked = json.dumps(request("tools/call", params, request_id)).encode()
            reply = await pool.ask(with_body(request_head("POST", url, heads), asked))
            body = await reply.read_some(1 << 20)
            answer = json.loads(body)
            answered += 1
            foreign += not (answer["id"] == request_id and answer["result"]["content"][0]["text"] == canary)

        async def one(number: int) -> None:
            session = await client.initialize()
            for place, request_id in enumerate(ids):
                if place % 500 == 499:
                    session = await client.initialize()
                sent = asyncio.create_task(call(session, request_id, f"{number}-{request_id}"))
                if random.random() < 0.01:
                    for _ in range(random.randrange(8)):
                        await asyncio.sleep(0)
                    sent.cancel()
                await asyncio.wait({sent})
                if not sent.cancelled() and not isinstance(sent.exception(), OSError):
                    sent.result()  # a kept connection may have been closed: the next call makes another

        await asyncio.gather(*(one(number) for number in range(100)))
        pool.close()
    return answered, foreign


@pytest.mark.slow
async def test_no_answer_reaches_another_client() -> None:
    ids = range(0, 1000, sized(50, 1))  # S-14
    answered, foreign = await isolation(ids)
    print(f"S-14: {answered} answers, {foreign} foreign")
    assert foreign == 0
    assert answered > 95 * len(ids)


@pytest.mark.slow
async def test_sessions_that_vanish_cost_little_and_go_after_a_while() -> None:
    settings = GatewaySettings(session_idle_seconds=0.5)
    async with gateway(settings=settings) as client:
        for _ in range(50):
            await client.initialize()
        await until(lambda: not client.engine.sessions, 60)


async def test_a_stream_of_a_lost_client_is_noticed() -> None:
    async with gateway() as client:
        async with client.http.get(client.url + "/sse") as response:
            await response.content.readline()
            assert len(client.engine.sessions) == 1
            response.close()
        await until(lambda: not client.engine.sessions)


async def test_sampling_pushed_to_one_client_never_reaches_another() -> None:
    async def ask(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        who = params["arguments"]["who"]
        answer = await relay.ask("elicitation/create", {"message": who})
        return words(f"{who}:{answer['content']['name']}")

    async with gateway(ScriptedUpstream("a", {"ask": ask}, modern=False)) as client:

        async def one(name: str) -> str:
            session = await client.initialize(elicitation={})
            call = request("tools/call", {"name": "a__ask", "arguments": {"who": name}})
            async with client.http.post(
                client.url + "/mcp", json=call, headers={"mcp-session-id": session}, timeout=aiohttp.ClientTimeout(20)
            ) as response:
                asked = await next_event(response)
                assert asked["params"]["message"] == name
                reply = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"name": name}}}
                await client.post(reply, mcp_session_id=session)
                return str((await next_event(response))["result"]["content"][0]["text"])

        names = [f"client{number}" for number in range(30)]
        assert await asyncio.gather(*map(one, names)) == [f"{name}:{name}" for name in names]
