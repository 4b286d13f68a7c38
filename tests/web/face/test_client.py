"""The client's end of a chat: keep-alives, backpressure, and cancellation of all that works for it (R-28, R-37)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest, Text
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from naru.web.face import client as client_end
from naru.web.face import endpoint
from naru.web.face.errors import error_headers
from naru.web.one_write import OneWriteProtocol
from naru.web.openai.chat import OPENAI
from tests.http1.raw_server import HANG, serve_raw
from tests.waiting import until
from tests.web.conftest import EchoTools, MemoryHub, application, served

ASK = [{"role": "user", "content": "go"}]
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
SAID = b'data: {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}\n\n'
HUB_CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'


class Counting(ScriptedBackend):
    """Says `words` words of `size` characters and then waits; counts who is still being answered."""

    def __init__(self, *, words: int = 10**9, size: int = 4, wait: bool = True) -> None:
        super().__init__([])
        self.words, self.size, self.wait = words, size, wait
        self.said = self.open = self.closed_count = 0

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        self.open += 1
        try:
            for _ in range(self.words):
                self.said += 1
                yield Text("x" * self.size)
                await asyncio.sleep(0)
            if self.wait:
                await asyncio.sleep(30)
        finally:
            self.open -= 1
            self.closed_count += 1


def _request(url: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    host = urlsplit(url).netloc
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(data)}\r\n\r\n".encode() + data


async def _connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    assert parts.hostname
    return await asyncio.open_connection(parts.hostname, parts.port)


async def _abort(
    aborts: int,
    ask: Callable[[], Awaitable[asyncio.StreamWriter]],
    *,
    begun: Callable[[], int],
    ended: Callable[[], int],
) -> None:
    """Let clients leave, twenty at a time, once the work for all of them has begun; wait until it has ended."""
    for total in range(20, aborts + 1, 20):
        clients = await asyncio.gather(*(ask() for _ in range(20)))
        await until(partial(_equal, begun, total))
        for client in clients:
            client.transport.abort()
        await until(partial(_equal, ended, total))


def _equal(count: Callable[[], int], total: int) -> bool:
    return count() == total


PHASES = {
    "before-the-answers-head": ([HANG], True),
    "before-the-first-token": ([STREAM_HEAD, HANG], True),
    "in-the-middle": ([STREAM_HEAD, SAID, HANG], True),
    "not-streaming": ([STREAM_HEAD, SAID, HANG], False),
}


@pytest.fixture
def aborts(request: pytest.FixtureRequest) -> int:
    """How many clients leave, twenty at a time; all of R-28 is `--aborts 1000`."""
    return int(request.config.getoption("--aborts"))


#
@pytest.mark.parametrize("http", [OneWriteProtocol, "h11"], ids=["our-server", "another-server"])
@pytest.mark.parametrize("phase", PHASES)
async def test_clients_that_leave_take_their_model_calls_with_them(phase: str, http: Any, aborts: int) -> None:
    answer, stream = PHASES[phase]
    async with serve_raw(answer) as model:
        backend = OpenAIBackend(Endpoint(model.base_url), Profile(), model="m")
        async with served(application(MemoryHub(backend)), http) as url:

            async def ask() -> asyncio.StreamWriter:
                reader, writer = await _connect(url)
                writer.write(_request(url, {"model": "m", "messages": ASK, "stream": stream}))
                if SAID in answer and stream:
                    await reader.readuntil(b'"content":"Hello"')
                return writer

            await _abort(
                aborts, ask, begun=lambda: len(model.requests), ended=lambda: model.connections - model.open_connections
            )
        await backend.close()
    assert model.connections == aborts


#
async def test_clients_that_leave_take_the_running_tools_with_them(aborts: int) -> None:
    tools = EchoTools(delay_seconds=60)
    async with served(application(MemoryHub(ScriptedBackend(lambda request: HUB_CALL), tools))) as url:

        async def ask() -> asyncio.StreamWriter:
            _, writer = await _connect(url)
            writer.write(_request(url, {"model": "m+tools", "messages": ASK, "stream": True}))
            return writer

        await _abort(aborts, ask, begun=lambda: len(tools.called), ended=lambda: tools.cancelled)


#
async def test_a_client_that_does_not_read_holds_the_model_back() -> None:
    backend = Counting(size=1000)
    async with served(application(MemoryHub(backend))) as url:
        async with unread(url):
            assert 0 < await _stopped_at(lambda: backend.said) < 10_000
        await until(lambda: backend.open == 0)


#
@pytest.mark.parametrize("http", [OneWriteProtocol, "h11"], ids=["our-server", "another-server"])
async def test_a_client_that_reads_nothing_for_long_gives_its_place_to_others(
    http: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_end, "STALLED_SECONDS", 0.1)
    backend = Counting(size=100_000)
    async with served(application(MemoryHub(backend)), http) as url, unread(url):
        await until(lambda: backend.closed_count == 1, 20)


#
async def test_a_slow_client_keeps_its_place_through_a_long_piece_of_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_end, "STALLED_SECONDS", 0.5)
    taken: list[bytes] = []

    async def send(message: Any) -> None:
        if len(message.get("body", b"")) > 1 << 20:
            await asyncio.Event().wait()  # nobody takes so much in so short a time
        taken.append(message.get("body", b""))
        ended.append(message.get("more_body") is False)

    async def receive() -> Any:
        await asyncio.Event().wait()

    ended: list[bool] = []
    answer = bytes(range(256)) * (16 << 10)
    async with client_end.ChatClient({"type": "http"}, receive, send, OPENAI) as client:
        if (behind := client.put(answer)) is not None:
            await behind
        await client.end(answer)
    assert not client.gone
    assert b"".join(taken) == answer * 2
    assert ended.index(True) == len(ended) - 1


@pytest.mark.parametrize(("seconds", "told"), [(0.2, b"1"), (1.4, b"2"), (2.5, b"3"), (7.0, b"7")])
def test_a_client_is_never_told_to_come_back_too_early(seconds: float, told: bytes) -> None:
    assert error_headers(ModelError("Full.", status=429, retry_after_seconds=seconds)) == [(b"retry-after", told)]


#
@pytest.mark.parametrize("http", [OneWriteProtocol, "httptools"], ids=["our-server", "another-server"])
@pytest.mark.slow
async def test_a_client_that_does_not_read_holds_the_endpoint_back(http: Any) -> None:
    sent = 0
    gone = asyncio.Event()

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(STREAM_HEAD)
        with contextlib.suppress(OSError):
            while not writer.transport.is_closing():
                writer.write(SAID * 100)
                await writer.drain()
                sent += 100 * len(SAID)
                await asyncio.sleep(0)
        gone.set()

    async with await asyncio.start_server(pour, "127.0.0.1", 0) as listening:
        base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        backend = OpenAIBackend(Endpoint(base_url), Profile(), model="m")
        async with served(application(MemoryHub(backend)), http) as url, unread(url):
            assert 0 < await _stopped_at(lambda: sent) < 50_000_000
        await asyncio.wait_for(gone.wait(), 30)
        await backend.close()


@contextlib.asynccontextmanager
async def unread(url: str) -> AsyncIterator[None]:
    """Ask for a stream and do not read it."""
    parts = urlsplit(url)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(raw, (parts.hostname, parts.port))
        await loop.sock_sendall(raw, _request(url, {"model": "m", "messages": ASK, "stream": True}))
        yield


async def _stopped_at(count: Callable[[], int]) -> int:
    last = -1
    async with asyncio.timeout(30):
        while last != count() or not last:
            last = count()
            await asyncio.sleep(0.3)
    return last


async def test_a_quiet_stream_is_started_and_kept_alive_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_end, "KEEP_ALIVE_SECONDS", 0.05)
    monkeypatch.setattr(endpoint, "PROXY_GRACE_SECONDS", 0.05)
    backend = Counting(words=0)
    async with (
        served(application(MemoryHub(backend))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": ASK, "stream": True}) as response,
    ):
        async with asyncio.timeout(30):
            assert await response.content.readexactly(45) == b": keep-alive\n\n" * 3 + b": k"


async def test_an_error_after_the_stream_was_started_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.Event()

    class Late(ScriptedBackend):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
            await started.wait()
            raise ModelError("Too late.", status=429)
            yield Text("")

    monkeypatch.setattr(endpoint, "PROXY_GRACE_SECONDS", 0.05)
    async with (
        served(application(MemoryHub(Late([])))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": ASK, "stream": True}) as response,
    ):
        assert response.status == 200
        started.set()
        text = await response.text()
    events = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data:")]
    assert [list(event) for event in events] == [["error"]]
    assert events[0]["error"]["type"] == "rate_limit_error"


async def test_the_client_hears_a_comment_while_hub_tools_run() -> None:
    hub = MemoryHub(ScriptedBackend([HUB_CALL, "Done."]), EchoTools(delay_seconds=0.2))
    body = {"model": "m+tools", "messages": ASK, "stream": True}
    async with (
        served(application(hub)) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=body) as response,
    ):
        assert hub.toolset.called
        first = await response.content.readuntil(b"\n\n")
        rest = await response.text()
    assert b'"role":"assistant"' in first
    assert rest.startswith(": keep-alive\n\n")
    assert rest.endswith("data: [DONE]\n\n")


async def test_keys_in_a_providers_words_do_not_reach_the_client() -> None:  # S-67
    error = ModelError("Incorrect API key provided: sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789.", status=400)
    async with (
        served(application(MemoryHub(ScriptedBackend([error])))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": ASK}) as response,
    ):
        assert "AbCdEfGh" not in await response.text()


async def test_several_answers_at_once_are_a_400_that_names_n() -> None:
    async with (
        served(application(MemoryHub(ScriptedBackend([])))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": ASK, "n": 2}) as response,
    ):
        assert response.status == 400
        assert (await response.json())["error"]["param"] == "n"


async def test_tools_are_not_offered_when_the_client_wants_none() -> None:
    backend = ScriptedBackend([HUB_CALL])
    tool = {"type": "function", "function": {"name": "hub__echo"}}
    body = {"model": "m", "messages": ASK, "tools": [tool], "tool_choice": "none"}
    async with (
        served(application(MemoryHub(backend))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=body) as response,
    ):
        message = (await response.json())["choices"][0]["message"]
    assert message["content"] == HUB_CALL
    assert backend.requests[0].tools == ()


@pytest.mark.parametrize("words", [0, 3], ids=["before-first-token", "mid-stream"])
async def test_a_server_that_stops_says_so(words: int) -> None:
    backend = Counting(words=words)
    tasks: list[asyncio.Task[None]] = []
    inner = application(MemoryHub(backend))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        await inner(scope, receive, send)

    async with (
        served(app) as url,
        aiohttp.ClientSession() as session,
    ):
        body = {"model": "m", "messages": ASK, "stream": True}
        asking = asyncio.ensure_future(session.post(f"{url}/v1/chat/completions", json=body))
        await until(lambda: backend.open == 1 and backend.said == words)
        tasks[0].cancel()
        response = await asking
        text = await response.text()
        assert "stopping" in text
        assert response.status == (200 if words else 503)
        assert "[DONE]" not in text
    assert backend.open == 0
