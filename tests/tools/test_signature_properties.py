"""Property: for any signature, the schema is valid, a value of it validates, survives the call and comes back equal."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.tools.random_types import Typed, typed

from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.provider_schemas.forms import provider_form
from naru.tools.results import to_value
from naru.tools.serialise import to_jsonable
from naru.tools.toolset import CallContext


def echo_of(parameters: dict[str, Typed], seen: dict[str, Any]) -> Any:
    """Make a function of these parameters that keeps and returns what it got."""
    namespace: dict[str, Any] = {"seen": seen}
    names = ", ".join(parameters)
    pairs = ", ".join(f"{name!r}: {name}" for name in parameters)
    exec(f"def echo({names}):\n    seen.update({{{pairs}}})\n    return {{{pairs}}}", namespace)
    function = namespace["echo"]
    function.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    return function


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), members=st.lists(typed(), min_size=1, max_size=3))
@pytest.mark.slow
async def test_any_signature_takes_what_its_schema_says_and_gives_it_back(data, members):
    parameters = {f"p{index}": member for index, member in enumerate(members)}
    values = {name: data.draw(member.values) for name, member in parameters.items()}
    seen: dict[str, Any] = {}
    function = echo_of(parameters, seen)
    schema = build_tool_schema(function)["function"]["parameters"]
    note(str(schema))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(parameters)

    sent = {name: to_jsonable(value) for name, value in values.items()}
    jsonschema.Draft202012Validator(schema).validate(sent)
    result = await FunctionToolset([function]).call("echo", sent, CallContext())
    assert not result.is_error, result.text
    assert seen == values
    assert to_value(result) == sent


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "openai-strict", "anthropic", "gemini", "ollama", "llama.cpp"])
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(members=st.lists(typed(3), min_size=1, max_size=2))
async def test_any_signature_can_be_offered_to_every_provider(provider, members):
    function = echo_of({f"p{index}": member for index, member in enumerate(members)}, {})
    form = provider_form(await FunctionToolset([function]).tools(), provider)
    assert form.set_aside == {}
    assert len(form.tools) == 1
