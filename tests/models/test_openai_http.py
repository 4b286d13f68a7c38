"""The OpenAI-compatible backend against an endpoint that answers every way they do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from tests.models.fake_endpoint import Answering, FakeEndpoint, Reply, delta, json_reply, serve, sse, tool_delta
from tests.waiting import until

from naru.errors import ConfigError, ModelError
from naru.messages import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Finish,
    ImagePart,
    Message,
    Reasoning,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.known.profile import Profile
from naru.models.wires import openai_http
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.openai_http import Endpoint, OpenAIBackend

LOOK_UP = ToolDefinition("look_up", "Look a person up.", {"type": "object", "properties": {"id": {"type": "string"}}})
ASK = ChatRequest("m", [Message("user", "hi")], tools=[LOOK_UP])


async def ask(answers: Answering, request: ChatRequest = ASK, **options: Any) -> tuple[list[ChatEvent], FakeEndpoint]:
    async with serve(answers) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url, "secret"), Profile(), **options)
        try:
            return [event async for event in backend.stream(request)], fake
        finally:
            await backend.close()


def calls(events: Sequence[ChatEvent]) -> list[tuple[str, dict[str, Any]]]:
    names = {event.index: event.name for event in events if isinstance(event, CallStart)}
    return [(names[event.index], event.arguments) for event in events if isinstance(event, CallEnd)]


def text(events: Sequence[ChatEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


async def test_text_reasoning_and_usage_arrive_in_order_and_finish_is_last() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    events, fake = await ask(
        [Reply(sse(delta(reasoning_content="hm"), delta(content="안"), delta(content="녕"), delta("stop"), usage))]
    )
    # Pieces that arrive together are read as one.
    kinds = [*dict.fromkeys(map(type, events))]
    assert kinds == [Reasoning, Text, Usage, Finish]
    assert (text(events), events[0], events[-2:]) == ("안녕", Reasoning("hm"), [Usage(7, 2), Finish("stop")])
    assert fake.headers[0]["Authorization"] == "Bearer secret"
    assert fake.bodies[0]["stream_options"] == {"include_usage": True}
    assert fake.bodies[0]["tools"][0]["function"]["name"] == "look_up"


async def test_a_stream_reads_the_same_under_every_split_of_its_bytes() -> None:
    whole = b"".join(sse(delta(content="a\r\n가"), tool_delta(call_id="c", name="look_up", arguments='{"id": "7"}')))
    whole = whole.replace(b"\n\n", b"\r\n\r\n")
    expected, _ = await ask([Reply([whole])])
    for size in (1, 2, 3, 7):
        split = [whole[start : start + size] for start in range(0, len(whole), size)]
        events, _ = await ask([Reply(split)])
        assert events == expected


async def test_native_calls_in_pieces_become_events_with_streamed_arguments() -> None:
    events, _ = await ask(
        [
            Reply(
                sse(
                    tool_delta(0, call_id="c0", name="look_up"),
                    tool_delta(0, arguments='{"id"'),
                    tool_delta(0, arguments=': "7"}'),
                    tool_delta(1, call_id="c1", name="look_up", arguments=""),
                    delta("tool_calls"),
                )
            )
        ]
    )
    assert events == [
        CallStart(0, "c0", "look_up"),
        ArgumentsDelta(0, '{"id"'),
        ArgumentsDelta(0, ': "7"}'),
        CallEnd(0, {"id": "7"}),
        CallStart(1, "c1", "look_up"),
        ArgumentsDelta(1, "{}"),
        CallEnd(1, {}),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [
                tool_delta(0, call_id="a", name="look_up", arguments='{"id": "1"}'),
                tool_delta(0, call_id="b", name="look_up", arguments='{"id": "2"}'),
            ],
            [("look_up", {"id": "1"}), ("look_up", {"id": "2"})],
            id="two-calls-both-of-index-0",
        ),
        pytest.param(
            [
                tool_delta(None, call_id="a", name="look_up", arguments='{"id": "1"}'),
                tool_delta(None, call_id="b", name="look_up", arguments='{"id": "2"}'),
            ],
            [("look_up", {"id": "1"}), ("look_up", {"id": "2"})],
            id="no-index",
        ),
        pytest.param(
            [tool_delta(0, call_id="a", name="look_up", arguments={"id": "1"})],
            [("look_up", {"id": "1"})],
            id="arguments-as-an-object",
        ),
        pytest.param(
            [tool_delta(0, call_id="a", name="look_up", arguments='"{\\"id\\": \\"1\\"}"')],
            [("look_up", {"id": "1"})],
            id="arguments-encoded-twice",
        ),
        pytest.param(
            [tool_delta(0, call_id="a", name="look_up", arguments="{'id': '1',}")],
            [("look_up", {"id": "1"})],
            id="arguments-misspelt",
        ),
        pytest.param(
            [delta(function_call={"name": "look_up"}), delta(function_call={"arguments": '{"id": "1"}'})],
            [("look_up", {"id": "1"})],
            id="the-old-function-call",
        ),
        pytest.param(
            [tool_delta(0, call_id="a", name="look_up", arguments='{"id": "1'), delta("length")],
            [],
            id="cut-off-by-length",
        ),
        pytest.param(
            [delta(content='```json\n{"name": "look_up", "arguments": {"id": "1"}}\n```')],
            [("look_up", {"id": "1"})],
            id="leaked-into-the-text",
        ),
        pytest.param(
            [
                delta(content='```json\n{"name": "look_up", "arguments": {"id": "1"}}\n```'),
                tool_delta(0, call_id="a", name="look_up", arguments='{"id": "1"}'),
            ],
            [("look_up", {"id": "1"})],
            id="leaked-and-native-is-one-call",
        ),
        pytest.param(
            [
                tool_delta(0, call_id="a", name="look_up", arguments='{"id": "1"}'),
                delta(content='```json\n{"name": "look_up", "arguments": {"id": "1"}}\n```'),
            ],
            [("look_up", {"id": "1"})],
            id="native-and-leaked-is-one-call",
        ),
    ],
)
async def test_every_way_of_sending_calls_gives_the_calls(
    chunks: list[dict[str, Any]], expected: list[tuple[str, dict[str, Any]]]
) -> None:
    events, _ = await ask([Reply(sse(*chunks))])
    assert calls(events) == expected
    starts = [event.index for event in events if isinstance(event, CallStart)]
    assert starts == list(range(len(starts))), "indexes have no gaps"
    for index, (_, arguments) in enumerate(expected):
        deltas = "".join(event.json for event in events if isinstance(event, ArgumentsDelta) and event.index == index)
        assert json.loads(deltas) == arguments
    reason = "tool_calls" if expected else "length"
    assert events[-1] == Finish(reason)


async def test_a_call_that_the_endpoint_refused_in_mid_stream_is_the_loops_to_judge() -> None:
    written = '{"name": "look_up", "arguments": {"wrong": 1}}'
    error = {"message": "did not match schema", "code": "tool_use_failed", "failed_generation": written}
    events, _ = await ask([Reply(sse(delta(reasoning="hm"), {"error": error}, done=False))])
    assert calls(events) == [("look_up", {"wrong": 1})]
    assert events[-1] == Finish("tool_calls")


async def test_an_endpoint_that_does_not_stream_is_read_as_well() -> None:
    message = {"content": "ok", "tool_calls": [{"id": "a", "function": {"name": "look_up", "arguments": "{}"}}]}
    events, _ = await ask(
        [json_reply({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}})]
    )
    assert text(events) == "ok"
    assert calls(events) == [("look_up", {})]
    assert events[-2:] == [Usage(1, 0), Finish("tool_calls")]


async def test_nobody_listening_is_said_in_one_line() -> None:
    backend = OpenAIBackend(Endpoint.of("http://127.0.0.1:9/v1"), Profile())
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached: .*refused") as raised:
        await anext(aiter(backend.stream(ASK)))
    assert raised.value.retryable
    await backend.close()


async def test_an_endpoint_that_falls_silent_is_given_up() -> None:
    async with serve([Reply(silent=True)]) as fake, asyncio.timeout(30):
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), timeout_seconds=0.2)
        with pytest.raises(ModelError, match=r"sent nothing for 0\.2 s"):
            await anext(aiter(backend.stream(ASK)))
        await backend.close()


async def test_e26_leaving_the_answer_closes_the_upstream_within_a_second() -> None:
    async with serve([Reply(sse(delta(content="B"), done=False), hang=True)]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        async with aclosing(backend.stream(ASK)) as events:
            assert await anext(events) == Text("B")
        await asyncio.wait_for(fake.gone.wait(), 60)
        await backend.close()


async def test_e26_cancelling_before_the_first_chunk_closes_the_upstream_as_well() -> None:
    async with serve([Reply([b": \n\n"], hang=True)]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        waiting = asyncio.ensure_future(anext(aiter(backend.stream(ASK))))
        await until(lambda: fake.bodies)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(fake.gone.wait(), 60)
        await backend.close()


async def test_a_kept_connection_that_the_endpoint_has_closed_is_replaced_unnoticed() -> None:
    """llama.cpp announces keep-alive and closes after each stream: every second request would fail."""
    answer = b"".join(sse(delta(content="a"), delta("stop")))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(answer)
    connections = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        await reader.read(1 << 16)
        writer.write(head + answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        backend = OpenAIBackend(Endpoint.of(f"http://127.0.0.1:{port}/v1"), Profile())
        for _ in range(5):
            assert text([event async for event in backend.stream(ASK)]) == "a"
        await backend.close()
    assert connections == 5


async def test_a_conversation_with_calls_is_sent_as_openai_wants_it() -> None:
    request = ChatRequest(
        "m",
        [
            Message("system", "s"),
            Message("user", (TextPart("see"), ImagePart("image/png", "QUJD"))),
            Message("assistant", "", tool_calls=(ToolCall("c1", "look_up", {"id": "가"}),)),
            Message("tool", "found", tool_call_id="c1"),
        ],
        temperature=0.0,
        max_tokens=9,
        stop=["X"],
        response_schema={"type": "object"},
        extra={"seed": 3, "stream": False},
    )
    _, fake = await ask([Reply(sse(delta("stop")))], request)
    body = fake.bodies[0]
    assert body["messages"][1]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,QUJD"},
    }
    assert body["messages"][2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"id":"가"}'}}],
    }
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "found"}
    assert (body["temperature"], body["max_tokens"], body["stop"], body["seed"], body["stream"]) == (
        0,
        9,
        ["X"],
        3,
        True,
    )
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "tools" not in body, "no empty list of tools"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("https://h/v1beta/openai/chat/completions", "https://h/v1beta/openai"),
    ],
)
def test_a_base_url_is_taken_as_people_write_it(given: str, used: str) -> None:
    assert Endpoint.of(given).base_url == used


async def test_what_an_address_asks_for_is_asked_with_every_request() -> None:
    """Azure's deployments want their `api-version`; what may be a key there is not shown."""
    async with serve([Reply(sse(delta("stop"))), json_reply({"data": []})]) as fake:
        root = fake.base_url.removesuffix("/v1")
        endpoint = Endpoint.of(f"{root}/openai/deployments/d/chat/completions?api-version=2024-10-21&key=secret")
        backend = OpenAIBackend(endpoint)
        await anext(backend.stream(ASK))
        await backend.models()
        await backend.close()
    assert [url.partition("/deployments/d")[2] for url in fake.urls] == [
        "/chat/completions?api-version=2024-10-21&key=secret",
        "/models?api-version=2024-10-21&key=secret",
    ]
    assert "secret" not in f"{endpoint!r}{endpoint.shown}{backend.where}"


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ([{"id": "a"}, {"id": "b"}], ["a", "b"]),
        ({"models": [{"name": "a"}]}, ["a"]),
        ({"data": [{"object": "model"}, {"id": "a"}, "b", None]}, ["a"]),
        ({"data": None}, []),
    ],
    ids=["together", "by name", "rows without a name", "null"],
)
async def test_models_are_listed_in_every_form_that_endpoints_give(listed: Any, names: list[str]) -> None:
    async with serve([json_reply(listed)]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url))
        assert await backend.models() == names
        await backend.close()


