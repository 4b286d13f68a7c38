"""Older drafts' and short forms, which no provider takes as written, mean the same in every form."""

from __future__ import annotations

from typing import Any

import pytest

from naru.tools.provider_schemas.forms import provider_schema

PROVIDERS = ["openai", "openai-strict", "anthropic", "gemini", "ollama", "llama.cpp"]


def form(provider: str, **properties: Any) -> dict[str, Any]:
    return provider_schema({"type": "object", "properties": properties}, provider)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_array_of_anything_or_of_nothing_has_a_schema_for_its_items(provider: str) -> None:
    found = form(provider, anything={"type": "array", "items": True}, nothing={"type": "array", "items": False})
    assert all(isinstance(part["items"], dict) for part in found["properties"].values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_property_that_says_it_is_required_is_required(provider: str) -> None:
    found = form(provider, path={"type": "string", "required": True}, mode={"type": "integer", "required": False})
    assert "path" in found["required"]
    assert found["properties"]["path"]["type"] in ("string", "STRING")


@pytest.mark.parametrize("provider", ["gemini", "ollama", "llama.cpp"])
def test_a_keyword_stands_beside_no_type_that_it_says_nothing_of(provider: str) -> None:
    stray = {"items": {"type": "string"}, "properties": {"x": {"type": "string"}}, "required": ["x"]}
    part = form(provider, name={"type": "string", **stray}, free={"type": "object"})["properties"]["name"]
    assert part == {"type": part["type"]}


def test_what_stands_beside_a_union_goes_into_its_branches() -> None:
    row = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    nullable = form("gemini", row={**row, "type": ["object", "null"]})["properties"]["row"]
    assert (nullable["type"], nullable["nullable"], nullable["required"]) == ("OBJECT", True, ["x"])
    either = {"anyOf": [{"type": "object"}, {"type": "string"}], "properties": row["properties"], "required": ["x"]}
    part = form("gemini", row=either)["properties"]["row"]
    assert part == {
        "anyOf": [
            {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}, "required": ["x"]},
            {"type": "STRING"},
        ]
    }


def test_gemini_is_sent_no_empty_inner_object_and_no_name_that_is_not_there() -> None:
    part = form("gemini", free={"type": "object", "properties": {}, "required": ["gone"]})["properties"]["free"]
    assert part == {"type": "OBJECT"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_bounds_that_bound_nothing_and_choices_said_twice_are_left_out(provider: str) -> None:
    found = form(
        provider,
        text={"type": "string", "minLength": -1, "maxLength": "9", "pattern": 5, "format": None, "description": None},
        number={"type": "number", "minimum": True, "multipleOf": 0, "maximum": "none"},
        choice={"type": "string", "enum": ["a", "b", "a"]},
    )["properties"]
    assert not {"minLength", "pattern", "format"} & found["text"].keys()
    assert "None" not in found["text"].get("description", "")
    assert not {"minimum", "multipleOf", "maximum"} & found["number"].keys()
    assert found["choice"]["enum"][:2] == ["a", "b"]
    assert found["choice"]["enum"].count("a") == 1
