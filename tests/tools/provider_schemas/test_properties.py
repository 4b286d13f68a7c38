"""Property: each provider takes the form of any schema, by its own validator, and the form is never narrower."""

from __future__ import annotations

from typing import Any

import jsonschema
import llguidance
import orjson
import pytest
import xllamacpp
from google.genai import types as genai
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st
from tests.tools.random_schemas import objects

from naru.messages import ToolDefinition
from naru.tools.provider_schemas.forms import provider_form, provider_schema
from naru.tools.provider_schemas.plain_text import plain_text

ROUNDS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
STRICT_KEYWORDS = frozenset(
    "type description title items enum const properties required additionalProperties anyOf minItems maxItems minimum "
    "maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format minLength maxLength".split()
)


def fits(schema: dict[str, Any], value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@ROUNDS
@given(data=st.data(), example=objects())
def test_the_openai_form_is_valid_and_not_narrower(data, example):
    form = provider_schema(example.schema, "openai")
    jsonschema.Draft202012Validator.check_schema(form)
    assert form["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "enum", "not"} & form.keys()
    assert_arrays_have_items(form)
    value = data.draw(example.values)
    assert fits(example.schema, value)
    assert fits(form, value)


@ROUNDS
@given(data=st.data(), example=objects())
def test_the_strict_form_keeps_openais_rules_and_is_not_narrower(data, example):
    (tool,) = provider_form([ToolDefinition("t", "", example.schema)], "openai-strict").tools
    form = tool["function"]["parameters"]
    if not tool["function"]["strict"]:
        assert form == provider_schema(example.schema, "openai")
        return
    assert_strict(form)
    value = data.draw(example.values)
    note(f"{example.schema} -> {form}")
    assert fits(form, spelled_out(form, value))


@ROUNDS
@given(data=st.data(), example=objects())
def test_the_gemini_form_is_googles_schema_and_not_narrower(data, example):
    form = provider_schema(example.schema, "gemini")
    declared = genai.Schema.model_validate(form)
    genai.FunctionDeclaration(name="t", description="d", parameters=declared)
    assert_gemini(form)
    value = data.draw(example.values)
    note(f"{example.schema} -> {form}")
    assert fits(as_json_schema(form), value)


@ROUNDS
@given(data=st.data(), example=objects())
def test_the_grammar_form_compiles_and_is_not_narrower(data, example):
    form = provider_schema(example.schema, "llama.cpp")
    note(f"{example.schema} -> {form}")
    assert xllamacpp.json_schema_to_grammar(form)
    grammar = llguidance.LLMatcher.grammar_from_json_schema(orjson.dumps(form).decode())
    assert not llguidance.LLMatcher.validate_grammar(grammar)
    value = data.draw(example.values)
    assert fits(form, value)


@pytest.mark.parametrize("provider", ["anthropic", "ollama"])
@ROUNDS
@given(data=st.data(), example=objects())
def test_other_forms_are_valid_json_schema_and_not_narrower(provider, data, example):
    form = provider_schema(example.schema, provider)
    jsonschema.Draft202012Validator.check_schema(form)
    assert form["type"] == "object"
    value = data.draw(example.values)
    note(f"{example.schema} -> {form}")
    if provider == "anthropic":  # ollama's form only tells the model; it has no word for null
        assert fits(form, value)


KEYWORDS = (
    "type properties items $ref $defs anyOf allOf oneOf enum const required not pattern format minimum maxItems "
    "minLength prefixItems additionalProperties description nullable exclusiveMinimum default".split()
)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["object", "array", "#/x", "["]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS) | st.text(max_size=2), inner, max_size=4)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("provider", ["openai", "openai-strict", "anthropic", "gemini", "ollama", "llama.cpp"])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(junk=st.dictionaries(st.sampled_from(["type", "properties", "anyOf", "$ref", "items"]), any_json))
@example(junk={"type": [["object"]]})
def test_no_schema_however_broken_costs_the_other_tools(provider, junk):
    good = ToolDefinition("good", "", {"type": "object", "properties": {"x": {"type": "string"}}})
    form = provider_form([ToolDefinition("bad", "", junk), good], provider)
    assert "good" in form.names.values()
    assert len(form.tools) + len(form.set_aside) == 2
    if provider == "gemini":
        assert_gemini(provider_schema(junk, provider))
    if provider == "openai":
        plain_text([ToolDefinition("bad", "", junk), good])


