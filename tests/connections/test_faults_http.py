"""The fault matrix over HTTP (SECURITY.md section 4); each test prints the figure it measured."""

from __future__ import annotations

import asyncio
import gzip
import json
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from aiohttp import web

from naru.connections.manager import Manager
from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Hooks
from naru.connections.state.faults import BusyError, LinkError, RpcError
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.errors import ToolError, ToolTimeoutError
from naru.records import ServerStatus, TransportType
from naru.tools.toolset import CallContext
from tests.connections.conftest import LATER, ONCE, QUICK, http, managed, stdio
from tests.connections.fake_http import FakeHttpServer, events, refused
from tests.connections.test_faults_stdio import forget_peak, peak_mib, worst_lag
from tests.ports import free_port
from tests.sizes import sized, within
from tests.waiting import sleep_as_the_machine, until

pytestmark = pytest.mark.slow


async def connected(manager: Manager, server: FakeHttpServer, name: str = "web", **config: Any) -> None:
    await manager.register(http(name, server.url, **config))
    assert await manager.connect(name), manager.explain(name).summary


async def echo(manager: Manager, text: str, name: str = "web", seconds: float = 10) -> str:
    return (await manager.call_tool(name, "echo", {"text": text}, CallContext(timeout_seconds=seconds))).text


