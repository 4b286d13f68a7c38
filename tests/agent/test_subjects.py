"""What a question is about, told from the words that no tool speaks of."""

from __future__ import annotations

import pytest

from naru.agent.selection import index_of
from naru.agent.sources import Sources
from naru.messages import ToolDefinition

TOOLS = [
    ToolDefinition("find_boat", "Find boats by name.", {"type": "object", "properties": {"name": {"type": "string"}}}),
    ToolDefinition("boat_price", "Price of a boat, in won.", {"type": "object", "properties": {}}),
]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is the price of the morning star?", ["morning star"]),
        ("How much does boat B-12 cost?", []),
        ("Which boats does Omar Lee's company have?", ["Omar Lee", "company"]),
        ("노란 물고기의 가격은 얼마예요?", ["노란 물고기"]),
        ("박지훈 회원이 빌린 책은?", ["박지훈"]),
        ("서울과 부산 중 어디가 더 추워?", ["서울", "부산"]),
        ("첫 회의(Budget review)는 언제 끝나?", ["Budget review"]),
        ("담당자가 pavel인 것은?", ["pavel"]),
        ("안녕하세요!", []),
    ],
)
def test_a_question_is_about_what_no_tool_and_no_grammar_explains(question: str, about: list[str]) -> None:
    assert index_of(TOOLS).subjects(question) == about


def test_of_many_ids_the_one_in_the_row_of_the_subject_is_meant() -> None:
    rows = '[{"id": "B-1", "name": "Morning Star"}, {"id": "B-2", "name": "Gull"}, {"id": "B-3", "name": "Tern"}]'
    sources = Sources("What does the morning star cost?", [rows], subjects=["morning star"])
    assert sources.singled_out(sources.ids()) == ["B-1"]
    other = Sources("What does the ferry cost?", [rows], subjects=["ferry"])
    assert other.singled_out(other.ids()) == ["B-1", "B-2", "B-3"]