def parts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all subschemas of a provider's form."""
    found = [
        schema,
        *(schema.get("properties") or {}).values(),
        *schema.get("anyOf", []),
        *schema.get("prefixItems", []),
    ]
    found += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    found += [*schema.get("oneOf", []), *schema.get("allOf", [])]
    return [found[0], *(part for child in found[1:] for part in parts(child))]


def assert_arrays_have_items(form: dict[str, Any]) -> None:
    for part in parts(form):
        if part.get("type") == "array" or (isinstance(part.get("type"), list) and "array" in part["type"]):
            assert "items" in part


def assert_strict(form: dict[str, Any]) -> None:
    for part in parts(form):
        assert part.keys() <= STRICT_KEYWORDS
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert_arrays_have_items(form)


BELONGS = {
    **dict.fromkeys(("properties", "required", "minProperties", "maxProperties"), ("OBJECT",)),
    **dict.fromkeys(("items", "minItems", "maxItems"), ("ARRAY",)),
    **dict.fromkeys(("pattern", "minLength", "maxLength"), ("STRING",)),
    **dict.fromkeys(("minimum", "maximum"), ("INTEGER", "NUMBER")),
}
"""Google refuses these beside any other type ("only allowed for OBJECT type")."""


def assert_gemini(form: dict[str, Any]) -> None:
    for part in parts(form):
        assert isinstance(part.get("type", "STRING"), str)
        assert part.get("type", "STRING").isupper()
        assert "type" in part or "anyOf" in part
        if "enum" in part:
            assert part["type"] == "STRING"
            assert all(isinstance(choice, str) and choice for choice in part["enum"])
        assert not {"const", "oneOf", "allOf", "$ref", "exclusiveMinimum", "additionalProperties"} & part.keys()
        assert not ("type" in part and "anyOf" in part)
        assert not {key for key, kinds in BELONGS.items() if part.get("type") not in kinds} & part.keys()
        assert part.get("required", ["some"])
        assert set(part.get("required", [])) <= part.get("properties", {}).keys()
        assert part is form or part.get("properties", ["some"])
    assert_arrays_have_items({**form, "type": "object"})


def as_json_schema(form: dict[str, Any]) -> dict[str, Any]:
    """Read Google's schema as JSON Schema."""
    plain = {key: value for key, value in form.items() if key not in ("nullable", "default", "format")}
    if isinstance(plain.get("type"), str):
        plain["type"] = plain["type"].lower()
    if "properties" in plain:
        plain["properties"] = {name: as_json_schema(part) for name, part in plain["properties"].items()}
    if "anyOf" in plain:
        plain["anyOf"] = [as_json_schema(part) for part in plain["anyOf"]]
    if "items" in plain:
        plain["items"] = as_json_schema(plain["items"])
    return {"anyOf": [plain, {"type": "null"}]} if form.get("nullable") else plain


def spelled_out(form: dict[str, Any], value: Any) -> Any:
    """Write null for what a model of the strict form may leave out only so."""
    if isinstance(value, dict):
        for part in [form, *form.get("anyOf", [])]:
            if "properties" in part and value.keys() <= part["properties"].keys():
                full = {
                    name: spelled_out(inner, value[name]) if name in value else None
                    for name, inner in part["properties"].items()
                }
                if fits({key: part[key] for key in part if key != "description"}, full):
                    return full
    if isinstance(value, list):
        for part in [form, *form.get("anyOf", [])]:
            if isinstance(part.get("items"), dict):
                return [spelled_out(part["items"], item) for item in value]
    return value
