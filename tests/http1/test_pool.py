"""Connections are kept, shared, replaced and closed; requests are written as HTTP wants them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import pytest
from tests.waiting import sleep_through, until
from yarl import URL

from naru.http1.connection import MAX_WAITING_BYTES, Limits
from naru.http1.faults import CutError, DialError, UnansweredError
from naru.http1.head import address_of, request_head, with_body
from naru.http1.pool import Pool
from naru.http1.reply import Reply

WHOLE = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a": 1}'
CHUNKED = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n4\r\n: 1}\r\n0\r\n\r\n'


class Server:
    """Answers each request with the next script; a script is written piece by piece, None closes."""

    def __init__(self, scripts: Sequence[Sequence[bytes | None]]) -> None:
        self.scripts = list(scripts)
        self.connections = 0
        self.requests: list[bytes] = []
        self.closed = asyncio.Event()
        self.end = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.append(asyncio.create_task(self.serve(reader, writer)))
        self.tasks.append(asyncio.create_task(self.hang_up(writer)))

    async def hang_up(self, writer: asyncio.StreamWriter) -> None:
        await self.end.wait()
        writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.scripts.pop(0):
                    if piece is None:
                        writer.close()
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
        finally:
            writer.close()


class Poster:
    """Posts to one address."""

    def __init__(self, url: URL, limits: Limits | None = None) -> None:
        self.pool = Pool(address_of(url), limits=limits or Limits(connect_seconds=60))

    async def post(self, url: URL, body: bytes, headers: dict[str, str], *, is_repeatable: bool = False) -> Reply:
        return await self.pool.ask(with_body(request_head("POST", url, headers), body), is_repeatable=is_repeatable)


@contextlib.asynccontextmanager
async def posting(
    *scripts: Sequence[bytes | None], limits: Limits | None = None
) -> AsyncIterator[tuple[Server, Poster, URL]]:
    server = Server(scripts)
    listener = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    url = URL(f"http://127.0.0.1:{port}/mcp?x=1")
    poster = Poster(url, limits)
    try:
        yield server, poster, url
    finally:
        poster.pool.close()
        listener.close()
        server.end.set()
        await asyncio.wait_for(asyncio.gather(*server.tasks, return_exceptions=True), 60)


async def body_of(reply: Reply) -> bytes:
    async with asyncio.timeout(60):
        return await reply.read_some(1 << 30)


async def test_requests_follow_each_other_on_one_connection() -> None:
    async with posting([WHOLE], [CHUNKED], [WHOLE]) as (server, poster, url):
        for _ in range(3):
            reply = await poster.post(url, b"{}", {"Content-Type": "application/json"})
            assert (reply.status, await body_of(reply)) == (200, b'{"a": 1}')
        assert server.connections == 1
        head = server.requests[0]
        assert head.startswith(b"POST /mcp?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"\r\nAccept-Encoding: identity\r\n" in head
        assert head.endswith(b"\r\nContent-Length: 2\r\n\r\n{}")


async def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    async with posting([WHOLE], [WHOLE], [WHOLE]) as (server, poster, url):
        replies = await asyncio.gather(*(poster.post(url, b"{}", {}) for _ in range(3)))
        assert [await body_of(reply) for reply in replies] == [b'{"a": 1}'] * 3
        assert server.connections == 3


@pytest.mark.parametrize("reply", [WHOLE, CHUNKED], ids=["length", "chunked"])
async def test_a_reply_cut_into_single_bytes_is_the_same_reply(reply: bytes) -> None:
    async with posting([reply[n : n + 1] for n in range(len(reply))]) as (_, poster, url):
        got = await poster.post(url, b"{}", {})
        assert (got.status, await body_of(got)) == (200, b'{"a": 1}')


@pytest.mark.parametrize("cut", [1, 20, len(WHOLE) - 4])
async def test_a_reply_cut_short_is_an_error_wherever_it_is_cut(cut: int) -> None:
    async with posting([WHOLE[:cut], None]) as (_, poster, url):
        with pytest.raises(CutError):
            await body_of(await poster.post(url, b"{}", {}))


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    async with posting([b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: 1\n\n", None]) as (
        _,
        poster,
        url,
    ):
        reply = await poster.post(url, b"{}", {})
        assert (reply.content_type, await body_of(reply)) == ("text/event-stream", b"data: 1\n\n")


async def test_a_connection_that_says_more_than_it_was_asked_is_not_used_again() -> None:
    async with posting([WHOLE + WHOLE], [WHOLE]) as (server, poster, url):
        for _ in range(2):
            assert await body_of(await poster.post(url, b"{}", {})) == b'{"a": 1}'
        assert server.connections == 2


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async with posting([WHOLE, None], [WHOLE]) as (server, poster, url):
        assert await body_of(await poster.post(url, b"{}", {})) == b'{"a": 1}'
        await until(lambda: not poster.pool._open)
        assert await body_of(await poster.post(url, b"{}", {})) == b'{"a": 1}'
        assert server.connections == 2


async def test_a_stream_left_after_its_answer_gives_its_connection_back() -> None:
    start, rest = CHUNKED[:-5], CHUNKED[-5:]
    async with posting([start, rest], [WHOLE]) as (server, poster, url):
        reply = await poster.post(url, b"{}", {})
        assert await reply.read()
        reply.release()
        await until(lambda: poster.pool._idle)
        assert await body_of(await poster.post(url, b"{}", {})) == b'{"a": 1}'
        assert server.connections == 1


async def test_a_reply_given_up_closes_its_connection() -> None:
    async with posting([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]) as (server, poster, url):
        reply = await poster.post(url, b"{}", {})
        reply.close()
        await asyncio.wait_for(server.closed.wait(), 60)


async def test_a_request_given_up_before_its_reply_closes_its_connection() -> None:
    async with posting([]) as (server, poster, url):
        server.scripts.append([b""])
        task = asyncio.create_task(poster.post(url, b"{}", {}))
        await until(lambda: server.requests)
        task.cancel()
        await asyncio.wait_for(server.closed.wait(), 60)


async def test_a_reader_that_is_slow_is_not_read_ahead_of_without_bound() -> None:
    size = 8 * 1024 * 1024
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
    async with posting([head, b"x" * size]) as (_, poster, url):
        reply = await poster.post(url, b"{}", {})
        await until(lambda: reply.waiting_bytes > MAX_WAITING_BYTES / 2)
        await asyncio.sleep(0.1)  # in which more would come
        assert MAX_WAITING_BYTES / 2 < reply.waiting_bytes < MAX_WAITING_BYTES + 1024 * 1024
        assert len(await body_of(reply)) == size


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\rb", "a\0b"])
async def test_a_header_cannot_smuggle_another(value: str) -> None:
    async with posting() as (server, poster, url):
        with pytest.raises(ValueError, match="line break"):
            await poster.post(url, b"{}", {"X-Own": value})
        assert server.connections == 0


async def test_own_headers_come_before_the_usual_ones_and_users_of_the_url_are_named() -> None:
    async with posting([WHOLE], [WHOLE]) as (server, poster, url):
        await poster.post(url.with_user("me").with_password("pw"), b"", {"User-Agent": "mine", "host": "other"})
        assert b"User-Agent: mine\r\n" in server.requests[0]
        assert b"naru/" not in server.requests[0]
        assert server.requests[0].lower().count(b"host:") == 1
        assert b"Authorization: Basic bWU6cHc=\r\n" in server.requests[0]


async def test_nobody_there_is_a_dial_error() -> None:
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    with pytest.raises(DialError):
        await Poster(URL(f"http://127.0.0.1:{port}/")).post(URL(f"http://127.0.0.1:{port}/"), b"", {})


async def test_a_kept_connection_that_proves_closed_is_replaced_only_for_what_may_be_repeated() -> None:
    async with posting([WHOLE], [None], [WHOLE], [None]) as (server, poster, url):
        assert await body_of(await poster.post(url, b"{}", {})) == b'{"a": 1}'
        assert await body_of(await poster.post(url, b"{}", {}, is_repeatable=True)) == b'{"a": 1}'
        assert (server.connections, len(server.requests)) == (2, 3)
        with pytest.raises(UnansweredError):
            await poster.post(url, b"{}", {})
        assert (server.connections, len(server.requests)) == (2, 4)


async def test_what_broke_off_after_a_byte_is_not_asked_again() -> None:
    async with posting([WHOLE], [b"H", None]) as (server, poster, url):
        assert await body_of(await poster.post(url, b"{}", {}, is_repeatable=True)) == b'{"a": 1}'
        with pytest.raises(CutError, match="broke off"):
            await poster.post(url, b"{}", {}, is_repeatable=True)
        assert len(server.requests) == 2


async def test_a_connection_serves_again_before_the_body_on_it_has_been_read() -> None:
    async with posting([WHOLE], [WHOLE]) as (server, poster, url):
        first = await poster.post(url, b"{}", {})
        await until(lambda: first.is_whole)
        second = await poster.post(url, b"{}", {})
        first.close()
        first.release()
        assert [await body_of(second), await body_of(first)] == [b'{"a": 1}'] * 2
        assert server.connections == 1


async def test_an_idle_connection_is_closed_after_its_time() -> None:
    async with posting([WHOLE], limits=Limits(idle_seconds=0.05)) as (server, poster, url):
        await body_of(await poster.post(url, b"{}", {}))
        await asyncio.wait_for(server.closed.wait(), 60)


async def test_a_connection_is_not_used_again_after_a_sleep_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async with posting([WHOLE], [WHOLE], [WHOLE]) as (server, poster, url):
        for connections in (1, 1, 2):
            if connections == 2:
                sleep_through(monkeypatch, 3600)
            await (await poster.post(url, b"{}", {})).read()
            assert server.connections == connections


async def test_errors_are_told_in_the_callers_own_words() -> None:
    async with posting([None]) as (_, _, url):
        pool = Pool(address_of(url), fault=lambda error: RuntimeError(f"The server {error}."))
        with pytest.raises(RuntimeError, match="The server closed the connection without an answer"):
            await pool.ask(with_body(request_head("POST", url, {}), b""))
