"""Issue 19 lines 4 and 6: a parameter's own description survives, and what a form cannot say is told in words."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from naru.messages import ToolDefinition, ToolResult
from naru.tools.combined import CombinedToolset
from naru.tools.functions.signature import build_tool_schema
from naru.tools.provider_schemas.dialect import DIALECTS
from naru.tools.provider_schemas.forms import provider_form, provider_schema
from naru.tools.provider_schemas.plain_text import plain_text
from naru.tools.toolset import CallContext

PROVIDERS = list(DIALECTS)


class Address(BaseModel):
    """The class's own words."""

    street: str


class Level(enum.Enum):
    """The enum's own words."""

    LOW = "low"
    HIGH = "high"


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]


def tool(
    model: Annotated[Address, Field(description="mine: model")],
    maybe_model: Annotated[Address | None, Field(description="mine: maybe_model")] = None,
    maybe_level: Annotated[Level | None, Field(description="mine: maybe_level")] = None,
    either: Annotated[Cat | Dog | None, Field(description="mine: either")] = None,
    tagged: Annotated[Cat | Dog | None, Field(discriminator="kind", description="mine: tagged")] = None,
    by_docstring: Address | None = None,
    mixed: Annotated[int | str | None, Field(description="mine: mixed")] = None,
) -> None:
    """Do.

    Args:
        by_docstring: mine: by_docstring
    """


FOREIGN = {
    "all_of": {"allOf": [{"$ref": "#/$defs/A"}], "description": "mine: all_of"},
    "any_of": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "description": "mine: any_of"},
    "one_of": {"oneOf": [{"$ref": "#/$defs/A"}], "description": "mine: one_of"},
    "nested": {"allOf": [{"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}], "description": "mine: nested"},
    "reference": {"$ref": "#/$defs/A", "description": "mine: reference"},
    "object": {
        "type": "object",
        "description": "mine: object",
        "anyOf": [{"required": ["x"], "description": "not mine"}, {"required": ["y"], "description": "nor mine"}],
        "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
    },
    "null_first": {
        "oneOf": [{"type": "null"}, {"type": "string", "description": "not mine"}],
        "description": "mine: null_first",
    },
}  # fmt: skip
DEFINITIONS = {"A": {"type": "object", "description": "the definition's", "properties": {"s": {"type": "string"}}}}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_parameters_own_description_survives(provider):
    functions = build_tool_schema(tool)["function"]["parameters"]
    foreign = {"type": "object", "properties": FOREIGN, "$defs": DEFINITIONS}
    for schema in (functions, foreign):
        form = provider_schema(schema, provider)
        for name, part in form["properties"].items():
            assert str(part.get("description", "")).startswith(f"mine: {name}"), (name, part)


def words(schema: dict[str, Any], provider: str) -> str:
    (declaration,) = provider_form([ToolDefinition("t", "Does.", schema)], provider).tools
    found: list[str] = []

    def collect(node: Any) -> None:
        if isinstance(node, list):
            for each in node:
                collect(each)
        elif isinstance(node, dict):
            found.extend(value for key, value in node.items() if key == "description" and isinstance(value, str))
            for value in node.values():
                collect(value)

    collect(declaration)
    return " | ".join(found)


XY = {"x": {"type": "string"}, "y": {"type": "string"}, "z": {"type": "string"}}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"type": "object", "properties": XY, "anyOf": [{"required": ["x"]}, {"required": ["y", "z"]}]},
         "at least one of: x; or y and z"),
        ({"type": "object", "properties": XY, "oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
         "exactly one of: x; or y"),
        ({"type": "object", "oneOf": [
            {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]},
            {"properties": {"kind": {"const": "dog"}, "tricks": {"type": "integer"}}, "required": ["kind", "tricks"]}]},
         'exactly one of: kind = "cat" with lives; or kind = "dog" with tricks'),
    ],
)  # fmt: skip
def test_alternatives_of_required_keys_are_told_at_the_root_and_below(part, told, provider):
    assert told in words(part, provider)
    if provider not in ("openai", "anthropic"):  # whose forms say it below the root as it was said
        assert told in words({"type": "object", "properties": {"where": part}, "required": ["where"]}, provider)
        assert told in words({"type": "object", "properties": {"all": {"type": "array", "items": part}}}, provider)


FOLDED = ["openai-strict", "gemini", "ollama", "llama.cpp"]


@pytest.mark.parametrize("provider", FOLDED)
@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]}, "exactly one of these"),
        ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 3}]}, "exactly one of these"),
        ({"type": "string", "not": {"enum": ["x"]}}, 'not: {"enum": ["x"]}'),
        ({"type": "object", "properties": XY, "dependentRequired": {"x": ["y"]}}, "dependentRequired"),
        ({"type": "string", "not": {"enum": [f"value number {n}" for n in range(40)]}}, "not: "),
    ],
)  # fmt: skip
def test_what_a_form_has_no_word_for_is_told(part, told, provider):
    assert told in words({"type": "object", "properties": {"p": part}, "required": ["p"]}, provider)


@pytest.mark.parametrize("provider", FOLDED)
def test_what_is_not_lost_is_not_told(provider):
    part = {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "own"}
    assert words({"type": "object", "properties": {"p": part}, "required": ["p"]}, provider) == "Does. | own"


@pytest.mark.parametrize("provider", ["gemini", "ollama"])
def test_what_the_values_of_a_map_are_is_told(provider):
    part = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert "each value: integer" in words({"type": "object", "properties": {"counts": part}}, provider)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_renamed_tool_is_told_its_own_name_however_long_its_text(provider):
    for text in ("", "Looks up.", "x" * 9_000):
        (declaration,) = provider_form([ToolDefinition("查询", text)], provider).tools
        inner = declaration.get("function", declaration)
        assert inner["name"].isascii()
        assert inner["description"].endswith("(its own name: 查询)")
        assert len(inner["description"]) <= DIALECTS[provider].longest_description
    (declaration,) = provider_form([ToolDefinition("plain", "Looks up.")], provider).tools
    assert "its own name" not in json.dumps(declaration)


async def test_a_tool_that_is_renamed_beside_others_is_told_its_own_name():
    class Server:
        async def open(self) -> None: ...
        async def close(self) -> None: ...
        async def tools(self) -> list[ToolDefinition]:
            return [ToolDefinition("查询", "Looks up."), ToolDefinition("plain", "Plain.")]

        async def call(self, name: str, arguments: dict, context: CallContext) -> ToolResult:
            return ToolResult.of_text(name)

    combined = CombinedToolset({"s": Server()})
    renamed, plain = sorted(await combined.tools(), key=lambda each: "Plain" in each.description)
    assert renamed.description == "Looks up. (its own name: 查询)"
    assert (plain.name, plain.description) == ("s__plain", "Plain.")
    assert "查询" in plain_text([renamed])
    assert (await combined.call(renamed.name, {}, CallContext())).text == "查询"
