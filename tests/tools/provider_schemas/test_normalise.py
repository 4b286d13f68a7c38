"""Older drafts' and short forms, which no provider takes as written, mean the same in every form (LESSONS 9, 12)."""

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
