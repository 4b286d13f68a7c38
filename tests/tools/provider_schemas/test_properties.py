"""Property: each provider takes the form of any schema, by its own rules, never narrower or untold (S6)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.tools.provider_rules import breaches
from tests.tools.provider_values import takes, untold
from tests.tools.random_schemas import sample

from naru.messages import ToolDefinition
from naru.tools.provider_schemas.dialect import DIALECTS
from naru.tools.provider_schemas.forms import provider_form
from naru.tools.provider_schemas.plain_text import plain_text

pytestmark = pytest.mark.slow

SCHEMAS = 150
"""`bench/tools_schemas.py` tries 5,000."""


@cache
def schemas() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    return sample(SCHEMAS)


@pytest.mark.parametrize("provider", DIALECTS)
def test_every_form_is_taken_not_narrower_and_tells_what_it_lost(provider):
    """Issue 19, acceptance: random schemas through each form."""
    for schema, values in schemas():
        form = provider_form([ToolDefinition("tool", "Does.", schema)], provider)
        if form.set_aside:
            assert "takes no parameter called" in form.set_aside["tool"]
            continue
        (tool,) = form.tools
        assert breaches(provider, tool) == [], (schema, tool)
        for value in values:
            assert takes(provider, tool, value), (schema, tool, value)
        assert list(untold(provider, tool, schema, values[0])) == [], (schema, tool)


@pytest.mark.parametrize("provider", ["openai-strict", "llama.cpp"])
def test_whole_numbers_stay_on_their_side_of_a_broken_bound(provider):
    part = {"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 2.5}
    schema = {"type": "object", "properties": {"n": part}, "required": ["n"]}
    (tool,) = provider_form([ToolDefinition("tool", "Does.", schema)], provider).tools
    assert [number for number in range(-1, 5) if takes(provider, tool, {"n": number})] == [1, 2]


@pytest.mark.parametrize("provider", ["gemini", "ollama"])
def test_a_form_without_lists_of_types_keeps_each_types_choices_and_null(provider):
    parts = {"mixed": {"enum": ["a", 1, None]}, "any": {}, "odd": {"type": ["string", "integer"], "enum": [True]}}
    schema = {"type": "object", "properties": parts}
    (tool,) = provider_form([ToolDefinition("tool", "Does.", schema)], provider).tools
    assert breaches(provider, tool) == []
    assert takes(provider, tool, {"mixed": 1, "any": None})
    assert takes(provider, tool, {"mixed": None, "any": [1]})
    assert list(untold(provider, tool, {"type": "object", "properties": {"mixed": parts["mixed"]}}, {})) == []


@pytest.mark.parametrize("choice", [{"const": 3}, {"enum": ["a", 1]}, {"enum": [None, "a"]}])
def test_the_strict_form_has_a_type_everywhere(choice):
    schema = {"type": "object", "properties": {"c": choice}, "required": ["c"]}
    (tool,) = provider_form([ToolDefinition("tool", "Does.", schema)], "openai-strict").tools
    assert tool["function"]["strict"]
    assert breaches("openai-strict", tool) == []


def test_more_choices_than_the_strict_form_takes_are_sent_without_it():
    choices = [f"{'long' * 20}{number}" for number in range(300)]
    schema = {"type": "object", "properties": {"c": {"type": "string", "enum": choices}}, "required": ["c"]}
    (tool,) = provider_form([ToolDefinition("tool", "Does.", schema)], "openai-strict").tools
    assert tool["function"]["strict"] is False


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
    assert [breaches(provider, tool) for tool in form.tools] == [[] for _ in form.tools]
    if provider == "openai":
        plain_text([ToolDefinition("bad", "", junk), good])
