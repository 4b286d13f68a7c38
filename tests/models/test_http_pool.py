"""Connections are kept, stale ones replaced, failures named; a key never goes where the setting does not say."""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys

import pytest
from tests.http1.raw_server import CLOSE, HANG, chunked, serve_raw, whole
from tests.waiting import until

from naru.errors import ConfigError, ModelError
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.http_pool import HttpPool

OK = whole(b"fine")


def pool_to(base_url: str, *, timeout_seconds: float = 20.0, keep_alive: bool = True, **headers: str) -> HttpPool:
    return HttpPool(Endpoint(base_url, "sk-key", headers, keep_alive), timeout_seconds=timeout_seconds)


async def ask(pool: HttpPool, body: bytes = b"{}") -> bytes:
    answer = await pool.post("/chat/completions", body)
    text = await answer.read_some(1 << 20)
    answer.release()
    return text


async def test_a_request_is_one_write_with_the_key_and_the_length() -> None:
    async with serve_raw(OK) as server:
        pool = pool_to(server.base_url, **{"X-Title": "나루"})
        assert await ask(pool, '{"a": "가"}'.encode()) == b"fine"
        await pool.close()
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /v1/chat/completions HTTP/1.1"
    assert {b"Authorization: Bearer sk-key", b"Content-Type: application/json", b"Content-Length: 12"} < set(lines)
    assert "X-Title: 나루".encode() in lines
    assert body == '{"a": "가"}'.encode()


async def test_a_connection_is_used_again() -> None:
    async with serve_raw(OK, chunked(b"data: one\n\n"), OK) as server:
        pool = pool_to(server.base_url)
        assert [await ask(pool) for _ in range(3)] == [b"fine", b"data: one\n\n", b"fine"]
        assert server.connections == 1
        await pool.close()
        await until(lambda: server.open_connections == 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop on Windows")
def test_it_works_on_the_event_loop_that_serves() -> None:
    async def twice() -> None:
        async with serve_raw(chunked(b"data: one\n\n")) as server:
            pool = pool_to(server.base_url)
            assert [await ask(pool), await ask(pool)] == [b"data: one\n\n"] * 2
            assert server.connections == 1
            await pool.close()

    importlib.import_module("uvloop").run(twice())


async def test_requests_at_the_same_time_have_a_connection_each_and_share_them_later() -> None:
    async with serve_raw(OK) as server:
        pool = pool_to(server.base_url)
        first, second = await asyncio.gather(pool.post("/a", b""), pool.post("/b", b""))
        for answer in (first, second):
            await answer.read_some(1 << 20)
            answer.release()
        await ask(pool)
        assert server.connections == 2
        await pool.close()


async def test_a_kept_connection_that_proves_closed_is_replaced_without_a_word() -> None:
    async with serve_raw(OK, [CLOSE], OK) as server:
        pool = pool_to(server.base_url)
        assert await ask(pool) == b"fine"
        assert await ask(pool) == b"fine"
        assert (server.connections, len(server.requests)) == (2, 3)
        await pool.close()


async def test_a_connection_that_the_endpoint_wants_closed_is_not_kept() -> None:
    async with serve_raw(whole(b"x", b"connection: close"), whole(b"y")) as server:
        pool = pool_to(server.base_url)
        assert (await ask(pool), await ask(pool)) == (b"x", b"y")
        assert server.connections == 2
        await pool.close()


async def test_an_endpoint_that_keeps_no_connections_gets_a_new_one_each_time() -> None:
    async with serve_raw(OK) as server:
        pool = pool_to(server.base_url, keep_alive=False)
        await ask(pool)
        await ask(pool)
        assert server.connections == 2
        assert b"Connection: close" in server.requests[0]


async def test_an_endpoint_that_closes_without_an_answer_has_broken_off() -> None:
    async with serve_raw([CLOSE]) as server:
        with pytest.raises(ModelError, match="closed the connection without an answer") as caught:
            await ask(pool_to(server.base_url))
        assert (caught.value.code, caught.value.retryable) == ("broken_off", True)
        assert len(server.requests) == 1


async def test_a_closed_port_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ModelError, match="cannot be reached: Connection refused") as caught:
        await ask(pool_to(f"http://127.0.0.1:{port}/v1"))
    assert caught.value.code == "unreachable"


async def test_a_name_that_does_not_exist_is_unreachable() -> None:
    with pytest.raises(ModelError, match="cannot be reached: ") as caught:
        await ask(pool_to("http://no-such-host.invalid/v1"))
    assert caught.value.code == "unreachable"


async def test_an_address_that_speaks_no_tls_is_unreachable_and_says_so() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ModelError, match=r"cannot be reached: .*SSL"):
            await ask(pool_to(f"https://127.0.0.1:{port}/v1"))


async def test_another_protocol_is_named() -> None:
    async with serve_raw([b"SSH-2.0-OpenSSH_9.6\r\n", HANG]) as server:
        with pytest.raises(ModelError, match="not HTTP") as caught:
            await ask(pool_to(server.base_url))
        assert caught.value.code == "not_an_api"


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary Redirect", b"308 Permanent Redirect"])
async def test_a_redirect_is_not_followed_but_named(status: bytes) -> None:
    moved = whole(b"", b"location: http://elsewhere.invalid/v1", status=status)
    async with serve_raw(moved) as server:
        pool = pool_to(server.base_url)
        with pytest.raises(ModelError, match=r"points to http://elsewhere\.invalid/v1"):
            await ask(pool)
        with pytest.raises(ModelError, match=r"points to http://elsewhere\.invalid/v1"):
            await pool.get("/models")
        await pool.close()


@pytest.mark.slow
async def test_silence_before_the_head_and_in_the_body_is_given_up() -> None:
    async with serve_raw([HANG]) as server:
        with pytest.raises(ModelError, match=r"sent nothing for 0\.05 s\. .*: agent\.model_timeout_seconds") as caught:
            await ask(pool_to(server.base_url, timeout_seconds=0.05))
        assert caught.value.code == "overloaded"
        await asyncio.wait_for(server.gone.wait(), 60)
    async with serve_raw([*chunked(b"data: one\n\n")[:-1], HANG]) as server:
        answer = await pool_to(server.base_url, timeout_seconds=2.0).post("/x", b"")
        assert await answer.read() == b"data: one\n\n"
        with pytest.raises(ModelError, match="sent nothing"):
            await answer.read()


@pytest.mark.parametrize(
    ("name", "value"), [("X-Bad", "a\r\nX-Other: b"), ("X-Bad\r\n", "a"), ("X-Bad", "a\0"), ("X-Ärger", "a")]
)
def test_a_header_cannot_smuggle_another(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="cannot be sent"):
        pool_to("http://127.0.0.1:1/v1", **{name: value})
