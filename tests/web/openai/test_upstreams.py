"""Other shapes of the same faults as area d's reports: what endpoints send, and what a strict client gets of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.openai.test_cases import ask, ask_once, naru_before
from tests.web.upstream import Reply, delta

END = [delta("tool_calls"), "[DONE]"]
HI = [delta(content="hi"), delta("stop"), "[DONE]"]


def call(arguments: Any = "{}", *, name: str = "f", **fields: Any) -> dict[str, Any]:
    return {"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}} | fields


def calls(*deltas: Any, end: list[Any] = END) -> list[Any]:
    return [*(delta(tool_calls=one if isinstance(one, list) else [one]) for one in deltas), *end]


def events(*payloads: Any, line: str) -> list[bytes]:
    texts = [payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads]
    return [f": hello{line}{line}event: message{line}data:{text}{line}{line}".encode() for text in texts]


F: list[tuple[str, Any]] = [("f", {})]
FA: list[tuple[str, Any]] = [("f", {"a": 1})]
SHAPES: dict[str, tuple[list[Any], list[tuple[str, Any]], str]] = {
    "index-as-text": (calls(call(index="0")), F, ""),
    "index-null": (calls(call(index=None)), F, ""),
    "index-with-gaps": (calls(call(index=1), call(index=3, id="b", name="g")), [*F, ("g", {})], ""),
    "one-index-two-ids": (calls([call(), call(id="b", name="g")]), [*F, ("g", {})], ""),
    "interleaved": (
        calls(
            call('{"a":'),
            call('{"a":', index=1, id="b", name="g"),
            {"index": 0, "function": {"arguments": "1}"}},
            {"index": 1, "function": {"arguments": "2}"}},
        ),
        [*FA, ("g", {"a": 2})],
        "",
    ),
    "name-in-every-delta": (calls(call('{"a"'), call(": 1}")), FA, ""),
    "name-in-pieces": (calls(call("", name="get_"), call("{}", name="weather")), [("get_weather", {})], ""),
    "arguments-object": (calls(call({"a": 1})), FA, ""),
    "arguments-encoded-twice": (calls(call(json.dumps('{"a": 1}'))), FA, ""),
    "arguments-python": (calls(call("{'a': 1,}")), FA, ""),
    "arguments-glued": (calls(call('{"a":1}{"a":2}')), [*FA, ("f", {"a": 2})], ""),
    "arguments-list": (calls(call("[1]")), [], "f([1])"),
    "function_call": (
        [delta(function_call={"name": "f", "arguments": '{"a":1}'}), delta("function_call"), "[DONE]"],
        FA,
        "",
    ),
    "two-ends": ([*calls(call(), end=[]), delta("tool_calls"), delta("stop"), "[DONE]"], F, ""),
    "content-parts": ([delta(content=[{"type": "text", "text": "hi"}]), delta("stop"), "[DONE]"], [], "hi"),
    "delta-null": ([{"choices": [{"index": 0, "delta": None}]}, *HI], [], "hi"),
    "choices-null": ([{"choices": None}, *HI], [], "hi"),
    "usage-null": ([{"choices": [], "usage": None}, *HI], [], "hi"),
    "no-done": (HI[:-1], [], "hi"),
    "unknown-end": ([HI[0], delta("eos"), "[DONE]"], [], "hi"),
    "crlf": (events(*HI, line="\r\n"), [], "hi"),
    "cr": (events(*HI, line="\r"), [], "hi"),
    "a-second-answer": ([{"choices": [{"index": 1, "delta": {"content": "no"}}]}, *HI], [], "hi"),
}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("shape", SHAPES)
async def test_any_shape_arrives_in_the_one_strict_form(shape: str, stream: bool) -> None:
    chunks, wanted, content = SHAPES[shape]
    answer = await ask_once(Reply(chunks), stream=stream)
    assert answer.status == 200, answer.text
    reason = "tool_calls" if wanted else "stop"
    if stream:
        assert [(one["name"], json.loads(one["arguments"])) for one in answer.calls] == wanted
        assert (answer.content, answer.reasons, answer.done) == (content, [reason], 1)
        return
    (choice,) = answer.body["choices"]
    told = [one["function"] for one in choice["message"].get("tool_calls", ())]
    assert [(one["name"], json.loads(one["arguments"])) for one in told] == wanted
    assert (choice["message"]["content"] or "", choice["finish_reason"]) == (content, reason)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("chunks", "status", "said"),
    [
        ([b"data: hello\n\n"], 502, "not JSON"),
        ([{"error": {"message": "boom", "code": 429}}], 429, "boom"),
        ([{"error": "boom"}], 502, "boom"),
        ([b"data: {}\n\n"], 502, "middle"),
    ],
    ids=["not-json", "error-object", "error-text", "nothing"],
)
async def test_a_stream_that_begins_wrong_is_a_true_status(
    chunks: list[Any], status: int, said: str, stream: bool
) -> None:
    answer = await ask_once(Reply(chunks), stream=stream)
    assert (answer.status, answer.content_type) == (status, "application/json")
    assert said in answer.body["error"]["message"]


@pytest.mark.parametrize("tail", [[{"error": "boom"}], [], [b"data: {broken\n\n"]], ids=["error", "cut", "broken"])
async def test_a_stream_that_goes_wrong_keeps_its_text_and_ends_in_one_error(tail: list[Any]) -> None:
    answer = await ask_once(Reply([delta(content="hi"), *tail]))
    assert (answer.content, answer.reasons, answer.done) == ("hi", [], 0)
    assert ["error" in chunk for chunk in answer.chunks].count(True) == 1


async def test_arguments_that_cannot_be_read_are_said_and_are_no_call() -> None:
    answer = await ask_once(Reply(calls(call('{"a": '))), stream=False)
    (choice,) = answer.body["choices"]
    # Arguments that end in the middle were cut off, whatever the endpoint says (issue 17, line 3; r2-33).
    assert (choice["message"]["content"], choice["finish_reason"]) == ('f({"a": )', "length")


async def test_strictness_of_tools_and_detail_of_images_travel_to_the_endpoint() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    tools = [
        {"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}},
        {"type": "function", "function": {"name": "g", "strict": False, "parameters": schema}},
    ]
    shown = [
        {"type": "image_url", "image_url": {"url": "https://x/a.png", "detail": "low"}},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "high"},
        {"type": "image_url", "image_url": {"url": "https://x/b.png"}},
    ]
    async with naru_before([Reply(HI)]) as (url, model):
        answer = await ask(url, tools=tools, messages=[{"role": "user", "content": shown}])
    assert answer.content == "hi"
    sent = model.asked[0]
    assert [tool["function"].get("strict") for tool in sent["tools"]] == [True, None]
    assert sent["tools"][0]["function"]["parameters"] == schema
    assert [part["image_url"] for part in sent["messages"][0]["content"]] == [
        {"url": "https://x/a.png", "detail": "low"},
        {"url": "data:image/png;base64,AAAA", "detail": "high"},
        {"url": "https://x/b.png"},
    ]
