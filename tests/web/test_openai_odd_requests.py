"""Bodies that clients really send, and some that nobody should: what the endpoint is asked, or which 400 says why."""

from __future__ import annotations

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
        ({"messages": [USER], "stream": "true"}, "stream must be true or false"),
        ({"messages": [USER], "n": 2}, "n must be 1"),
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
