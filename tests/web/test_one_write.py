"""An answer's head and the beginning of its body go out in one write, and a head is never kept waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from naru.gateway.sessions.asgi import CLIENT
from naru.web.one_write import OneWriteProtocol

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Recorder:
    """A transport that keeps each write by itself."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed, data
        self.writes.append(data)

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *given: None


async def written(application: Application, request: bytes) -> list[bytes]:
    """Serve one request and return the writes."""
    config = uvicorn.Config(application, http=OneWriteProtocol, lifespan="off", log_level="error")  # type: ignore[arg-type]
    config.load()
    state = ServerState()
    protocol = OneWriteProtocol(config=config, server_state=state, app_state={})
    recorder = Recorder()
    protocol.connection_made(recorder)  # type: ignore[arg-type]
    protocol.data_received(request)
    await asyncio.wait_for(asyncio.gather(*state.tasks), 30)
    await asyncio.sleep(0)
    return recorder.writes


def answers(*pieces: bytes, turns_between: int = 0) -> Application:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-test", b"1")]})
        for position, piece in enumerate(pieces):
            for _ in range(turns_between):
                await asyncio.sleep(0)
            await send({"type": "http.response.body", "body": piece, "more_body": position < len(pieces) - 1})

    return application


GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def test_a_short_answer_is_one_write() -> None:
    (write,) = await written(answers(b"hello"), GET)
    assert write.startswith(b"HTTP/1.1 200 OK\r\n")
    assert write.endswith(b"5\r\nhello\r\n0\r\n\r\n")


async def test_a_head_does_not_wait_for_a_body_that_comes_later() -> None:
    head, *bodies = await written(answers(b"one", b"two", turns_between=3), GET)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"\r\n\r\n")
    assert bodies == [b"3\r\none\r\n", b"3\r\ntwo\r\n0\r\n\r\n"]


async def test_a_long_body_is_written_by_itself() -> None:
    head, body = await written(answers(b"y" * 100_000), GET)
    assert head.endswith(b"\r\n\r\n")
    assert body.count(b"y") == 100_000


async def test_a_client_of_http_1_0_gets_a_body_without_chunks_that_ends_with_the_connection() -> None:
    whole = b"".join(await written(answers(b"one", b"two", turns_between=3), GET.replace(b"1.1", b"1.0")))
    head, body = whole.split(b"\r\n\r\n")
    assert (body, b"transfer-encoding" in head, b"connection: close" in head) == (b"onetwo", False, True)


@pytest.mark.parametrize("closing", ["connection: close\r\n", ""])
async def test_a_head_without_a_body_is_written_before_the_connection_closes(closing: str) -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    writes = await written(nothing, f"GET / HTTP/1.1\r\nhost: x\r\n{closing}\r\n".encode())
    assert b"".join(writes).startswith(b"HTTP/1.1 204")


async def test_a_request_that_is_no_http_is_still_answered() -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    assert b"".join(await written(never, b"\x00\x01nonsense\r\n\r\n")).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "header", [(b"x-test", b"1\r\nx-more: 2"), (b"x-test\r\nx-more", b"1"), (b"x-test", b"\0"), (b"x-test", b"1\n")]
)
async def test_a_header_that_would_be_two_is_refused(header: tuple[bytes, bytes]) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [header]})

    writes = b"".join(await written(application, GET))
    assert b"x-more" not in writes
    assert b" 200 " not in writes


@pytest.mark.parametrize("piece", [b"12", b"1234"], ids=["too short", "too long"])
async def test_a_body_of_another_length_than_announced_is_not_passed_off_as_whole(piece: bytes) -> None:
    caught: list[Exception] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
        try:
            await send({"type": "http.response.body", "body": piece})
        except RuntimeError as error:
            caught.append(error)

    await written(application, GET)
    assert "than Content-Length" in str(caught[0])


async def test_pieces_are_put_on_the_connection_from_the_head_of_an_answer_to_its_end() -> None:
    put: list[bool] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope["extensions"][CLIENT]
        put.append(connection.put(b"early"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        put.append(connection.put(b"one"))
        await send({"type": "http.response.body", "body": b"two", "more_body": True})
        put.append(connection.put(b"three"))
        await send({"type": "http.response.body", "body": b""})
        put.append(connection.put(b"late"))

    pieces = b"".join(await written(application, GET)).split(b"\r\n\r\n", 1)[1]
    assert put == [False, True, True, False]
    assert pieces == b"3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n"


async def test_the_end_of_a_connection_is_told_once_and_only_before_the_end_of_the_answer() -> None:
    told: list[str] = []
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"][CLIENT].when_gone(lambda: told.append(scope["path"]))
        if scope["path"] == "/slow":
            waits.set()
            await goes_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    config = uvicorn.Config(application, http=OneWriteProtocol, lifespan="off", log_level="error")  # type: ignore[arg-type]
    config.load()
    for path in ("/quick", "/slow"):
        state = ServerState()
        protocol = OneWriteProtocol(config=config, server_state=state, app_state={})
        recorder = Recorder()
        protocol.connection_made(recorder)  # type: ignore[arg-type]
        protocol.data_received(GET.replace(b"/ ", path.encode() + b" "))
        tasks = asyncio.gather(*state.tasks)
        if path == "/slow":
            await asyncio.wait_for(waits.wait(), 30)
        else:
            await asyncio.wait_for(tasks, 30)
        protocol.connection_lost(None)
        protocol.connection_lost(None)
        if path == "/slow":
            goes_on.set()
        await asyncio.wait_for(tasks, 30)
        assert recorder.writes == [] or path == "/quick"
    assert told == ["/slow"]
