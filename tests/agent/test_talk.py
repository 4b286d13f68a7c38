"""What a model is to make up itself."""

from __future__ import annotations

import pytest

from naru.agent.selection import index_of
from naru.agent.talk import asks_to_talk
from naru.messages import ToolDefinition

BOATS = [ToolDefinition("boat_price", "Price of a boat.")]
JOKES = [ToolDefinition("random_joke", "Return a joke.")]


@pytest.mark.parametrize(
    "question", ["Tell me a joke.", "Write a short poem about boats.", "농담 하나 해줘", "한 문장 써줘"]
)
def test_made_up_texts_need_no_tool(question: str) -> None:
    assert asks_to_talk(question, index_of(BOATS))


@pytest.mark.parametrize("question", ["Tell me a joke.", "농담 하나 해줘"])
def test_a_tool_that_tells_them_is_used(question: str) -> None:
    assert not asks_to_talk(question, index_of(JOKES))


@pytest.mark.parametrize("question", ["Tell me the price of boat B-1.", "Give me the list of boats", "가격을 알려줘"])
def test_questions_of_data_are_no_talk(question: str) -> None:
    assert not asks_to_talk(question, index_of(BOATS))
