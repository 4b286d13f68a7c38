"""Every report of area b (provider schemas), by id."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from tests.tools.reports import Reports

from naru.errors import InvalidArgumentsError
from naru.messages import ChatRequest, Message, ToolDefinition
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.gemini import GeminiBackend
from naru.models.wires.openai_wire import request_body
from naru.tools.arguments.fit import fit
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.combined import CombinedToolset
from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.names import NameMap, ToolId, exposed_name
from naru.tools.provider_schemas.forms import provider_form, provider_schema
from naru.tools.provider_schemas.plain_text import plain_text
from naru.tools.toolset import CallContext

REPORTS = Reports("b")
CALL = CallContext()


@pytest.mark.parametrize("case_id", REPORTS.cases)
async def test_report(case_id: str) -> None:
    outcome = REPORTS.checks[case_id](REPORTS.cases[case_id]["input"])
    if inspect.isawaitable(outcome):
        await outcome


def gemini(given: dict[str, Any]) -> dict[str, Any]:
    """The Gemini form's properties, proved by Google's own types."""
    from google.genai import types as genai  # a second of CPU, which only the worker that comes here need spend

    schema = provider_schema(given["schema"], "gemini")
    genai.Schema.model_validate(schema)
    return schema["properties"]


def nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [node for item in schema for node in nodes(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(node for value in schema.values() for node in nodes(value))]


@REPORTS.check("b02")
def _(given):
    found = gemini(given)
    assert found["limit"] == {"type": "INTEGER", "nullable": True}
    assert found["v"] == {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}
    assert not any(isinstance(node.get("type"), list) for node in nodes(found))


@REPORTS.check("b05")
def _(given):
    found = gemini(given)
    assert found["note"] == {"type": "STRING", "nullable": True}
    assert found["name"] == {"type": "STRING", "nullable": True, "description": "n"}


@REPORTS.check("b07")
async def _(given):
    form = provider_form([ToolDefinition("now", "The time", given["schema"])], "gemini")
    assert form.tools == [{"name": "now", "description": "The time"}]

    def now() -> str:
        return "noon"

    for arguments in ({}, {"unknown": 1}):
        assert (await FunctionToolset([now]).call("now", arguments, CALL)).text == "noon"


@REPORTS.check("b08")
def _(given):
    asked = ChatRequest("m", [Message("user", "hi")], tools=given["tools"])
    _, config = GeminiBackend(Endpoint("http://127.0.0.1:9")).arguments(asked)
    for sent in (config, request_body(asked, Profile(), model="m")):
        assert not {"tools", "tool_config", "tool_choice"} & set(sent)


@REPORTS.check("b09")
def _(given):
    form = provider_form([ToolDefinition("t", "", given["schema"])], "openai-strict")
    function = form.tools[0]["function"]
    assert function["strict"] is True
    for node in nodes(function["parameters"]):
        if "properties" in node:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert function["parameters"]["properties"]["owner"] == {"type": "string"}
    assert function["parameters"]["properties"]["opts"]["type"] == ["object", "null"]

    open_schema = {"type": "object", "properties": {"free": {"type": "object"}}}
    loose = provider_form([ToolDefinition("t", "", open_schema)], "openai-strict").tools[0]["function"]
    assert loose["strict"] is False
    assert loose["parameters"] == open_schema


@REPORTS.check("b11")
def _(given):
    assert provider_schema(given["schema"], "openai") == {"type": "object", "properties": {}}


@REPORTS.check("b13")
async def _(given):
    def get_weather(location: str = "") -> str:
        return f"weather at {location!r}"

    schema = build_tool_schema(get_weather)["function"]["parameters"]
    strict = provider_schema(schema, "openai-strict")
    assert "default" not in json.dumps(strict["properties"]["location"]["type"])
    assert all("default" not in node for node in nodes(strict))
    assert strict["required"] == ["location"]
    assert strict["properties"]["location"]["type"] == ["string", "null"]
    result = await FunctionToolset([get_weather]).call("get_weather", {"location": None}, CALL)
    assert result.text == "weather at ''"


@REPORTS.check("b14")
def _(given):
    openai = provider_schema(given["schema"], "openai")
    assert openai["properties"] == {
        "texts": {"type": "array", "description": "words", "items": {}},
        "m": {"type": "array", "items": {"type": "array", "items": {}}},
    }
    assert openai["required"] == ["texts"]
    told = {"type": "STRING", "description": "any value"}
    assert gemini(given) == {
        "texts": {"type": "ARRAY", "description": "words", "items": told},
        "m": {"type": "ARRAY", "items": {"type": "ARRAY", "items": told}},
    }


@REPORTS.check("b16")
def _(given):
    assert provider_schema(given["schema"], "openai") == given["schema"]
    text = plain_text([ToolDefinition("t", "", given["schema"])])
    for told in ('"bug", "doc"', "1 to 5", "x (number, required)", "labels (list of", "when (date, optional)"):
        assert told in text


@REPORTS.check("b18")
async def _(given):
    def tool(name):
        def function() -> str:
            return name

        return function

    names = given["tool_names"]
    registered = FunctionToolset([])
    for name in names:
        registered.add(tool(name), name=name)
    form = provider_form(await registered.tools(), "gemini")
    sent = [declaration["name"] for declaration in form.tools]
    assert len(set(sent)) == 3
    for name, wanted in zip(sent, names, strict=True):
        assert (await registered.call(form.names[name], {}, CALL)).text == wanted
    combined = CombinedToolset({"": registered})
    for definition, wanted in zip(await combined.tools(), names, strict=True):
        assert (await combined.call(definition.name, {}, CALL)).text == wanted


@REPORTS.check("b19")
def _(given):
    names = [exposed_name(given["server"], tool) for tool in given["tools"]]
    assert len(set(names)) == 2
    assert all(len(name) <= 63 for name in names)
    assert [exposed_name(given["server"], tool) for tool in given["tools"]] == names
    kept = NameMap()
    for tool, name in zip(given["tools"], names, strict=True):
        assert kept.tool(kept.add(given["server"], tool)) == ToolId(given["server"], tool)
        assert kept.name(ToolId(given["server"], tool)) == name


@REPORTS.check("b21")
async def _(given):
    def toolset(server):
        def query() -> str:
            return server

        return FunctionToolset([query])

    both = CombinedToolset({server: toolset(server) for server in given["servers"]})
    assert {tool.name for tool in await both.tools()} == {"staging__query", "prod__query"}
    for server in given["servers"]:
        assert (await both.call(f"{server}__query", {}, CALL)).text == server
    alone = CombinedToolset({"prod": toolset("prod")})
    assert [tool.name for tool in await alone.tools()] == ["prod__query"]


@REPORTS.check("b23")
def _(given):
    for target in given["target"]:
        found = provider_schema(given["schema"], target)
        assert "$ref" not in json.dumps(found)
        items = found["properties"]["nodes"]["items"]["properties"]
        assert items["value"]["type"].lower() == "string"
        assert items["children"]["type"].lower() == "array"
        assert items["children"]["items"]["type"].lower() == "object"
    nested = {"nodes": [{"value": "a", "children": [{"value": "b", "children": [{"value": "c"}]}]}]}
    assert ArgumentsValidator(given["schema"]).validate(nested) == nested


@REPORTS.check("b25")
def _(given):
    found = gemini(given)["opt"]
    assert (found["type"], found["enum"], found["description"]) == ("STRING", ["a", "b"], "the choice")


@REPORTS.check("b26")
def _(given):
    found = gemini(given)
    assert found["max_count"].items() >= {"type": "INTEGER", "nullable": True, "minimum": 1}.items()
    assert found["w"]["minimum"] == 0
    assert "more than 0" in found["w"]["description"]
    assert not any({"exclusiveMinimum", "multipleOf", "uniqueItems"} & node.keys() for node in nodes(found))
    with pytest.raises(InvalidArgumentsError, match="max_count"):
        ArgumentsValidator(given["schema"]).validate({"max_count": 0})


@REPORTS.check("b28")
def _(given):
    found = gemini(given)
    assert found["tag"] == {"type": "STRING", "enum": ["circle"]}
    assert found["v"]["type"] == "INTEGER"
    assert "3" in found["v"]["description"]
    assert "enum" not in found["v"]


@REPORTS.check("b29")
def _(given):
    found = provider_schema(given["schema"], "llama.cpp")["properties"]
    assert found["width"] == {"type": "number"}
    for name in ("any", "m"):
        assert "string" in found[name]["type"]
    assert found["any"]["description"] == "free value"


@REPORTS.check("b31")
def _(given):
    other = ToolDefinition(
        "other", "", {"type": "object", "properties": {"x": {"type": "string", "pattern": "^[a-z]+$"}}}
    )
    form = provider_form([ToolDefinition("mail", "", given["schema"]), other], "llama.cpp")
    items = form.tools[0]["function"]["parameters"]["properties"]["to"]["items"]
    assert "pattern" not in items
    assert items["type"] == "string"
    assert "format email" in items["description"]
    assert form.tools[1]["function"]["parameters"] == other.input_schema


@REPORTS.check("b33")
def _(given):
    found = provider_schema(given["schema"], "llama.cpp")["properties"]["opts"]["properties"]
    assert "maxLength" not in found["prompt"]
    assert "maxItems" not in found["tags"]
    with pytest.raises(InvalidArgumentsError, match=r"opts\.prompt"):
        ArgumentsValidator(given["schema"]).validate({"opts": {"prompt": "x" * 10_001}})


@REPORTS.check("b34")
def _(given):
    form = provider_form(
        [ToolDefinition(tool["name"], "", tool["inputSchema"]) for tool in given["tools"]], given["target"]
    )
    now, f = (tool["function"]["parameters"] for tool in form.tools)
    assert now["properties"] == {}
    assert f["properties"]["a"]["type"] == "string"
    for tool in given["tools"]:
        assert ArgumentsValidator(tool["inputSchema"]).validate({}) == {}
    assert fit(given["tools"][1]["inputSchema"], {"a": None}) == {"a": None}