@pytest.mark.parametrize("wire", [OpenAIBackend, AnthropicBackend], ids=["chat", "Messages"])
async def test_an_endpoint_without_a_list_serves_the_model_that_is_set(wire: Any) -> None:
    """Azure's deployments are one model each."""
    async with serve([json_reply({"error": {"message": "Resource not found"}}, 404)]) as fake:
        backends = [wire(Endpoint.of(fake.base_url), model=model) for model in ("gpt-4o", "")]
        assert await backends[0].models() == ["gpt-4o"]
        with pytest.raises(ModelError, match="Resource not found"):
            await backends[1].models()
        for backend in backends:
            await backend.close()


@pytest.mark.parametrize("reason", ["model_length", "max_tokens", "MAX_TOKENS"])
async def test_an_answer_cut_by_a_limit_is_told_as_that_in_whichever_word(reason: str) -> None:
    async with serve([Reply(sse(delta(content="Half"), delta(reason)))]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url))
        assert [event async for event in backend.stream(ASK)] == [Text("Half"), Finish("length")]
        await backend.close()


def test_what_is_no_url_is_refused_and_a_key_is_never_shown() -> None:
    with pytest.raises(ConfigError, match="not an http"):
        Endpoint.of("localhost:8000")
    assert "secret" not in repr(Endpoint.of("http://user:secret@h/v1", "secret").shown)


