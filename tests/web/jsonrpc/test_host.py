"""R1, R2: the JSON-RPC host, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from naru.errors import ModelError
from naru.messages import Finish, Text
from naru.models.scripted import ScriptedBackend
from naru.web.gate.security import guard
from naru.web.jsonrpc import host as rpc
from tests.web.conftest import MemoryHub, dispatch, served

CALL = '```json\n{"tool": "hub.echo", "arguments": {"text": "hi"}}\n```'
NATIVE = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'


def app(hub: MemoryHub):
    settings = hub.settings.server.model_copy(update={"allowed_hosts": ["127.0.0.1:*"]})
    return guard(dispatch, rpc.endpoints(hub), settings)


def body(**changes: Any) -> dict[str, Any]:
    """The request that the seed writes with curl."""
    params = {"messages": [{"role": "user", "content": "안녕하세요를 음성으로 생성해줘"}], "max_iterations": 5}
    return {"jsonrpc": "2.0", "method": "generate_content", "params": params, "id": 1} | changes


async def post(hub: MemoryHub, payload: Any, *, path: str = "/generate_with_mcp", headers=None) -> tuple[int, str]:
    async with served(app(hub)) as url, aiohttp.ClientSession() as session:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        kinds = {"Content-Type": "application/json", **(headers or {})}
        async with session.post(url + path, data=data, headers=kinds) as response:
            return response.status, await response.text()


async def test_the_seeds_request_runs_the_loop_and_gives_the_answer() -> None:
    hub = MemoryHub(ScriptedBackend([NATIVE, "It said hi."]))
    status, text = await post(hub, body())
    answer = json.loads(text)
    assert (status, answer["id"], answer["jsonrpc"]) == (200, 1, "2.0")
    assert answer["result"]["content"] == "It said hi."
    assert answer["result"]["calls"] == ["hub__echo"]
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]


async def test_an_answer_names_its_model_also_when_the_request_named_none() -> None:  # R1
    hub = MemoryHub(ScriptedBackend(["Hello."]))
    _, text = await post(hub, body(), path="/generate")
    assert json.loads(text)["result"]["model"] == hub.backend.requests[0].model == "scripted"


async def test_without_tools_generate_only_answers() -> None:  # R2
    hub = MemoryHub(ScriptedBackend(["Hello."]))
    _, text = await post(hub, body(), path="/generate")
    assert json.loads(text)["result"]["content"] == "Hello."
    assert hub.backend.requests[0].tools == ()


async def test_with_no_server_the_host_falls_back_to_a_plain_answer() -> None:  # R2
    hub = MemoryHub(ScriptedBackend(["Hello."]))
    hub.toolset.tools = _none  # type: ignore[method-assign]
    _, text = await post(hub, body())
    assert json.loads(text)["result"]["reason"] == "no_tools"


async def _none():
    return ()


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"{not json", -32700),
        (b"", -32700),
        (body(jsonrpc="1.0"), -32600),
        ("text", -32600),
        ([], -32600),
        (body(method=7), -32600),
        (body(id=True), -32600),
        (body(method="delete_everything"), -32601),
        (body(params=None), -32602),
        (body(params={"messages": []}), -32602),
        (body(params={"messages": [{"role": "user", "content": "x"}], "max_iterations": 0}), -32602),
        (body(params={"messages": [{"role": "wizard", "content": "x"}]}), -32602),
        (body(params={"messages": [{"role": "user", "content": "x"}], "mcp_servers": ["none"]}), -32602),
    ],
    ids=[
        "not json", "empty", "version", "a string", "empty batch", "method type", "id", "unknown method",
        "no params", "no messages", "bad limit", "bad role", "unknown server",
    ],
)  # fmt: skip
async def test_bad_requests_get_the_codes_of_json_rpc_and_never_a_bare_500(payload: Any, code: int) -> None:  # R1
    status, text = await post(MemoryHub(ScriptedBackend(["x"])), payload)
    answer = json.loads(text)
    assert status == 200
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert answer["error"]["message"].count("is not JSON") <= 1, "the reason is said once"


async def test_a_batch_is_answered_in_order_and_notifications_are_not() -> None:
    hub = MemoryHub(ScriptedBackend(["One."], repeat_last=True))
    note = body()
    del note["id"]
    _, text = await post(hub, [body(id="a"), note, body(method="no"), body(id=3)], path="/generate")
    answers = json.loads(text)
    assert [answer["id"] for answer in answers] == ["a", 1, 3]
    assert "error" in answers[1]


async def test_a_notification_alone_gets_no_content() -> None:
    note = body()
    del note["id"]
    status, text = await post(MemoryHub(ScriptedBackend(["x"])), note, path="/generate")
    assert (status, text) == (204, "")


async def test_a_stream_shows_the_steps_and_ends_with_the_response() -> None:
    hub = MemoryHub(ScriptedBackend([NATIVE, "It said hi."]))
    _, text = await post(hub, body(), headers={"Accept": "text/event-stream"})
    events = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
    steps = [event["params"]["step"] for event in events[:-1]]
    assert {"round", "call", "result", "text"} <= set(steps)
    assert events[-1]["result"]["content"] == "It said hi."


async def test_a_model_that_fails_is_an_error_that_says_whether_to_retry() -> None:
    hub = MemoryHub(ScriptedBackend([ModelError("The endpoint is busy.", retryable=True, retry_after_seconds=7)]))
    _, text = await post(hub, body())
    error = json.loads(text)["error"]
    assert error["code"] == -32000
    assert error["data"] == {"code": "model_error", "retryable": True, "retry_after_seconds": 7}


async def test_messages_may_be_written_as_gemini_does() -> None:
    hub = MemoryHub(ScriptedBackend(["Fine."]))
    turns = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Hello"}]}]
    await post(hub, body(params={"messages": [*turns, {"role": "user", "content": "How are you?"}]}), path="/generate")
    assert [(turn.role, turn.text) for turn in hub.backend.requests[0].messages][:2] == [
        ("user", "Hi"), ("assistant", "Hello"),
    ]  # fmt: skip


async def test_tools_may_be_required() -> None:  # e19
    hub = MemoryHub(ScriptedBackend(["x"]))
    hub.toolset.tools = _none  # type: ignore[method-assign]
    asked = body()
    asked["params"]["require_tools"] = True
    _, text = await post(hub, asked)
    assert json.loads(text)["error"]["data"] == {"code": "no_tools"}


async def test_the_seeds_own_dialect_with_a_dotted_name_is_a_call() -> None:  # R7, R8
    hub = MemoryHub(ScriptedBackend([CALL, "It said hi."]))
    await post(hub, body())
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]


async def test_what_geminis_parts_hold_beside_text_reaches_the_model() -> None:
    """N19."""
    hub = MemoryHub(ScriptedBackend(["It is a cat."]))
    held = [
        {"inline_data": {"mime_type": "image/png", "data": "QUJD"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "QUJD"}},
    ]
    turns = [{"role": "user", "parts": [{"text": "What is it?"}, *held]}]
    await post(hub, body(params={"messages": turns}), path="/generate")
    words, picture, file = hub.backend.requests[0].messages[0].content
    assert (words.text, picture.mime_type, picture.data) == ("What is it?", "image/png", "QUJD")
    assert (file.mime_type, file.blob) == ("application/pdf", "QUJD")


async def test_an_answer_that_was_cut_says_so() -> None:
    hub = MemoryHub(ScriptedBackend([[Text("Half"), Finish("length")]]))
    _, text = await post(hub, body(), path="/generate")
    result = json.loads(text)["result"]
    assert (result["content"], result["finish"]) == ("Half", "length")
