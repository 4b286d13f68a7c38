"""Bodies of every framing, in any pieces, are read whole; what nobody reads any more is closed."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.models.raw_server import CLOSE, HANG, RawServer, chunked, serve_raw, whole

from naru.errors import ModelError
from naru.models.endpoint import Endpoint
from naru.models.http_connection import Answer
from naru.models.http_pool import HttpPool

BODY = 'data: {"a": "나루 🙂"}\n\ndata: [DONE]\n\n'.encode()


def pool_to(server: RawServer) -> HttpPool:
    return HttpPool(Endpoint(server.base_url), timeout_seconds=20)


async def read_all(answer: Answer) -> bytes:
    pieces = []
    while piece := await answer.read():
        pieces.append(piece)
    answer.release()
    return b"".join(pieces)


FRAMINGS = {
    "with its length": b"".join(whole(BODY)),
    "chunked": b"".join(chunked(BODY)),
    "chunked, with extension and trailer": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n"
    + b"%x;name=value\r\n%b\r\n0\r\nx: 1\r\n\r\n" % (len(BODY), BODY),
    "until the connection ends": b"HTTP/1.1 200 OK\r\n\r\n" + BODY,
    "in HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + BODY,
    "after a 100": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + b"".join(whole(BODY)),
    "gzip": b"".join(whole(gzip.compress(BODY), b"Content-Encoding: gzip")),
    "deflate": b"".join(whole(zlib.compress(BODY), b"Content-Encoding: deflate")),
    "gzip, chunked": b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    + b"".join(chunked(gzip.compress(BODY))[1:]),
}


@pytest.mark.parametrize("framed", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_a_body_is_whole_however_it_is_framed_and_cut(framed: bytes, step: int) -> None:
    pieces = [framed[start : start + step] for start in range(0, len(framed), step)]
    async with serve_raw([*pieces, CLOSE]) as server:
        answer = await pool_to(server).post("/x", b"")
        assert await read_all(answer) == BODY
        assert answer.status == 200


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 120), max_size=6), framing=st.sampled_from(sorted(FRAMINGS)))
async def test_any_cut_gives_the_same_body(cuts: list[int], framing: str) -> None:
    framed = FRAMINGS[framing]
    edges = sorted({0, len(framed), *(cut for cut in cuts if cut < len(framed))})
    pieces = [framed[start:end] for start, end in itertools.pairwise(edges)]
    async with serve_raw([*pieces, CLOSE]) as server:
        assert await read_all(await pool_to(server).post("/x", b"")) == BODY


@pytest.mark.parametrize(
    "cut",
    [
        [b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfive!", CLOSE],
        [*chunked(b"five!")[:-1], CLOSE],
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\nfive!", CLOSE],
    ],
    ids=["less than its length", "no last chunk", "in a chunk"],
)
async def test_what_arrived_is_given_before_the_connection_broke(cut: list[bytes | object | None]) -> None:
    async with serve_raw(cut) as server:
        answer = await pool_to(server).post("/x", b"")
        assert await answer.read() == b"five!"
        with pytest.raises(ModelError, match="broke off its answer") as caught:
            await answer.read()
        assert caught.value.code == "broken_off"


@pytest.mark.parametrize("encoding", [b"br", b"zstd", b"gzip, br"])
async def test_an_encoding_that_nobody_asked_for_is_named(encoding: bytes) -> None:
    async with serve_raw(whole(b"\x1b\x00", b"content-encoding: " + encoding)) as server:
        with pytest.raises(ModelError, match="which nobody asked for"):
            await pool_to(server).post("/x", b"")


async def test_gzip_that_is_none_is_named() -> None:
    async with serve_raw(whole(b"plain text", b"content-encoding: gzip")) as server:
        answer = await pool_to(server).post("/x", b"")
        with pytest.raises(ModelError, match="no gzip"):
            await answer.read()


async def test_a_little_gzip_that_grows_is_read_in_bounded_pieces() -> None:
    async with serve_raw(whole(gzip.compress(b"0" * 5_000_000), b"content-encoding: gzip")) as server:
        answer = await pool_to(server).post("/x", b"")
        sizes = []
        while piece := await answer.read():
            sizes.append(len(piece))
        assert sum(sizes) == 5_000_000
        assert max(sizes) <= 1 << 20


async def test_an_answer_let_go_in_its_middle_closes_the_connection() -> None:
    async with serve_raw([*chunked(b"one")[:-1], HANG]) as server:
        answer = await pool_to(server).post("/x", b"")
        await answer.read()
        answer.close()
        await asyncio.wait_for(server.gone.wait(), 10)


async def test_a_request_cancelled_before_the_head_closes_the_connection() -> None:
    async with serve_raw([HANG]) as server:
        asking = asyncio.create_task(pool_to(server).post("/x", b""))
        async with asyncio.timeout(10):
            while not server.requests:
                await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait_for(server.gone.wait(), 10)


async def test_the_end_of_a_body_that_comes_a_moment_later_saves_the_connection() -> None:
    late = chunked(b"data: [DONE]\n\n")
    async with serve_raw(late, whole(b"next")) as server:
        pool = pool_to(server)
        answer = await pool.post("/x", b"")
        await answer.read()
        answer.release()
        answer.close()  # Does nothing any more.
        async with asyncio.timeout(10):
            while server.connections == 1 and len(server.requests) == 1:
                second = await pool.post("/x", b"")
                assert await read_all(second) == b"next"
        assert server.connections <= 2


async def test_a_slow_reader_holds_the_endpoint_up() -> None:
    block = b"x" * 65_536
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (2000 * len(block)))
        try:
            for _ in range(2000):
                writer.write(block)
                await writer.drain()
                sent += len(block)
        finally:
            writer.close()

    async with await asyncio.start_server(pour, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        answer = await HttpPool(Endpoint(url), timeout_seconds=20).post("/x", b"")
        before = -1
        while sent != before:  # Until the sender no longer gets on.
            before = sent
            for _ in range(200):
                await asyncio.sleep(0)
        assert sent < 64 << 20
        assert len(await answer.read()) < 2 << 20
        answer.close()


async def test_bytes_that_nobody_asked_for_end_a_kept_connection() -> None:
    async with serve_raw([b"".join(whole(b"one")) + b"HTTP/1.1 408 Request Timeout\r\n\r\n"], whole(b"two")) as server:
        pool = pool_to(server)
        assert await read_all(await pool.post("/x", b"")) == b"one"
        assert await read_all(await pool.post("/x", b"")) == b"two"