@pytest.mark.parametrize("way", ["hang", "silent"])
async def test_an_answer_whose_reason_was_told_ends_though_its_endpoint_never_says_so(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pings for ever, or nothing, after `finish_reason`; what comes in time still counts."""
    monkeypatch.setattr(openai_http, "_REST_SECONDS", 0.2)
    used = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    chunks = sse(delta(content="Hi"), delta("stop"), used, done=False)
    for delivers in (False, True):
        async with serve([Reply(chunks, **{way: True})]) as fake, asyncio.timeout(30):
            backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), timeout_seconds=60)
            events: list[ChatEvent] = []
            if delivers:
                await backend.deliver(ASK, events.extend)
            else:
                events = [event async for event in backend.stream(ASK)]
            await backend.close()
        assert events == [Text("Hi"), Usage(7, 3), Finish("stop")]


async def test_counts_of_nothing_take_no_counts_back() -> None:
    counts = ({"prompt_tokens": 7, "completion_tokens": 3}, {"prompt_tokens": 0, "completion_tokens": 0})
    chunks = sse(delta(content="Hi"), delta("stop"), *({"choices": [], "usage": one} for one in counts))
    async with serve([Reply(chunks)]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        assert Usage(7, 3) in [event async for event in backend.stream(ASK)]
        await backend.close()


@pytest.mark.parametrize(
    ("query", "key", "header"),
    [
        ("?api-version=2024-10-21", "k" * 32, "api-key"),
        ("?api-version=2024-10-21", "eyJhbGciOi.eyJhdWQi.c2ln", "Authorization"),
        ("", "k" * 32, "Authorization"),
    ],
    ids=["Azure's key", "Azure's token", "others"],
)
async def test_a_key_is_shown_in_the_header_that_its_address_reads(query: str, key: str, header: str) -> None:
    async with serve([Reply(sse(delta("stop")))]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url + query, key))
        await anext(backend.stream(ASK))
        await backend.close()
    shown = {name: value for name, value in fake.headers[0].items() if key in value}
    assert list(shown) == [header]
