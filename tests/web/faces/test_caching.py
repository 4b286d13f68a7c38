"""What a client asks of an endpoint's prompt cache reaches each wire that has a word for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from naru.config import HubSettings, Settings
from tests.models.fake_endpoint import json_reply, serve
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import post
from tests.web.faces.test_matrix import wired

SHORT, LONG = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "f", "description": "F", "input_schema": {"type": "object", "properties": {}}}
CODED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 5,
    "cache_control": SHORT,
    "tools": [TOOL, {**TOOL, "name": "g", "cache_control": LONG}],
    "system": [{"type": "text", "text": "Always so.", "cache_control": LONG}, {"type": "text", "text": "Today."}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "A long one.", "cache_control": SHORT},
                {"type": "text", "text": "Go."},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}, "cache_control": SHORT}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "done"}],
        },
    ],
}


async def sent(wire: str, path: str, body: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with serve([json_reply({"error": {"message": "no"}}, 400)]) as fake:
        backend = wired(wire, fake.base_url.removesuffix("/v1"))
        try:
            async with served(application(MemoryHub(backend, settings=settings))) as url:
                await post(url + path, body)
        finally:
            await backend.close()
        return fake.bodies[0]


async def test_breakpoints_of_messages_stand_where_the_client_put_them(tmp_path: Path) -> None:
    body = await sent("anthropic", "/v1/messages", CODED, tmp_path)
    TypeAdapter(MessageCreateParamsStreaming).validate_python(body)
    assert body["system"] == CODED["system"]
    assert [one.get("cache_control") for one in body["tools"]] == [None, LONG]
    asked, called, given = (turn["content"] for turn in body["messages"])
    assert asked == CODED["messages"][0]["content"]
    assert called == CODED["messages"][1]["content"]
    assert (given[0]["type"], given[0]["cache_control"]) == ("tool_result", SHORT)


async def test_breakpoints_in_chat_completions_reach_messages_and_no_other_wire_hears_of_any(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "A long one.", "cache_control": SHORT}, {"type": "text", "text": "Go."}]
    asked = {"model": "m", "messages": [{"role": "user", "content": parts}]}
    body = await sent("anthropic", "/v1/chat/completions", asked, tmp_path)
    assert body["messages"][0]["content"] == parts
    for wire in ("openai", "responses", "ollama"):
        assert "cache_control" not in str(await sent(wire, "/v1/messages", CODED, tmp_path)), wire


@pytest.mark.parametrize("wire", ["openai", "responses"])
async def test_a_cache_key_of_responses_reaches_the_apis_that_have_one(wire: str, tmp_path: Path) -> None:
    asked = {"prompt_cache_key": "session-1", "prompt_cache_retention": "24h"}
    body = await sent(wire, "/v1/responses", {"model": "m", "input": "Go.", **asked}, tmp_path)
    assert asked.items() <= body.items()
