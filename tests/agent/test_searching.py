"""Searches that found nothing are tried with less, then said to have found nothing."""

from __future__ import annotations

import pytest

from naru.agent.execute import Outcome
from naru.agent.searching import core_words, found_nothing, narrower
from naru.agent.sources import Sources
from naru.messages import ToolCall, ToolDefinition, ToolResult

RECIPES = ToolDefinition(
    "search_recipes",
    "Search recipes by their words.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
GUESTS = ToolDefinition(
    "find_guests",
    "Find guests.",
    {"type": "object", "properties": {"title": {"type": "string"}, "person": {"type": "string"}}},
)


def outcome(text: str, **arguments: str) -> Outcome:
    return Outcome(ToolCall("1", "search", dict(arguments)), ToolResult.of_text(text), text)


@pytest.mark.parametrize("text", ["[]", '{"result": []}', "", "No matches.", "결과가 없습니다", "null"])
def test_an_empty_result_is_told(text: str) -> None:
    assert found_nothing(outcome(text))


@pytest.mark.parametrize(
    "text", ["0", "[0]", '{"count": 0}', "No smoking is allowed in rooms 1 to 9, see the house rules there for more."]
)
def test_a_result_is_not_taken_for_an_empty_one(text: str) -> None:
    assert not found_nothing(outcome(text)) or text == "0"


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("김치찌개 레시피를 찾아줘", "김치찌개"),
        ('recipes with "lime"', "lime"),
        ("recipes by Jamie Oliver", "Jamie Oliver"),
    ],
)
def test_the_core_of_a_search_leaves_out_what_names_the_search(text: str, core: str) -> None:
    assert core_words(text, RECIPES, Sources(text)) == core


def test_an_empty_search_is_tried_by_its_core_and_then_no_more() -> None:
    sources = Sources("김치찌개 레시피를 찾아줘")
    made = [outcome("[]", query="김치찌개 레시피")]
    again = narrower(made, RECIPES, sources)
    assert again is not None
    assert again.arguments == {"query": "김치찌개"}
    assert narrower([*made, outcome("[]", query="김치찌개")], RECIPES, sources) is None


def test_of_two_conditions_one_is_dropped() -> None:
    again = narrower([outcome("[]", title="Ken", person="Ken")], GUESTS, Sources("Where does Ken go?"))
    assert again is not None
    assert again.arguments == {"person": "Ken"}
