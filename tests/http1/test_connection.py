"""Bodies of every framing, in any pieces, are read whole; what nobody reads any more is closed."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import zlib
from collections.abc import Awaitable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.http1.raw_server import CLOSE, HANG, RawServer, chunked, serve_raw, whole
from tests.waiting import until
from yarl import URL

from naru.http1.connection import MAX_HEAD_BYTES, MAX_WAITING_BYTES, Limits
from naru.http1.faults import BrokenBodyError, CutError, EncodingError, NotHttpError, SilenceError
from naru.http1.head import address_of, request_head, with_body
from naru.http1.pool import Pool
from naru.http1.reply import Reply

BODY = 'data: {"a": "나루 🙂"}\n\ndata: [DONE]\n\n'.encode()


class Asking:
    """Requests to one server."""

    def __init__(self, base_url: str, limits: Limits | None = None) -> None:
        self.url = URL(base_url)
        self.pool = Pool(address_of(self.url), limits=limits or Limits(linger_seconds=0.05))

    async def post(self, body: bytes = b"") -> Reply:
        return await self.pool.ask(with_body(request_head("POST", self.url, {}), body), is_repeatable=True)


def pool_to(server: RawServer) -> Asking:
    return Asking(server.base_url)


async def read_all(answer: Reply) -> bytes:
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
    "gzip": b"".join(whole(gzip.compress(BODY, mtime=0), b"Content-Encoding: gzip")),
    "deflate": b"".join(whole(zlib.compress(BODY), b"Content-Encoding: deflate")),
    "gzip, chunked": b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    + b"".join(chunked(gzip.compress(BODY, mtime=0))[1:]),
}


@pytest.mark.parametrize("framed", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_a_body_is_whole_however_it_is_framed_and_cut(framed: bytes, step: int) -> None:
    pieces = [framed[start : start + step] for start in range(0, len(framed), step)]
    async with serve_raw([*pieces, CLOSE]) as server:
        answer = await pool_to(server).post()
        assert await read_all(answer) == BODY
        assert answer.status == 200


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 120), max_size=6), framing=st.sampled_from(sorted(FRAMINGS)))
async def test_any_cut_gives_the_same_body(cuts: list[int], framing: str) -> None:
    framed = FRAMINGS[framing]
    edges = sorted({0, len(framed), *(cut for cut in cuts if cut < len(framed))})
    pieces = [framed[start:end] for start, end in itertools.pairwise(edges)]
    async with serve_raw([*pieces, CLOSE]) as server:
        assert await read_all(await pool_to(server).post()) == BODY


@pytest.mark.parametrize("is_behind", [False, True], ids=["keeping up", "behind"])
@pytest.mark.parametrize("framed", FRAMINGS.values(), ids=FRAMINGS)
async def test_a_body_that_is_handed_over_is_the_body_that_is_read(framed: bytes, is_behind: bool) -> None:
    for step in (1, 7, 10_000):
        taken: list[bytes] = []

        def take(piece: bytes, taken: list[bytes] = taken) -> Awaitable[None] | None:
            taken.append(piece)
            return asyncio.sleep(0) if is_behind else None

        async with serve_raw([*(framed[at : at + step] for at in range(0, len(framed), step)), CLOSE]) as server:
            await (await pool_to(server).post()).each(take)
        assert b"".join(taken) == BODY


async def test_what_is_handed_over_waits_for_who_is_behind() -> None:
    running, most = 0, 0

    async def write() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    async with serve_raw([*chunked(*[b"piece"] * 20)]) as server:
        await (await pool_to(server).post()).each(lambda piece: write())
    assert most == 1


async def test_an_error_of_who_takes_the_pieces_reaches_who_reads() -> None:
    taken: list[bytes] = []

    def take(piece: bytes) -> None:
        taken.append(piece)
        if b"".join(taken).endswith(b"three"):
            raise ValueError("enough")

    async with serve_raw([*chunked(b"one", b"two", b"three")[:-1], HANG]) as server:
        answer = await pool_to(server).post()
        with pytest.raises(ValueError, match="enough"):
            await asyncio.wait_for(answer.each(take), 10)
        answer.close()
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_who_takes_the_pieces_can_leave_before_the_end() -> None:
    async with serve_raw([*chunked(b"one", b"two")[:-1], HANG]) as server:
        answer = await pool_to(server).post()
        await asyncio.wait_for(answer.each(lambda piece: answer.leave()), 10)
        answer.close()
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_a_broken_body_is_an_error_after_what_was_handed_over() -> None:
    taken: list[bytes] = []
    async with serve_raw([*chunked(b"five!")[:-1], CLOSE]) as server:
        answer = await pool_to(server).post()
        with pytest.raises(CutError):
            await asyncio.wait_for(answer.each(taken.append), 10)
    assert b"".join(taken) == b"five!"


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
        answer = await pool_to(server).post()
        assert await answer.read() == b"five!"
        with pytest.raises(CutError, match="broke off its answer"):
            await answer.read()


@pytest.mark.parametrize("encoding", [b"br", b"zstd", b"gzip, br"])
async def test_an_encoding_that_nobody_asked_for_is_named(encoding: bytes) -> None:
    async with serve_raw(whole(b"\x1b\x00", b"content-encoding: " + encoding)) as server:
        answer = await pool_to(server).post()
        with pytest.raises(EncodingError, match="which nobody asked for"):
            await answer.read()


async def test_gzip_that_is_none_is_named() -> None:
    async with serve_raw(whole(b"plain text", b"content-encoding: gzip")) as server:
        answer = await pool_to(server).post()
        with pytest.raises(BrokenBodyError, match="no gzip"):
            await answer.read()


async def test_gzip_that_ends_in_its_middle_is_given_as_far_as_it_goes_and_then_told() -> None:
    cut = gzip.compress(b"0" * 100, mtime=0)[:-8]
    async with serve_raw(whole(cut, b"content-encoding: gzip")) as server:
        answer = await pool_to(server).post()
        assert await answer.read() == b"0" * 100
        with pytest.raises(BrokenBodyError, match="broke off its compressed body"):
            await answer.read()


async def test_a_little_gzip_that_grows_is_read_in_bounded_pieces() -> None:
    async with serve_raw(whole(gzip.compress(b"0" * 5_000_000), b"content-encoding: gzip")) as server:
        answer = await pool_to(server).post()
        sizes = []
        while piece := await answer.read():
            sizes.append(len(piece))
        assert sum(sizes) == 5_000_000
        assert max(sizes) <= 1 << 20


async def test_an_answer_let_go_in_its_middle_closes_the_connection() -> None:
    async with serve_raw([*chunked(b"one")[:-1], HANG]) as server:
        answer = await pool_to(server).post()
        await answer.read()
        answer.close()
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_a_request_cancelled_before_the_head_closes_the_connection() -> None:
    async with serve_raw([HANG]) as server:
        asking = asyncio.create_task(pool_to(server).post())
        await until(lambda: server.requests)
        asking.cancel()
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_the_end_of_a_body_that_comes_a_moment_later_saves_the_connection() -> None:
    late = chunked(b"data: [DONE]\n\n")
    async with serve_raw(late, whole(b"next")) as server:
        pool = pool_to(server)
        answer = await pool.post()
        await answer.read()
        answer.release()
        answer.close()  # Does nothing any more.
        async with asyncio.timeout(60):
            while server.connections == 1 and len(server.requests) == 1:
                second = await pool.post()
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
        answer = await Asking(url).post()
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
        assert await read_all(await pool.post()) == b"one"
        assert await read_all(await pool.post()) == b"two"


@pytest.mark.parametrize(
    "answer",
    [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * (MAX_HEAD_BYTES + 1)],
    ids=["not-http", "endless-headers"],
)
async def test_a_reply_that_is_none_is_an_error(answer: bytes) -> None:
    async with serve_raw([answer, HANG]) as server:
        with pytest.raises(NotHttpError, match="answered with"):
            await pool_to(server).post()
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_a_switch_to_another_protocol_is_not_followed() -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with serve_raw([switching, HANG]) as server:
        with pytest.raises(NotHttpError):
            await pool_to(server).post()


async def test_interim_replies_leave_no_headers_behind() -> None:
    async with serve_raw([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", *whole(b"fine")]) as server:
        answer = await pool_to(server).post()
        assert (answer.status, "link" in answer.headers, await read_all(answer)) == (200, False, b"fine")


async def test_headers_in_utf_8_and_in_latin_1_are_read() -> None:
    lines = b"X-Utf: \xeb\x82\x98\r\nX-Latin: caf\xe9\r\nX-Twice: 1\r\nx-twice: 2"
    async with serve_raw(whole(b"", lines)) as server:
        headers = (await pool_to(server).post()).headers
        assert (headers["x-utf"], headers["x-latin"], headers.getall("X-Twice")) == ("나", "café", ["1", "2"])


async def test_two_encodings_in_two_headers_are_told_apart_from_one() -> None:
    async with serve_raw(whole(gzip.compress(b"x"), b"content-encoding: gzip\r\ncontent-encoding: br")) as server:
        with pytest.raises(EncodingError, match="gzip, br"):
            await (await pool_to(server).post()).read()


async def test_a_long_rest_that_nobody_reads_costs_the_connection() -> None:
    rest = b"x" * (2 * MAX_WAITING_BYTES)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (4 * len(rest))
    async with serve_raw([head, b"start", rest, HANG], whole(b"next")) as server:
        asking = Asking(server.base_url, Limits(linger_seconds=3600))
        answer = await asking.post()
        answer.release()
        await asyncio.wait_for(server.gone.wait(), 60)
        assert await read_all(await asking.post()) == b"next"


async def test_a_slow_reader_is_not_taken_for_a_silent_server(monkeypatch: pytest.MonkeyPatch) -> None:
    size, loop = 8 * MAX_WAITING_BYTES, asyncio.get_running_loop()
    clock = loop.time
    async with serve_raw([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, b"x" * size]) as server:
        answer = await Asking(server.base_url, Limits(silence_seconds=60)).post()
        await until(lambda: answer.waiting_bytes > MAX_WAITING_BYTES)
        for slow in (1000, 5000):
            monkeypatch.setattr(loop, "time", lambda slow=slow: clock() + slow)
            await asyncio.sleep(0.01)
        assert len(await read_all(answer)) == size


async def test_time_in_which_nothing_ran_here_is_not_a_servers_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, go_on = asyncio.get_running_loop(), asyncio.Event()
    clock = loop.time
    async with serve_raw([go_on, *whole(b"late")]) as server:
        asking = asyncio.create_task(Asking(server.base_url, Limits(silence_seconds=60)).post())
        await until(lambda: server.requests)
        monkeypatch.setattr(loop, "time", lambda: clock() + 1000)  # the machine has slept
        await asyncio.sleep(0.01)
        go_on.set()
        assert await read_all(await asking) == b"late"


async def test_silence_before_the_head_and_in_the_body_is_given_up() -> None:
    async with serve_raw([HANG]) as server:
        with pytest.raises(SilenceError, match=r"sent nothing for 0\.05 s"):
            await Asking(server.base_url, Limits(silence_seconds=0.05)).post()
        assert len(server.requests) == 1  # Silence is no reason to ask again.
        await asyncio.wait_for(server.gone.wait(), 60)


@pytest.mark.parametrize(
    "endless",
    [b"0\r\n" + b"x: 1\r\n" * 200_000, b"0\r\nx: " + b"1" * 1_000_000, b"5;" + b"x" * 1_000_000],
    ids=["trailers", "one trailer", "an extension"],
)
async def test_what_stands_round_a_body_has_its_limit_too(endless: bytes) -> None:
    begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
    async with serve_raw([begun, endless, HANG]) as server:
        answer = await pool_to(server).post()
        async with asyncio.timeout(30):
            with pytest.raises(NotHttpError, match="longer than"):
                await read_all(answer)
