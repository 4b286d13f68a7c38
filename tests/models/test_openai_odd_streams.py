"""Endpoints that are OpenAI-compatible in name: what can be read is read, all else is a failure by its kind."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from tests.http1.raw_server import CLOSE, RawServer, serve_raw, whole

from naru.errors import ModelError
from naru.messages import CallEnd, CallStart, ChatEvent, ChatRequest, Message, Text, ToolDefinition, Usage
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend

TOOL = ToolDefinition("f", "", {"type": "object", "properties": {"a": {"type": "string"}}})
REQUEST = ChatRequest("m", [Message("user", "hi")], tools=[TOOL])
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
JSON = b"content-type: application/json"
DONE = b"data: [DONE]\n\n"


def sse(*events: Any) -> bytes:
    """Write events: bytes as they are, anything else as a chunk."""
    return b"".join(e if isinstance(e, bytes) else b"data: " + json.dumps(e).encode() + b"\n\n" for e in events)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


HELLO = (delta(role="assistant", content="Hel"), delta(content="lo"))
STOP = delta("stop")
CALL = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}


async def ask(server: RawServer) -> tuple[str, list[tuple[str, dict[str, Any]]], Usage | None]:
    """Return the text, the calls and the usage of one answer."""
    backend = OpenAIBackend(Endpoint(server.base_url), Profile(), model="m", timeout_seconds=20)
    text, names, calls, usage = "", {}, [], None
    try:
        for event in await WAYS[0](backend):
            match event:
                case Text(text=piece):
                    text += piece
                case CallStart(index=index, name=name):
                    names[index] = name
                case CallEnd(index=index, arguments=arguments):
                    calls.append((names[index], arguments))
                case Usage():
                    usage = event
    finally:
        await backend.close()
    return text, calls, usage


async def read(backend: OpenAIBackend) -> list[ChatEvent]:
    return [event async for event in backend.stream(REQUEST)]


async def have_delivered(backend: OpenAIBackend) -> list[ChatEvent]:
    events: list[ChatEvent] = []
    await backend.deliver(REQUEST, events.extend)
    return events


async def have_delivered_slowly(backend: OpenAIBackend) -> list[ChatEvent]:
    events: list[ChatEvent] = []

    def take(batch: Sequence[ChatEvent]) -> Awaitable[None]:
        events.extend(batch)
        return asyncio.sleep(0)

    await backend.deliver(REQUEST, take)
    return events


WAYS: list[Callable[[OpenAIBackend], Awaitable[list[ChatEvent]]]] = [read]


@pytest.fixture(autouse=True, params=[read, have_delivered, have_delivered_slowly])
def way(request: pytest.FixtureRequest) -> None:
    """Read every answer in each of the ways that there are."""
    WAYS[0] = request.param


TEXTS = {
    "no-done": sse(*HELLO, STOP),
    "no-finish-reason": sse(*HELLO, DONE),
    "two-finish-reasons": sse(*HELLO, STOP, STOP, DONE),
    "crlf": sse(*HELLO, STOP, DONE).replace(b"\n", b"\r\n"),
    "cr-alone": sse(*HELLO, STOP, DONE).replace(b"\n", b"\r"),
    "comments-and-other-fields": sse(b": hi\n\n", b"event: message\nid: 1\nretry: 5\n", *HELLO, STOP, DONE),
    "byte-order-mark": b"\xef\xbb\xbf: x\n\n" + sse(*HELLO, STOP, DONE),
    "empty-data": sse(b"data:\n\n", b"data: \n\n", *HELLO, b"data: null\n\n", STOP, DONE),
    "done-with-spaces": sse(*HELLO, b"data:  [DONE] \n\n"),
    "no-index": sse({"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}),
    "index-as-text": sse({"choices": [{"index": "0", "delta": {"content": "Hello"}}]}, DONE),
    "delta-null": sse(*HELLO, {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}),
    "delta-as-text": sse({"choices": [{"delta": "Hello", "finish_reason": "stop"}]}),
    "choices-null": sse({"choices": None}, *HELLO, STOP),
    "message-in-a-stream": sse({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
    "older-text": sse({"choices": [{"index": 0, "text": "Hello", "finish_reason": "stop"}]}),
    "content-in-parts": sse(delta(content=[{"type": "text", "text": "Hello"}]), STOP),
    "usage-in-words": sse(*HELLO, {**STOP, "usage": {"prompt_tokens": "many"}}, DONE),
    "filter-results-first": sse({"choices": [], "prompt_filter_results": []}, *HELLO, STOP),
    "not-a-number": sse(b'data: {"choices":[{"delta":{"content":"Hello"},"logprobs":NaN}]}\n\n', STOP),
    "null-among-calls": sse(delta(content="Hello", tool_calls=[None]), STOP),
    "function-null": sse(delta(content="Hello", tool_calls=[{"index": 0, "function": None}]), STOP),
}


@pytest.mark.parametrize("body", TEXTS.values(), ids=TEXTS)
async def test_the_words_are_read(body: bytes) -> None:
    async with serve_raw([HEAD + body, CLOSE]) as server:
        text, calls, _ = await ask(server)
    assert (text, calls) == ("Hello", [])


@pytest.mark.parametrize(
    ("pieces", "wanted"),
    [
        (['"a\\ud83d"', '"\\ude42b"'], "a🙂b"),
        (['"a\\ud83d"', '"b"'], "a\ufffdb"),
        (['"a\\ud83d"'], "a\ufffd"),
        (['"\\ude42b"'], "\ufffdb"),
    ],
)
async def test_a_character_cut_in_two_halves_is_put_together(pieces: list[str], wanted: str) -> None:
    events = [f'data: {{"choices":[{{"index":0,"delta":{{"content":{one}}}}}]}}\n\n'.encode() for one in pieces]
    async with serve_raw([HEAD, *events, sse(STOP, DONE), CLOSE]) as server:
        assert (await ask(server))[0] == wanted


async def test_bytes_that_are_no_utf8_become_the_replacement_character() -> None:
    bad = b'data: {"choices":[{"index":0,"delta":{"content":"a\xffb"}}]}\n\n'
    async with serve_raw([HEAD + bad + sse(STOP), CLOSE]) as server:
        assert (await ask(server))[0] == "a\ufffdb"


async def test_a_call_that_names_no_tool_is_no_call_and_what_it_says_is_not_lost() -> None:
    nameless = {**CALL, "function": {"name": "", "arguments": '{"city": "Seoul"}'}}
    async with serve_raw([HEAD + sse(delta(tool_calls=[nameless]), delta("tool_calls"), DONE), CLOSE]) as server:
        assert (await ask(server))[:2] == ('{"city": "Seoul"}', [])


async def test_a_character_cut_anywhere_in_its_bytes_is_whole() -> None:
    body = b'data: {"choices":[{"delta":{"content":"\xeb\x82\x98\xf0\x9f\x99\x82"}}]}\n\n' + DONE
    async with serve_raw([HEAD, *(body[at : at + 1] for at in range(len(body))), CLOSE]) as server:
        assert (await ask(server))[0] == "나🙂"


@pytest.mark.parametrize(
    "body",
    [
        sse(delta(tool_calls=CALL), delta("tool_calls"), DONE),
        sse(delta(tool_calls=[CALL]), STOP),
        sse(delta(tool_calls=[{**CALL, "index": "0"}]), DONE),
        sse(delta(tool_calls=[None, CALL]), DONE),
        sse(delta(tool_calls=[{**CALL, "function": {"name": "f", "arguments": None}}]), DONE),
    ],
    ids=["calls-as-an-object", "finished-by-stop", "index-as-text", "beside-null", "arguments-null"],
)
async def test_the_call_is_read(body: bytes) -> None:
    async with serve_raw([HEAD + body, CLOSE]) as server:
        assert await ask(server) == ("", [("f", {})], None)


async def test_a_stream_in_gzip_is_read_and_its_usage_counted() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": "3", "completion_tokens": 2.0}}
    head = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    async with serve_raw([head + gzip.compress(sse(*HELLO, STOP, usage, DONE)), CLOSE]) as server:
        assert await ask(server) == ("Hello", [], Usage(3, 2))


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ([HEAD + sse(*HELLO), CLOSE], "broken_off", "in the middle"),
        ([HEAD, CLOSE], "broken_off", "in the middle"),
        ([HEAD + sse({"choices": {"0": {}}}), CLOSE], "broken_off", "no chat completion's"),
        ([HEAD + sse({"choices": ["x"]}), CLOSE], "broken_off", "no chat completion's"),
        ([HEAD + sse(*HELLO, b"data: [1]\n\n"), CLOSE], "broken_off", "not JSON"),
        ([HEAD + sse(*HELLO, {"error": "boom"}), CLOSE], "upstream_failed|overloaded", "boom"),
        ([HEAD + sse(b'event: error\ndata: {"message": "boom"}\n\n'), CLOSE], "upstream_failed|overloaded", "boom"),
        ([HEAD + sse({"object": "error", "message": "boom", "code": 400}), CLOSE], "", "boom"),
        (whole(b'{"choices": ["x"]}', JSON), "not_an_api", "choices that are none"),
        (whole(b'{"id": "c", "choices": [{"mess', JSON), "broken_off", "JSON that is not whole"),
        (whole(b"[1]", JSON), "not_an_api", "no JSON"),
        (whole(b"", JSON), "not_an_api", "no JSON"),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], "not_an_api", "no JSON"),
    ],
)
async def test_what_cannot_be_read_is_a_failure_by_its_kind(answer: list[Any], code: str, said: str) -> None:
    async with serve_raw(answer) as server:
        with pytest.raises(ModelError, match=said) as caught:
            await ask(server)
    assert not code or caught.value.code in code.split("|")
