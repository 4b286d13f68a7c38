"""Bodies that clients really send, and some that nobody should: what the endpoint is asked, or which 400 says why."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.web.conftest import MemoryHub, application, served
from tests.web.upstream import Upstream, text_reply, upstream

USER = {"role": "user", "content": "hi"}
STRANGE = {"tool_call_id": "x", "content": "?"}
RIGHT = {"tool_call_id": "c1", "content": "r1"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.fixture
async def face() -> AsyncIterator[tuple[str, Upstream]]:
    async with (
        upstream(lambda body: text_reply("fine")) as model,
        served(application(MemoryHub(model.backend()))) as url,
    ):
        yield url, model


async def ask(face: tuple[str, Upstream], body: dict[str, Any] | bytes) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Return the status, the answer and what the endpoint was asked."""
    url, model = face
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", data=data, headers=headers) as response,
    ):
        answer = await response.json()
    return response.status, answer, model.asked[-1] if model.asked else {}


def history(arguments: str, *results: dict[str, Any], calls: int = 1) -> list[dict[str, Any]]:
    made = [
        {"id": f"c{index}", "type": "function", "function": {"name": f"f{index}", "arguments": arguments}}
        for index in range(calls)
    ]
    return [
        USER,
        {"role": "assistant", "content": None, "tool_calls": made},
        *({"role": "tool", **one} for one in results),
    ]


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        pytest.param({"messages": [{"role": "User", "content": "hi"}]}, {"messages": [USER]}, id="role-in-capitals"),
        pytest.param(
            {"messages": [{"role": "user", "content": "a\ud800"}]},
            {"messages": [{"role": "user", "content": "a\ufffd"}]},
            id="lone-surrogate",
        ),
        pytest.param(
            {"messages": [USER], "parallel_tool_calls": True},
            {"parallel_tool_calls": None},
            id="parallel-alone",
        ),
        pytest.param(
            {"messages": [USER], "tools": [TOOL], "tool_choice": "none", "parallel_tool_calls": False},
            {"parallel_tool_calls": None, "tools": None, "tool_choice": None},
            id="no-tools-wanted",
        ),
        pytest.param(
            {"messages": [USER], "tools": [TOOL], "tool_choice": {"type": "any"}}, {"tool_choice": "required"}, id="any"
        ),
        pytest.param({"messages": [USER], "stop": ["", "a", None]}, {"stop": ["a"]}, id="empty-stops"),
        pytest.param(
            {"messages": [USER], "tools": [TOOL], "tool_choice": "f"},
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            id="a-tools-bare-name",
        ),
        pytest.param(
            {
                "messages": [USER],
                "tools": [TOOL],
                "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"name": "f"}]},
            },
            {"tool_choice": "required"},
            id="allowed-tools-flat",
        ),
        pytest.param(
            {"messages": [USER], "top_k": 3, "cache_prompt": True},
            {"top_k": 3, "cache_prompt": True},
            id="unknown",
        ),
    ],
)
async def test_the_endpoint_is_asked_what_it_can_read(
    face: tuple[str, Upstream], body: dict[str, Any], asked: dict[str, Any]
) -> None:
    status, answer, sent = await ask(face, body)
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "fine")
    assert {key: sent.get(key) for key in asked} == asked


HIDDEN = {"type": "redacted_thinking", "data": "x"}
FOREIGN = {"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
CALLED = [USER, {"role": "assistant", "content": None, "tool_calls": [FOREIGN]}]
USED = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
PIXEL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}


def item(number: int) -> dict[str, Any]:
    return {"type": "function_call", "call_id": f"t{number}", "name": "f", "arguments": '{"a":1}'}


@pytest.mark.parametrize(
    ("turns", "asked"),
    [
        pytest.param(
            [
                USER,
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, USED]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "4"}, "and?"]},
            ],
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": "4"}, {"role": "user", "content": "and?"}],
            id="anthropic-blocks",
        ),
        pytest.param(
            [
                USER,
                {"role": "assistant", "content": [{"type": "text", "text": "so"}, USED]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "4"}]}
                    ],
                },
            ],
            [USER, {**CALLED[1], "content": "so"}, {"role": "tool", "tool_call_id": "t", "content": "4"}],
            id="anthropic-text-beside-a-call",
        ),
        pytest.param(
            [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": []},
                item(0),
                item(1),
                {"type": "function_call_output", "call_id": "t0", "output": "4"},
                {"type": "function_call_output", "call_id": "t1", "output": "5"},
            ],
            [
                USER,
                {**CALLED[1], "tool_calls": [{**FOREIGN, "id": "t0"}, {**FOREIGN, "id": "t1"}]},
                {"role": "tool", "tool_call_id": "t0", "content": "4"},
                {"role": "tool", "tool_call_id": "t1", "content": "5"},
            ],
            id="responses-items",
        ),
        pytest.param(
            [USER, {"role": "ai", "content": "yes"}, {"role": "human", "content": "so?"}],
            [USER, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "so?"}],
            id="langchains-roles",
        ),
        pytest.param(
            [USER, {"role": "assistant", "content": [HIDDEN]}, USER],
            [USER, {"role": "assistant", "content": "", "thinking_blocks": [HIDDEN]}, USER],
            id="nothing-but-a-hidden-thought",
        ),
        pytest.param(
            [{"role": "user", "content": [{"type": "image", "source": {"media_type": "image/png", "data": "aa"}}]}],
            [{"role": "user", "content": [PIXEL]}],
            id="anthropic-image",
        ),
        pytest.param(
            [{"role": "user", "content": [{"type": "image", "mimeType": "image/png", "data": "aa"}]}],
            [{"role": "user", "content": [PIXEL]}],
            id="mcp-image",
        ),
        pytest.param(
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}}
                    ],
                }
            ],
            [USER],
            id="text-file",
        ),
        pytest.param(
            [{"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "hi"}}]}],
            [USER],
            id="anthropic-document",
        ),
        pytest.param(
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": [{"x": 1}, {"x": 2}]}],
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": '[{"x":1},{"x":2}]'}],
            id="rows-as-a-result",
        ),
        pytest.param(
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": 4.5}],
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": "4.5"}],
            id="number-as-a-result",
        ),
        pytest.param(
            [USER, {"role": "assistant", "tool_calls": FOREIGN}, {"role": "tool", "content": "4"}],
            [*CALLED, {"role": "tool", "tool_call_id": "t", "content": "4"}],
            id="calls-as-one-object",
        ),
        pytest.param(
            [USER, {"role": "assistant", "tool_calls": [{"id": "t", "custom": {"name": "f", "input": "x"}}]}],
            [
                USER,
                {**CALLED[1], "tool_calls": [{**FOREIGN, "function": {"name": "f", "arguments": '{"input":"x"}'}}]},
                {"role": "tool", "tool_call_id": "t", "content": "(no result: this call was not run)"},
            ],
            id="custom-tool",
        ),
    ],
)
async def test_histories_in_other_apis_forms_lose_nothing(
    face: tuple[str, Upstream], turns: list[dict[str, Any]], asked: list[dict[str, Any]]
) -> None:
    status, _, sent = await ask(face, {"messages": turns})
    assert (status, sent["messages"]) == (200, asked)


