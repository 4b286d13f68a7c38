"""The llama.cpp form on the real engine: every report's tools, in one request, compile to a grammar."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import jsonschema
import pytest
from tests.conftest import EngineAddress
from tests.tools.reports import Reports

from naru.messages import ToolDefinition
from naru.tools.provider_schemas.forms import provider_form, provider_schema

pytestmark = [pytest.mark.slow, pytest.mark.engine]


REPORTED = {case_id: Reports("b").cases[case_id]["input"]["schema"] for case_id in ("b29", "b31", "b33")}
MIXED = {
    "type": "object",
    "properties": {
        "mail": {"type": "string", "pattern": "^(?!x)a$"},
        "colour": {"enum": ["mauve", "ochre"]},
        "count": {"type": "integer", "minimum": 41, "maximum": 49},
        "note": {"type": ["string", "null"], "maxLength": 10_000},
    },
    "required": ["colour", "count"],
}


async def ask(engine: EngineAddress, **body: Any) -> tuple[int, Any]:
    request = {
        "model": engine.model,
        "messages": [{"role": "user", "content": "Use a tool."}],
        "max_tokens": 4,
        "temperature": 0,
        **body,
    }
    headers = {"Authorization": f"Bearer {engine.api_key}"}
    timeout = aiohttp.ClientTimeout(total=240)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(f"{engine.base_url}/chat/completions", json=request, headers=headers) as response,
    ):
        return response.status, await response.json(content_type=None)


async def test_reported_tools_beside_a_good_one_are_answered(local_engine):  # b29, b31, b33
    good = ToolDefinition("good", "A good one.", {"type": "object", "properties": {"x": {"type": "string"}}})
    form = provider_form(
        [*(ToolDefinition(f"t_{name}", "", schema) for name, schema in REPORTED.items()), good], "llama.cpp"
    )
    assert form.set_aside == {}
    status, answer = await ask(local_engine, tools=form.tools, tool_choice="required")
    assert status == 200, answer


@pytest.mark.parametrize("name", [*REPORTED, "mixed"])
async def test_the_form_guides_what_the_model_writes(local_engine, name):
    # This engine answers a schema that it cannot compile without any guidance, so that only the answer tells.
    schema = provider_schema(MIXED if name == "mixed" else REPORTED[name], "llama.cpp")
    guided = {"type": "json_schema", "json_schema": {"name": "arguments", "schema": schema, "strict": True}}
    status, answer = await ask(local_engine, response_format=guided, max_tokens=120)
    assert status == 200, answer
    (choice,) = answer["choices"]
    if choice["finish_reason"] == "stop":
        jsonschema.validate(json.loads(choice["message"]["content"]), schema)
