"""Which values of a question a parameter could take."""

from __future__ import annotations

import pytest

from naru.agent.small.parameters import Parameter, known_values, parameters
from naru.agent.small.shown import shown
from naru.agent.small.sources import Sources
from naru.messages import ToolDefinition


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Show machine 12.", [12]),
        ("Show machine 12 of hall 7a.", [12]),
        ("Show machine " + "9" * 19 + ".", [10**19 - 1]),
        ("Show machine " + "9" * 5000 + ".", []),
    ],
    ids=["one", "beside a name", "long", "beyond all ids"],
)
def test_a_whole_number_could_be_an_id(question: str, values: list[int]) -> None:
    machine = Parameter("machine", {"type": "integer"}, required=True)
    assert list(known_values(machine, Sources(question), {"machine"})) == values


@pytest.mark.parametrize(
    "size",
    [
        {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}], "default": None},
        {"allOf": [{"$ref": "#/$defs/Size"}]},
        {"$ref": "#/$defs/Size"},
    ],
    ids=["may be left out", "described", "alone"],
)
def test_a_list_that_the_schema_only_refers_to_is_a_choice_and_is_shown(size: dict) -> None:
    sizes = {"Size": {"type": "string", "enum": ["small", "large"]}}
    schema = {"type": "object", "properties": {"size": {**size, "description": "How big."}}, "$defs": sizes}
    tool = ToolDefinition("rates", "What a day costs.", schema)
    (one,) = parameters(tool)
    assert one.is_choice
    told = shown(tool).input_schema["properties"]["size"]
    assert (told["enum"], told["description"]) == (["small", "large"], "How big.")
