"""S-09, S-54: a foreign schema validates calls, and can neither reach out, blow up nor hang."""

from __future__ import annotations

import time
from typing import Any

import pytest

from naru.errors import InvalidArgumentsError
from naru.messages import ToolDefinition
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.provider_schemas.forms import provider_form

SECONDS = 20.0
"""Of CPU, far above what is needed; without a bound these run for minutes."""


def bomb() -> dict:
    """Double with every level: 2 to the 40th nodes once references are resolved."""
    levels = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    return {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "$defs": {**levels, "d40": {"type": "string"}},
    }


def deep() -> dict:
    schema: dict = {"type": "string"}
    for _ in range(300):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


HOSTILE = {
    "bomb": bomb(),
    "deep": deep(),
    "wide": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}},
    "network": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema"}}},
    "file": {"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}},
    "slow pattern": {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}},
    "broken pattern": {"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}},
    "wrong type": {"type": "object", "properties": {"x": {"type": "thing"}}},
    "php": {"type": "object", "properties": [], "required": {}},
    "circle": {"$ref": "#"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_bounded_and_never_raises_anything_else(name):
    started = time.process_time()
    validator = ArgumentsValidator(HOSTILE[name])
    told = ""
    try:
        validator.validate({"x": "a" * 40 + "!"})
    except InvalidArgumentsError as error:
        told = str(error)
    assert len(told) < 2_500
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("provider", ["openai", "openai-strict", "gemini", "llama.cpp"])
def test_a_hostile_schema_does_not_cost_the_other_tools(name, provider):
    started = time.process_time()
    good = ToolDefinition("good", "", {"type": "object", "properties": {"x": {"type": "string"}}})
    form = provider_form([ToolDefinition("bad", "", HOSTILE[name]), good], provider)
    assert "good" in form.names.values()
    assert time.process_time() - started < SECONDS


def test_the_message_names_each_field():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "object", "required": ["c"]}},
        "required": ["d"],
    }
    with pytest.raises(InvalidArgumentsError) as raised:
        ArgumentsValidator(schema).validate({"a": "x", "b": {}}, tool="t")
    for told in ("tool 't' was not run", "a: ", "b: ", '"d"'):
        assert told in str(raised.value)


def test_arguments_that_are_no_object_are_refused():
    with pytest.raises(InvalidArgumentsError, match="an object, not list"):
        ArgumentsValidator({}).validate([])


@pytest.mark.parametrize("depth", [None, 900], ids=["half a character", "nested"])
def test_arguments_that_cannot_be_read_are_refused_in_words(depth: int | None) -> None:
    nested: Any = 1
    for _ in range(depth or 0):
        nested = [nested]
    checks = ArgumentsValidator({"type": "object", "properties": {"a": {"type": "integer"}}})
    with pytest.raises(InvalidArgumentsError, match="'save' was not run, its arguments cannot be read"):
        checks.validate({"a": nested} if depth else {"\ud800": 1}, tool="save")