async def bytes_reply(request: web.Request, data: bytes, **headers: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", **headers})
    response.content_length = len(data)
    await response.prepare(request)
    await response.write(data)
    await response.write_eof()
    return response


def on_call(behave):
    """Bend only tools/call."""

    async def bent(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
        return await behave(request, message) if message.get("method") == "tools/call" else None

    return bent


@pytest.mark.parametrize("is_modern", [False, True], ids=["legacy", "modern"])
async def test_a_call_costs_exactly_one_upstream_request(manager: Manager, is_modern: bool) -> None:
    """PERF 9: exactly one upstream request a call, in both eras."""
    async with FakeHttpServer(is_modern=is_modern) as server:
        await connected(manager, server)
        before = server.seen.total()
        for n in range(100):
            assert await echo(manager, str(n)) == str(n)
        print(f"requests for 100 calls ({'modern' if is_modern else 'legacy'}): {server.seen.total() - before}")
        assert server.seen.total() - before == 100
        await manager.close()
        assert server.seen["DELETE"] == (0 if is_modern else 1)


async def test_a_modern_server_gets_the_envelope_and_the_headers_it_must(manager: Manager) -> None:
    async with FakeHttpServer(is_modern=True) as server:
        await connected(manager, server)
        options = RequestOptions(meta={"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}, "own": 1})
        await manager.connection("web").request("tools/call", {"name": "écho", "arguments": {}}, options)
        sent, headers = server.bodies[-1], server.headers[-1]
        meta = sent["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"sampling": {}}
        assert meta["own"] == 1
        assert headers["mcp-protocol-version"] == "2026-07-28"
        assert headers["mcp-method"] == "tools/call"
        assert headers["mcp-name"] == "=?base64?w6ljaG8=?="
        assert "mcp-session-id" not in headers


async def test_a_hundred_calls_into_a_lost_session_share_one_initialize(manager: Manager) -> None:
    """R-10, a07"""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        server.sessions.clear()
        server.tools.append("new")
        before = dict(server.seen)
        results = await asyncio.gather(*(echo(manager, str(n)) for n in range(100)))
        assert results == [str(n) for n in range(100)]
        initialized = server.seen["initialize"] - before["initialize"]
        print(f"R-10: 100 concurrent calls, {initialized} initialize, 100 ok")
        assert initialized == 1
        assert "new" in manager.connection("web").catalogue, "tools are listed anew"
        initialize = next(
            n for n in range(len(server.bodies) - 1, -1, -1) if server.bodies[n]["method"] == "initialize"
        )
        posts = [headers for headers in server.headers if headers.get("content-type") == "application/json"]
        assert "mcp-session-id" not in posts[initialize]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (404, ""), (404, "Not Found"), (400, "Session not found"), (400, "not initialized"), (410, "session expired"),
        (500, "Session 6f1a not found"),
    ],
)  # fmt: skip
async def test_every_way_to_say_that_a_session_is_lost_is_understood(manager: Manager, status: int, text: str) -> None:
    """R-10, a09"""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        left = [1]

        async def lose(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=status, text=text) if left and left.pop() else None

        server.behave = on_call(lose)
        assert await echo(manager, "ok") == "ok"
        assert manager.connection("web").generation == 2


@pytest.mark.parametrize("status", [404, 410])
async def test_a_method_that_is_unknown_is_no_lost_session(manager: Manager, status: int) -> None:
    """R-10: the server read the request in its session, whatever HTTP status it says that with."""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def know_nothing(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return refused(message["id"], -32601, status, "Method not found")

        server.behave = on_call(know_nothing)
        with pytest.raises(ToolError, match="Method not found"):
            await echo(manager, "x")
        assert server.seen["tools/call"] == 1
        assert manager.connection("web").generation == 1


SPOKEN_OF = "booked, but the user's session has expired"


@pytest.mark.parametrize("is_json", [False, True])
async def test_a_tool_that_fails_and_speaks_of_a_session_is_not_called_again(manager: Manager, is_json: bool) -> None:
    """R-13"""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def fail(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if is_json:
                return refused(message["id"], -32603, 500, SPOKEN_OF)
            return web.Response(status=500, text=SPOKEN_OF)

        server.behave = on_call(fail)
        with pytest.raises(ToolError, match="session has expired"):
            await echo(manager, "x")
        assert server.seen["tools/call"] == 1
        assert manager.connection("web").generation == 1


async def test_two_hundred_restarts_need_no_hand(manager: Manager) -> None:
    """R-10"""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        count = sized(30, 200)
        for n in range(count):
            server.sessions.clear()
            assert await echo(manager, str(n)) == str(n)
        print(f"R-10: {count} restarts, {count} calls ok, generation {manager.connection('web').generation}")


async def test_a_server_that_refuses_every_new_session_is_not_hammered(manager: Manager) -> None:
    """R-34: offered against sent at 100 % failure."""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def lose(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=404)

        server.behave = on_call(lose)
        before = server.seen.total()
        for _ in range(200):
            with pytest.raises(ToolError):
                await echo(manager, "x")
        ratio = (server.seen.total() - before) / 200
        print(f"R-34 lost sessions: {ratio:.2f} requests sent for each offered")
        assert ratio <= 1.2


async def test_a_failing_server_is_left_alone_and_probed(manager: Manager) -> None:
    """R-34, R-13, a05: 503 fails at once, says so, is never repeated; five in a row open the breaker."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        state = {"down": True}

        async def down(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=503, text="<html>upstream down</html>") if state["down"] else None

        server.behave = on_call(down)
        start = time.monotonic()
        with pytest.raises(ToolError, match="503") as caught:
            await echo(manager, "x")
        assert time.monotonic() - start < within(1)
        assert "may have run" in str(caught.value)
        for _ in range(199):
            with pytest.raises(ToolError):
                await echo(manager, "x")
        sent = server.seen["tools/call"]
        probes = int(time.monotonic() - start)  # one a second at most
        print(f"R-34 503: {sent} requests sent for 200 offered")
        assert 5 <= sent <= 5 + probes
        assert manager.get_status("web") is ServerStatus.DEGRADED
        state["down"] = False
        manager.connection("web")._breaker._open_until = 0.0
        assert await echo(manager, "ok") == "ok"
        assert manager.get_status("web") is ServerStatus.CONNECTED


async def test_failures_between_successes_are_no_trouble_of_the_server(manager: Manager) -> None:
    """R-34: only failures in a row are."""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def every_second(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=500) if server.seen["tools/call"] % 2 else None

        server.behave = on_call(every_second)
        for number in range(20):
            if number % 2:
                assert await echo(manager, str(number)) == str(number)
            else:
                with pytest.raises(ToolError, match="HTTP 500"):
                    await echo(manager, str(number))
        assert manager.get_status("web") is ServerStatus.CONNECTED


@pytest.mark.parametrize("fault", ["status", "reset", "half", "silent-end", "html"])
async def test_a_call_that_may_have_run_is_never_repeated(manager: Manager, fault: str) -> None:
    """R-13: a counter with side effects; at full size 5 x 2,000 faulted calls."""
    count = sized(40, 2_000)
    async with FakeHttpServer() as server:
        await connected(manager, server)
        ran = 0

        async def run_then_fail(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            nonlocal ran
            ran += 1
            if fault == "status":
                return web.Response(status=500)
            if fault == "html":
                return web.Response(text="<html>ok</html>", content_type="text/html")
            if fault == "half":
                response = web.StreamResponse(headers={"Content-Type": "application/json"})
                response.content_length = 1000
                await response.prepare(request)
                await response.write(b'{"jsonrpc"')
            elif fault == "silent-end":
                response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
                await response.prepare(request)
                await response.write(b": nothing\n\n")
                return response
            assert request.transport is not None
            request.transport.abort()
            return web.Response()

        server.behave = on_call(run_then_fail)
        manager.connection("web")._breaker.failures = 10**9
        hangs = 0
        for offered in range(1, count + 1):
            start = time.monotonic()
            with pytest.raises(ToolError) as caught:
                await echo(manager, "x")
            hangs += time.monotonic() - start > within(1)
            assert ran == offered
            assert "'web'" in str(caught.value)
            assert "may have run" in str(caught.value)
        print(f"R-13 {fault}: {count} faulted calls, {ran - count} duplicates, {hangs} slower than 1 s")
        assert hangs == 0


async def test_an_upstream_that_dies_mid_call_and_returns_is_back_by_itself() -> None:
    """R-01: error at once; back within 2 s of its return, without a call."""
    settings = ConnectionSettings()  # the product's own delays
    async with managed(settings) as manager, FakeHttpServer() as server, FakeHttpServer() as other:
        await connected(manager, server)
        await connected(manager, other, name="other")
        quiet = await p99(manager)

        async def hang(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            await asyncio.sleep(60)
            return None

        server.behave = on_call(hang)
        calls = [asyncio.ensure_future(echo(manager, "x", seconds=30)) for _ in range(10)]
        await until(lambda: server.seen["tools/call"] == 10)
        start = time.monotonic()
        await server.stop()
        results = await asyncio.gather(*calls, return_exceptions=True)
        failed = time.monotonic() - start
        assert all(isinstance(result, ToolError) and "'web'" in str(result) for result in results)
        await until(lambda: manager.get_status("web") is ServerStatus.FAILED)
        loud = await p99(manager)
        told = manager.explain("web")
        assert told.failure is not None
        assert told.next_retry_seconds is not None
        server.behave = None
        await server.start()
        back = await until(lambda: manager.connection("web").is_live)
        print(
            f"R-01 http: errors after {failed * 1000:.0f} ms, back {back:.2f} s after return, "
            f"other's p99 {quiet * 1000:.2f} -> {loud * 1000:.2f} ms"
        )
        assert failed < within(1)
        assert back < within(2)
        assert await echo(manager, "again") == "again"


async def test_calls_that_failed_meanwhile_do_not_delay_the_first_one_after_the_return() -> None:
    """PERF 9: enough refused calls for a crash loop, whose next retry is minutes away."""
    async with managed(replace(LATER, knock_interval_seconds=600)) as manager, FakeHttpServer() as server:
        await connected(manager, server)
        await server.stop()
        for _ in range(2 * LATER.reconnect.crash_loop_failures):
            with pytest.raises(ToolError):
                await echo(manager, "x")
        assert manager.connection("web").life.in_crash_loop(asyncio.get_running_loop().time())
        await server.start()
        results = await asyncio.gather(*(echo(manager, f"{number}") for number in range(20)))
        assert results == [f"{number}" for number in range(20)]
        assert manager.connection("web").generation == 2


async def p99(manager: Manager) -> float:
    taken = []
    for _ in range(200):
        start = time.perf_counter()
        await echo(manager, "x", name="other")
        taken.append(time.perf_counter() - start)
    return statistics.quantiles(taken, n=100)[-1]


@pytest.mark.parametrize("is_modern", [False, True], ids=["legacy", "modern"])
async def test_a_call_brings_a_returned_server_back_at_once(manager: Manager, is_modern: bool) -> None:
    """PERF 9: HTTP upstream back within 0.2 s, nobody but the manager sees a 404."""
    async with FakeHttpServer(is_modern=is_modern) as server:
        await connected(manager, server)
        await server.stop()
        with pytest.raises(ToolError, match="no connection"):
            await echo(manager, "x")
        await server.start()
        start = time.monotonic()
        assert await echo(manager, "back") == "back"
        took = time.monotonic() - start
        print(f"back with the first call after {took * 1000:.0f} ms")
        assert took < within(0.2)


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_make_no_storm(manager: Manager, status: int) -> None:
    """R-11"""
    async with FakeHttpServer() as server:

        async def refuse(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if request.headers.get("Authorization") == "Bearer good":
                return None
            return web.Response(status=status, headers={"WWW-Authenticate": 'Bearer realm="r"'})

        server.behave = refuse
        record = http("web", server.url, headers={"Authorization": "Bearer SENTINEL"})
        await manager.register(record)
        assert not await manager.connect("web")
        assert manager.get_status("web") is ServerStatus.NEEDS_AUTH
        for _ in range(20):
            with pytest.raises(ToolError, match="credentials"):
                await echo(manager, "x")
        print(f"R-11: {server.seen.total()} requests for 1 connect and 20 calls")
        assert server.seen.total() <= 2
        told = manager.explain("web")
        assert "Authorization" in told.remedy
        assert "SENTINEL" not in repr(told)
        config = {**record.config, "headers": {"Authorization": "Bearer good"}}
        await manager.update(record.model_copy(update={"config": config}))
        await until(lambda: manager.connection("web").is_live)


async def test_one_call_that_is_forbidden_takes_the_server_from_nobody(manager: Manager) -> None:
    """R-11: a filter may refuse what one call holds; who refuses all is known by the next question."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        forbids_all = False

        async def filtered(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=403) if forbids_all or "drop table" in str(message) else None

        server.behave = filtered
        for _ in range(2):
            with pytest.raises(ToolError, match="HTTP 403"):
                await echo(manager, "drop table")
            await until(lambda: server.seen["ping"] > 0)
            assert await echo(manager, "x") == "x"
        assert (manager.get_status("web"), server.seen["initialize"]) == (ServerStatus.CONNECTED, 1)
        forbids_all = True
        with pytest.raises(ToolError, match="HTTP 403"):
            await echo(manager, "x")
        await until(lambda: manager.get_status("web") is ServerStatus.NEEDS_AUTH)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_asks_for_rest_gets_it(manager: Manager, status: int) -> None:
    """R-12"""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        answers = [web.Response(status=status, headers={"Retry-After": "60"})]

        async def busy(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return answers.pop() if answers else None

        server.behave = on_call(busy)
        with pytest.raises(LinkError) as caught:
            await manager.connection("web").request("tools/call", {"name": "echo", "arguments": {}})
        assert caught.value.failure.retry_after_seconds == 60
        before = server.seen.total()
        for _ in range(50):
            with pytest.raises(BusyError, match="Left alone"):
                await manager.connection("web").request("tools/call", {"name": "echo", "arguments": {}})
        assert server.seen.total() == before
        manager.connection("web")._breaker._open_until -= 60
        assert await echo(manager, "rested") == "rested"
        print(f"R-12 {status}: 0 requests in the window that it asked for")


@pytest.mark.parametrize("kind", ["json", "stream", "chunked"])
async def test_a_body_beyond_the_cap_is_cut_off_and_names_the_cap(manager: Manager, kind: str) -> None:
    """R-07, R-09, a30"""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        size = {"now": 8 * 1024 * 1024}

        async def big(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            text = "x" * size["now"]
            content = {"content": [{"type": "text", "text": text}]}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": content}
            if kind == "json":
                return await bytes_reply(request, json.dumps(answer).encode())
            content_type = "text/event-stream" if kind == "stream" else "application/json"
            response = web.StreamResponse(headers={"Content-Type": content_type})
            await response.prepare(request)
            await response.write(events(answer) if kind == "stream" else json.dumps(answer).encode())
            return response

        server.behave = on_call(big)
        start = time.monotonic()
        assert len(await echo(manager, "x")) == size["now"]
        took = time.monotonic() - start
        size["now"] = 17 * 1024 * 1024
        with pytest.raises(ToolError, match="16,777,216 bytes") as caught:
            await echo(manager, "x")
        assert "`limits.answerMb`" in str(caught.value)
        server.behave = None
        assert await echo(manager, "ok") == "ok"
        print(f"R-07/R-09 {kind}: 8 MiB in {took * 1000:.0f} ms, 17 MiB refused")


async def test_a_compression_bomb_is_not_inflated(manager: Manager) -> None:
    """R-08: 128 MiB in 130 kB of gzip."""
    bomb = gzip.compress(b"\0" * (128 * 1024 * 1024), 6)
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def explode(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return await bytes_reply(request, bomb, **{"Content-Encoding": "gzip"})

        server.behave = on_call(explode)
        lag = asyncio.ensure_future(worst_lag())
        forget_peak()
        before = peak_mib()
        with pytest.raises(ToolError, match="16,777,216 bytes"):
            await echo(manager, "x")
        grown = peak_mib() - before
        lag.cancel()
        await asyncio.gather(lag, return_exceptions=True)
        assert server.headers[-1]["accept-encoding"] == "identity"
        print(f"R-08: {len(bomb)} bytes of gzip, memory at most +{grown:.0f} MiB, lag {worst_lag.seen * 1000:.0f} ms")
        assert worst_lag.seen < within(0.25)
        assert grown < 3 * 16
        server.behave = None
        assert await echo(manager, "ok") == "ok"


async def test_an_answer_compressed_unasked_is_still_read(manager: Manager) -> None:
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def packed(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
            return await bytes_reply(
                request, gzip.compress(json.dumps(answer).encode()), **{"Content-Encoding": "gzip"}
            )

        server.behave = on_call(packed)
        assert await echo(manager, "x") == ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_carries_credentials_to_another_origin(manager: Manager, status: int) -> None:
    """S-12, h15"""
    async with FakeHttpServer() as server, FakeHttpServer() as canary:

        async def redirect(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(status=status, headers={"Location": canary.url + "?token=SECRET"})

        server.behave = redirect
        await manager.register(http("web", server.url, headers={"Authorization": "Bearer SENTINEL", "Cookie": "a=b"}))
        assert not await manager.connect("web")
        told = manager.explain("web")
        assert f"127.0.0.1:{canary.port}" in told.summary
        assert "SECRET" not in repr(told)
        assert canary.headers == []


async def test_a_redirect_to_the_same_origin_is_learned_once(manager: Manager) -> None:
    """`/mcp` to `/mcp/`: common, and no new party gets anything."""
    async with FakeHttpServer() as server:

        async def redirect(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if request.path == "/mcp":
                return web.Response(status=307, headers={"Location": "/mcp/"})
            return None

        server.behave = redirect
        await connected(manager, server)
        before = server.seen.total()
        assert await echo(manager, "x") == "x"
        assert server.seen.total() - before == 1


async def test_each_server_sees_its_own_credentials_and_no_clients(manager: Manager) -> None:
    """S-30: 20 servers with 20 canaries, calls side by side, reconnects between."""
    servers = [FakeHttpServer() for _ in range(20)]
    for server in servers:
        await server.start()
    try:
        for n, server in enumerate(servers):
            await connected(manager, server, name=f"s{n}", headers={"Authorization": f"Bearer CANARY-{n}-"})
        inbound = RequestOptions(headers={"Authorization": "Bearer CLIENT", "Cookie": "CLIENT", "X-Api-Key": "CLIENT"})
        for _ in range(3):
            for server in servers[::3]:
                server.sessions.clear()
            await asyncio.gather(
                *(
                    manager.connection(f"s{n}").request("tools/call", {"name": "echo", "arguments": {}}, inbound)
                    for n in range(20)
                    for _ in range(5)
                )
            )
        for n, server in enumerate(servers):
            assert server.headers
            assert all(headers.get("authorization") == f"Bearer CANARY-{n}-" for headers in server.headers)
            assert "CLIENT" not in str(server.headers)
            assert all("cookie" not in headers for headers in server.headers)
        print(f"S-30: {sum(len(server.headers) for server in servers)} requests, 0 foreign credentials")
    finally:
        for server in servers:
            await server.stop()


@pytest.mark.parametrize("transport", [TransportType.HTTP, TransportType.SSE])
async def test_headers_that_the_protocol_sets_are_sent_once_however_a_record_writes_them(
    manager: Manager, sdk_port: int, transport: TransportType
) -> None:
    given = {"content-type": "application/json", "ACCEPT": "*/*", "mcp-session-id": "x", "last-event-id": "1"}
    path = "sse" if transport is TransportType.SSE else "mcp"
    await manager.register(http("web", f"http://127.0.0.1:{sdk_port}/{path}", transport, headers=given))
    assert await manager.connect("web"), manager.explain("web").summary
    async with FakeHttpServer() as server:  # which answers 400 to a second Content-Type
        await connected(manager, server, "strict", headers=given)


async def test_secrets_of_a_record_are_in_no_message_and_no_log(
    manager: Manager, caplog: pytest.LogCaptureFixture
) -> None:
    """f21"""
    caplog.set_level("DEBUG", logger="naru")
    url = f"http://u:SENTINEL5@127.0.0.1:{free_port()}/mcp?api_key=SENTINEL4"
    await manager.register(http("web", url, headers={"Authorization": "Bearer SENTINEL2", "X-Api-Key": "SENTINEL3"}))
    assert not await manager.connect("web")
    with pytest.raises(ToolError) as caught:
        await echo(manager, "x")
    assert "SENTINEL" not in caplog.text + str(caught.value) + repr(manager.explain("web"))


async def test_a_hub_starts_with_most_of_its_servers_dead() -> None:
    """R-15, a24: 50 dead of 60; the good ones are usable at once, each dead one has its reason."""
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    silent_port = silent.sockets[0].getsockname()[1]
    async with managed(ConnectionSettings()) as manager, FakeHttpServer() as server:
        for n in range(50):
            record = (
                http(f"dead{n}", f"http://127.0.0.1:{silent_port}/mcp", startTimeout="2s"),
                http(f"dead{n}", "http://127.0.0.1:9/mcp", None),
                stdio(f"dead{n}", "nothing.py").model_copy(update={"config": {"command": "no-such-program-xyz"}}),
            )[n % 3]
            await manager._store.save(record)
        for n in range(10):
            await manager._store.save(http(f"ok{n}", server.url))
        start = time.monotonic()
        await manager.initialize_from_store()
        ready = time.monotonic() - start
        await until(lambda: all(manager.connection(f"ok{n}").is_live for n in range(10)))
        usable = time.monotonic() - start
        await until(lambda: all(manager.get_status(f"dead{n}") is ServerStatus.FAILED for n in range(50)))
        reasons = {manager.explain(f"dead{n}").failure.code for n in range(50)}  # type: ignore[union-attr]
        print(f"R-15: ready in {ready * 1000:.0f} ms, 10 good servers usable after {usable * 1000:.0f} ms; {reasons}")
        assert ready < within(3)
        assert usable < within(3)
        assert reasons == {"timeout", "refused", "command_not_found"}
        assert all(manager.explain(f"dead{n}").next_retry_seconds is not None for n in range(50))
    silent.close()


async def test_a_late_server_is_connected_by_hand_without_touching_others() -> None:
    """a26"""
    port = free_port()
    async with managed(ONCE) as manager, FakeHttpServer() as other:
        await connected(manager, other, name="other")
        await manager.register(http("late", f"http://127.0.0.1:{port}/mcp"))
        assert not await manager.connect("late")
        states: list[str] = []
        manager.subscribe(
            lambda change: (
                states.append(f"{change.what} {manager.get_status('late')}") if change.server == "late" else None
            )
        )
        async with FakeHttpServer(port=port):
            assert await manager.connect("late")
            assert [tool.name for tool in manager.tools("late")] == ["echo"]
        assert states[:3] == ["status CONNECTING", "status CONNECTED", "tools CONNECTED"]
        assert manager.connection("other").generation == 1


async def test_idle_connections_that_a_proxy_drops_cost_no_call() -> None:
    """a20: pings keep the link warm, and a call after a drop succeeds on a fresh connection."""
    settings = ConnectionSettings(ping_interval_seconds=0.2, reconnect=QUICK.reconnect)
    async with managed(settings) as manager, FakeHttpServer() as server:
        await connected(manager, server)
        await until(lambda: server.seen["ping"] >= 2)
        assert await echo(manager, "first") == "first"
        assert server._runner is not None
        dropped = list(server._runner.server.connections)  # type: ignore[union-attr]
        for connection in dropped:
            connection.transport.close()
        await until(lambda: all(connection.transport is None for connection in dropped))
        await asyncio.sleep(0.01)  # the loop's next look at its sockets finds their ends
        assert await echo(manager, "second") == "second"


async def test_parallel_calls_some_cancelled_get_the_right_answers(manager: Manager) -> None:
    """a28"""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def slow(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            await go_on.wait()
            return None

        go_on = asyncio.Event()
        server.behave = on_call(slow)
        tasks = [asyncio.ensure_future(echo(manager, str(10 + n))) for n in range(10)]
        await until(lambda: server.seen["tools/call"] == 10)
        for task in tasks[::3]:
            task.cancel()
        go_on.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [r if n % 3 else "cancelled" for n, r in enumerate(results)] == [
            str(10 + n) if n % 3 else "cancelled" for n in range(10)
        ]
        assert await echo(manager, "1") == "1"
        await until(lambda: server.seen["notifications/cancelled"] == 4)


async def test_a_server_may_end_a_stream_and_have_it_resumed(manager: Manager) -> None:
    """SSE polling of 2025-11-25: the answer comes on the resumed stream, the request is sent once."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        asked: dict[str, Any] = {}

        async def poll(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            asked.update(message)
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b"id: e1\nretry: 50\ndata:\n\n")
            return response

        async def resume(request: web.Request) -> web.StreamResponse:
            assert request.headers["Last-Event-ID"] == "e1"
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            result = {"content": [{"type": "text", "text": "resumed"}]}
            await response.write(events({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            return response

        server.behave = on_call(poll)
        server._stream = resume  # type: ignore[method-assign]
        assert await echo(manager, "x") == "resumed"
        assert server.seen["tools/call"] == 1


async def test_a_stream_may_be_cut_again_and_again_and_be_resumed(manager: Manager) -> None:
    """A proxy cuts what lasts longer than its patience, and cuts what is resumed then."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        asked: dict[str, Any] = {}
        seen: list[str] = []

        async def cut(request: web.Request, message: dict[str, Any] | None = None) -> web.StreamResponse:
            asked.update(message or {})
            seen.append(request.headers.get("Last-Event-ID", ""))
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            if len(seen) == 4:
                result = {"content": [{"type": "text", "text": "resumed"}]}
                await response.write(events({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
                return response
            await response.write(f"id: e{len(seen)}\nretry: 10\ndata:\n\n".encode())
            assert request.transport is not None
            request.transport.close()  # without the end of the body
            return response

        server.behave = on_call(cut)
        server._stream = cut  # type: ignore[method-assign,assignment]
        assert await echo(manager, "x") == "resumed"
        assert (seen, server.seen["tools/call"]) == (["", "e1", "e2", "e3"], 1)


async def test_an_answer_that_is_cut_in_its_middle_is_sent_again_as_a_whole(manager: Manager) -> None:
    async with FakeHttpServer() as server:
        await connected(manager, server)
        asked: dict[str, Any] = {}

        async def cut(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
            asked.update(message)
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b"id: e1\nretry: 10\ndata:\n\n" + b'id: e2\ndata: {"jsonrpc": "2.0", "id"')
            assert request.transport is not None
            request.transport.close()
            return response

        async def resume(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            if request.headers["Last-Event-ID"] == "e1":
                result = {"content": [{"type": "text", "text": "whole"}]}
                await response.write(b"id: e2\n" + events({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            return response

        server.behave = on_call(cut)
        server._stream = resume  # type: ignore[method-assign]
        assert await echo(manager, "x") == "whole"
        assert server.seen["tools/call"] == 1


async def test_a_server_that_wants_no_pause_at_all_is_not_asked_without_one(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeHttpServer() as server:
        await connected(manager, server)
        resumed = 0

        async def cut(request: web.Request, message: object = None) -> web.StreamResponse:
            nonlocal resumed
            resumed += "Last-Event-ID" in request.headers
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b"id: e1\nretry: 0\ndata:\n\n")
            return response

        server.behave = on_call(cut)
        server._stream = cut  # type: ignore[method-assign]
        start = time.monotonic()
        call = asyncio.ensure_future(echo(manager, "x", seconds=60))
        await until(lambda: resumed == 6)
        assert time.monotonic() - start >= 0.5
        for _ in range(2):  # what is missed for the first time is had once more
            await sleep_as_the_machine(monkeypatch, 130)
        with pytest.raises(ToolTimeoutError):
            await call


async def test_a_server_that_says_its_capabilities_in_another_form_is_connected(manager: Manager) -> None:
    class Sloppy(FakeHttpServer):
        def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
            said = super().result(method, message)
            sloppy = {"tools": True, "prompts": False, "resources": None, "logging": []}
            return {**said, "capabilities": sloppy} if "capabilities" in said else said

    for is_modern in (True, False):
        async with Sloppy(is_modern=is_modern) as server:
            name = "modern" if is_modern else "legacy"
            await connected(manager, server, name)
            assert await echo(manager, "x", name) == "x"
            assert manager.connection(name).capabilities == {"tools": {}, "logging": {}}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_network_that_drops_what_is_silent_is_noticed(manager: Manager, is_modern: bool) -> None:
    """R-14: a call that takes minutes, and the stream on which changes are told, of which no ping tells anything."""
    async with FakeHttpServer(is_modern=is_modern) as server:
        server.offers_stream = True
        await connected(manager, server)
        await until(lambda: server.streams or is_modern)
        assert await echo(manager, "x") == "x"
        rows = [row.split() for row in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
        timers = {row[5][:2] for row in rows if row[2].endswith(f":{server.port:04X}") and row[3] == "01"}
        assert timers == {"02"}, "the system asks whether the other side is there"


async def test_a_lost_session_is_noticed_on_the_open_stream(manager: Manager) -> None:
    """H10: a link that drops later is noticed without a call."""
    async with FakeHttpServer() as server:
        server.offers_stream = True
        await connected(manager, server)
        await until(lambda: len(server.streams) == 1)
        server.tools.append("new")
        await server.streams[0].write(events({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        await until(lambda: "new" in manager.connection("web").catalogue)
        await server.stop()
        await until(lambda: not manager.connection("web").is_live)
        await server.start()
        back = await until(lambda: manager.connection("web").is_live)
        print(f"noticed on the stream, back after {back:.2f} s")


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_server_of_sessions_without_a_stream_of_its_own_stays_connected(manager: Manager, status: int) -> None:
    """Who has a route for POST alone answers GET as its framework does."""
    async with FakeHttpServer() as server:

        async def no_route(request: web.Request) -> web.StreamResponse:
            server.seen["GET"] += 1
            return web.Response(status=status, text="Cannot GET /mcp")

        server._stream = no_route  # type: ignore[method-assign]
        await connected(manager, server)
        await until(lambda: server.seen["GET"] > 0)
        for _ in range(3):
            assert await echo(manager, "x") == "x"
        await asyncio.sleep(0.2)
        assert (manager.get_status("web"), server.seen["initialize"]) == (ServerStatus.CONNECTED, 1)


async def test_stray_answers_on_a_stream_reach_nobody(manager: Manager) -> None:
    """R-06"""
    async with FakeHttpServer() as server:
        await connected(manager, server)

        async def strays(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            own = message["id"]
            foreign = [{"jsonrpc": "2.0", "id": other, "result": {"content": []}} for other in (own + 1, str(own), 0.5)]
            result = {"content": [{"type": "text", "text": "mine"}]}
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(events(*foreign, {"jsonrpc": "2.0", "id": own, "result": result}))
            return response

        server.behave = on_call(strays)
        assert await echo(manager, "x") == "mine"
        assert manager.connection("web").counters.strays == 3


async def test_what_a_server_asks_in_a_call_goes_to_that_calls_own_client(manager: Manager) -> None:
    async with FakeHttpServer() as server:
        await connected(manager, server)
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

        async def ask(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if message.get("id") == "q" and "result" in message:
                answered.set_result(message)
                return web.Response(status=202)
            if message.get("method") != "tools/call":
                return None
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            question = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "name?"}}
            token = message["params"]["_meta"]["progressToken"]
            params = {"progressToken": token, "progress": 1}
            await response.write(
                events(question, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            )
            said = (await answered)["result"]["content"]["name"]
            result = {"content": [{"type": "text", "text": said}]}
            await response.write(events({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            return response

        server.behave = ask
        heard: list[tuple[str, Any]] = []

        async def client(name: str):
            async def answer(asked) -> dict[str, Any]:
                return {"action": "accept", "content": {"name": name}}

            options = RequestOptions(
                meta={"progressToken": "their-own"},
                on_request=answer,
                on_notification=lambda method, params: heard.append((method, params["progressToken"])),
            )
            raw = await manager.connection("web").request("tools/call", {"name": "echo", "arguments": {}}, options)
            return raw["content"][0]["text"]

        assert await client("Ada") == "Ada"
        assert heard == [("notifications/progress", "their-own")]


async def test_hooks_are_declared_and_hear_what_belongs_to_no_call() -> None:
    heard: list[tuple[str, str]] = []
    hooks = Hooks({"sampling": {}}, None, lambda server, method, params: heard.append((server, method)))
    async with managed(hooks=hooks) as manager, FakeHttpServer() as server:
        server.offers_stream = True
        await connected(manager, server)
        initialize = next(body for body in server.bodies if body["method"] == "initialize")
        assert initialize["params"]["capabilities"] == {"sampling": {}}
        await until(lambda: len(server.streams) == 1)
        await server.streams[0].write(events({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}))
        await until(lambda: heard == [("web", "notifications/message")])


async def test_an_error_body_of_a_modern_server_is_the_servers_error(manager: Manager) -> None:
    async with FakeHttpServer(is_modern=True) as server:
        await connected(manager, server)

        async def refuse(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            error = {"code": -32021, "message": "no", "data": {"requiredCapabilities": {"sampling": {}}}}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error}, status=400)

        server.behave = on_call(refuse)
        with pytest.raises(RpcError) as caught:
            await manager.connection("web").request("tools/call", {"name": "echo", "arguments": {}})
        assert caught.value.error_code == -32021
        assert caught.value.data == {"requiredCapabilities": {"sampling": {}}}


async def test_a_modern_server_that_says_list_changed_but_cannot_be_listened_to_is_fast(manager: Manager) -> None:
    """PERF 4: LiteLLM takes 14 CPU s for that combination."""
    async with FakeHttpServer(is_modern=True) as server:

        async def no_listening(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if message.get("method") != "subscriptions/listen":
                return None
            error = {"code": -32601, "message": "no"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error}, status=404)

        server.behave = no_listening
        start = time.monotonic()
        await connected(manager, server)
        took = time.monotonic() - start
        await until(lambda: server.seen["subscriptions/listen"] == 1)
        await asyncio.sleep(0.7)
        print(f"connected in {took * 1000:.0f} ms with {server.seen['subscriptions/listen']} attempt to listen")
        assert server.seen["subscriptions/listen"] == 1
        assert took < within(1)


async def test_changes_are_heard_in_the_modern_era_and_after_a_cut(manager: Manager) -> None:
    """H5, f18"""
    async with FakeHttpServer(is_modern=True) as server:
        streams: list[web.StreamResponse] = []

        async def listen(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            if message.get("method") != "subscriptions/listen":
                return None
            assert message["params"]["notifications"] == {"toolsListChanged": True}
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            streams.append(response)
            acknowledged = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}}
            await response.write(events(acknowledged))
            await (cut if len(streams) == 1 else asyncio.Event()).wait()
            return response

        cut = asyncio.Event()
        server.behave = listen
        await connected(manager, server)
        await until(lambda: len(streams) == 1)
        server.tools.append("second")
        await streams[0].write(events({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}))
        await until(lambda: "second" in manager.connection("web").catalogue)
        server.tools.append("third")  # while nobody listens
        cut.set()
        await until(lambda: len(streams) == 2)
        await until(lambda: "third" in manager.connection("web").catalogue)


@pytest.mark.parametrize("kind", ["http", "undeclared"])
async def test_a_page_that_is_no_mcp_server_says_so(manager: Manager, kind: str) -> None:
    async with FakeHttpServer() as server:

        async def page(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            return web.Response(text="<html>hello</html>", content_type="text/html")

        server.behave = page
        await manager.register(http("web", server.url, TransportType.HTTP if kind == "http" else None))
        start = time.monotonic()
        assert not await manager.connect("web")
        told = manager.explain("web")
        assert "instead of JSON" in told.summary
        assert time.monotonic() - start < within(2)


async def test_cycles_over_http_leave_nothing(manager: Manager) -> None:
    """R-18"""
    async with FakeHttpServer() as server:
        server.offers_stream = True
        await connected(manager, server)
        await manager.disconnect("web")
        process = psutil.Process()
        before = (len(asyncio.all_tasks()), process.num_threads())
        count = sized(50, 500)
        for _ in range(count):
            await manager.connect("web")
            await manager.disconnect("web")
        await until(lambda: len(asyncio.all_tasks()) <= before[0] + 2)
        after = (len(asyncio.all_tasks()), process.num_threads())
        print(f"R-18 http: tasks and threads {before} -> {after} after {count} cycles")
        assert after[0] <= before[0] + 2
        assert after[1] == before[1]
        assert server.sessions == set(), "each session is given back"


async def test_a_record_that_changed_only_its_words_keeps_its_link(manager: Manager) -> None:
    """H8: only what changed is touched."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        record = manager.connection("web").record
        await manager.update(record.model_copy(update={"description": "new words"}))
        assert manager.connection("web").generation == 1
        assert manager.connection("web").record.description == "new words"
        await manager.update(record.model_copy(update={"config": {"url": server.url, "headers": {"X": "1"}}}))
        await until(lambda: manager.connection("web").is_live)
        assert server.headers[-1].get("x") == "1"


async def test_retries_stop_after_the_last_attempt_and_the_explanation_says_so() -> None:
    """H10, N10"""
    policy = ReconnectPolicy(max_attempts=2, initial_delay_seconds=0.05, max_delay_seconds=0.05)
    settings = ConnectionSettings(reconnect=policy, knock_interval_seconds=0)
    async with managed(settings) as manager:
        await manager.register(http("web", f"http://127.0.0.1:{free_port()}/mcp"))
        await manager.connect("web")
        await until(lambda: manager.connection("web").life.gave_up)
        told = manager.explain("web")
        assert "No further try is planned" in told.summary
        assert "connect it again" in told.remedy
        assert told.next_retry_seconds is None


@pytest.mark.parametrize("is_modern", [False, True], ids=["legacy", "modern"])
async def test_a_server_that_hangs_with_open_connections_is_noticed(is_modern: bool) -> None:
    """R-14: half-open, as after SIGSTOP; with short intervals."""
    settings = ConnectionSettings(ping_interval_seconds=0.2, ping_timeout_seconds=0.2, reconnect=QUICK.reconnect)
    async with managed(settings) as manager, FakeHttpServer(is_modern=is_modern) as server:
        await connected(manager, server)
        stuck = asyncio.Event()

        async def hang(request: web.Request, message: dict[str, Any]) -> web.StreamResponse | None:
            await stuck.wait()
            return None

        server.behave = hang
        took = await until(lambda: "pings in a row" in str(manager.explain("web").failure))
        print(f"R-14 http: interval 0.2 s, noticed after {took:.2f} s")
        server.behave = None
        stuck.set()
        assert await echo(manager, "back") == "back"


async def test_a_thousand_registered_servers_start_and_list_fast() -> None:
    """R-31"""
    before = psutil.Process().memory_info().rss
    async with managed(ConnectionSettings()) as manager, FakeHttpServer() as server:
        for n in range(1000):
            record = http(f"s{n}", server.url).model_copy(update={"auto_connect": n < 100})
            await manager._store.save(record)
        start, cpu = time.monotonic(), time.process_time()
        await manager.initialize_from_store()
        ready, cpu = time.monotonic() - start, time.process_time() - cpu
        await until(lambda: sum(one.is_live for one in manager.connections.values()) == 100)
        live = time.monotonic() - start
        taken = []
        for _ in range(20):
            start = time.monotonic()
            await manager.list_servers()
            for name in manager.connections:
                manager.explain(name)
            taken.append(time.monotonic() - start)
        p95 = statistics.quantiles(taken, n=20)[-1]
        rss = (psutil.Process().memory_info().rss - before) / 2**20  # the tests before this one are not its growth
        print(
            f"R-31: ready {ready:.2f} s ({cpu:.2f} CPU s), 100 live {live:.2f} s, explained {p95:.3f} s, {rss:.0f} MiB"
        )
        assert ready < within(5)
        assert p95 < within(0.2)
        assert rss < 200


async def test_the_wall_clock_may_jump_without_ending_anything(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-21: all waits are monotonic."""
    async with FakeHttpServer() as server:
        await connected(manager, server)
        real = time.time
        for hours in (22, -22):
            monkeypatch.setattr(time, "time", lambda hours=hours: real() + hours * 3600)
            assert await echo(manager, "x") == "x"
        assert manager.connection("web").generation == 1
