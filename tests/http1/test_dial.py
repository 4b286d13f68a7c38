"""A name is looked up, all its addresses are tried, and what fails says why."""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from naru.http1.dial import dial
from naru.http1.faults import DialError
from naru.http1.head import Address


async def open_to(host: str, port: int, *, tls: bool = False, seconds: float = 60.0) -> None:
    made = await dial(_Kept, Address(host, port, tls), authorities=None, timeout_seconds=seconds)
    assert made.transport is not None
    made.transport.close()


class _Kept(asyncio.Protocol):
    transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport


async def test_a_name_with_several_addresses_is_reached_at_the_one_that_listens() -> None:
    async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0) as server:
        await open_to("localhost", server.sockets[0].getsockname()[1])


async def test_why_no_connection_came_about_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(DialError, match="cannot be reached: Connection refused"):
        await open_to("127.0.0.1", port)
    with pytest.raises(DialError, match="cannot be reached: ") as caught:
        await open_to("no-such-host.invalid", 80)
    assert isinstance(caught.value.__cause__, socket.gaierror)


@pytest.mark.parametrize("host", ["a..b", "a" * 70 + ".example"])
async def test_a_host_that_no_name_service_takes_is_told(host: str) -> None:
    with pytest.raises(DialError, match="is no name of a host"):
        await open_to(host, 80)


async def test_an_address_that_speaks_no_tls_says_so() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        with pytest.raises(DialError) as caught:
            await open_to("127.0.0.1", server.sockets[0].getsockname()[1], tls=True)
        assert isinstance(caught.value.__cause__, ssl.SSLError)


async def test_a_server_that_does_not_answer_the_handshake_is_given_up() -> None:
    silent = asyncio.Event()

    async def wait(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    async with await asyncio.start_server(wait, "127.0.0.1", 0) as server:
        with pytest.raises(DialError, match=r"no answer in 0\.05 s") as caught:
            await open_to("127.0.0.1", server.sockets[0].getsockname()[1], tls=True, seconds=0.05)
        assert isinstance(caught.value.__cause__, TimeoutError)
        silent.set()


async def test_time_in_which_nothing_ran_here_is_not_held_against_the_other_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, looked = asyncio.get_running_loop(), list[str]()
    clock = loop.time

    async def resolve(host: str, port: int) -> list[str]:
        looked.append(host)
        if len(looked) == 1:  # the machine sleeps
            monkeypatch.setattr(loop, "time", lambda: clock() + 1000)
        return ["127.0.0.1"]

    async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0) as server:
        at = Address("a.example", server.sockets[0].getsockname()[1], False)
        made = await dial(_Kept, at, authorities=None, timeout_seconds=60, resolve=resolve)
    assert made.transport is not None
    made.transport.close()
    assert looked == ["a.example"] * 2