@pytest.mark.parametrize(
    ("arguments", "sent_arguments"),
    [
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"n": "\\ud800"}', {"n": "\ufffd"}),
    ],
    ids=["integer-beyond-64-bits", "lone-surrogate"],
)
async def test_arguments_of_a_history_that_orjson_refuses_are_sent(
    face: tuple[str, Upstream], arguments: str, sent_arguments: dict[str, Any]
) -> None:
    status, _, sent = await ask(face, {"messages": history(arguments, {"tool_call_id": "c0", "content": "r"})})
    assert status == 200
    assert json.loads(sent["messages"][1]["tool_calls"][0]["function"]["arguments"]) == sent_arguments


@pytest.mark.parametrize(
    ("results", "calls", "turns"),
    [
        ([STRANGE], 1, [("c0", "?")]),
        ([{"content": "r0"}, {"content": "r1"}], 2, [("c0", "r0"), ("c1", "r1")]),
        ([{"content": "r1", "name": "f1"}, {"content": "r0", "name": "f0"}], 2, [("c1", "r1"), ("c0", "r0")]),
        ([{"content": "r1", "tool_name": "f1"}], 2, [("c1", "r1"), ("c0", None)]),
        ([STRANGE, RIGHT], 2, [("c0", "?"), ("c1", "r1")]),
        ([STRANGE, RIGHT], 3, [("c1", "r1"), ("c0", None), ("c2", None), (None, "[Tool Result: x]\n?")]),
    ],
    ids=["one-strange-id", "no-ids", "by-name", "ollamas-name", "strange-id-beside-a-right-one", "nobody-knows-whose"],
)
async def test_results_find_their_calls_and_never_stand_between_them(
    face: tuple[str, Upstream], results: list[dict[str, Any]], calls: int, turns: list[tuple[str | None, str | None]]
) -> None:
    status, _, sent = await ask(face, {"messages": history("{}", *results, calls=calls)})
    assert status == 200
    shown = [(turn.get("tool_call_id"), turn["content"]) for turn in sent["messages"][2:]]
    assert [(call, None if "no result" in text else text) for call, text in shown] == turns


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}', "NaN is no JSON value"),
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": 1e999}', "too large"),
        (b'{"messages": [{"role": "user", "content": "x"}], "a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "too deeply"),
        (b'{"messages": [{"role": "user", "content": "\xe9"}]}', "not JSON"),
        (b"", "not JSON"),
        pytest.param(
            gzip.compress(b"{}", mtime=0),
            "compressed (gzip), which is not read here; send the JSON as it is",
            id="gzip",
        ),
        ({"messages": [USER], "stream": "true"}, "stream must be true or false"),
        ({"messages": [USER], "n": 2}, "n must be 1"),
        ({"messages": [USER], "naru_strategy": "magic"}, "naru_strategy must be one of native, prompted, guided"),
        ({"messages": [USER, {"type": "item_reference", "id": "x"}]}, "messages[1] has neither a role nor content"),
        ({"messages": [USER, {"content": "Be kind."}]}, "messages[1] has no role"),
        ({"messages": [{"role": "user", "content": [{"type": "video_url"}]}]}, "messages[0].content[0] of type"),
        ({"messages": history("{}", {"content": "r"}, calls=2)}, r"messages[2] has no tool_call_id"),
        ({"messages": [USER], "tools": [TOOL], "tool_choice": {"name": "g"}}, "tool_choice names 'g'"),
    ],
)
async def test_what_cannot_be_taken_is_a_400_that_says_why(
    face: tuple[str, Upstream], body: dict[str, Any] | bytes, said: str
) -> None:
    status, answer, sent = await ask(face, body)
    assert (status, sent) == (400, {})
    assert said in answer["error"]["message"]
