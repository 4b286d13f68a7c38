"""H13: the right tools are found for a question, in English and Korean, and the choice is explained."""

from __future__ import annotations

import pytest

from naru.agent.selection import ToolIndex, index_of, terms
from naru.messages import ToolDefinition

TOOLS = [
    ToolDefinition("search_docs", "Search the company documents (사내 문서, 규정 검색) by words."),
    ToolDefinition("get_employee_info", "Name, department and years of service of one employee (직원 정보)."),
    ToolDefinition("get_all_employees", "List all employees (직원 목록)."),
    ToolDefinition("calculate_vacation_days", "Remaining vacation days of an employee in a year (남은 연차)."),
]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many vacation days are left for EMP003?", "calculate_vacation_days"),
        ("EMP002의 2025년 남은 연차", "calculate_vacation_days"),
        ("직원 목록 보여줘", "get_all_employees"),
        ("find the documents on travel", "search_docs"),
    ],
)
def test_the_fitting_tool_comes_first(question: str, first: str) -> None:
    assert index_of(TOOLS).rank(question)[0].tool.name == first


def test_a_question_that_no_tool_speaks_of_scores_nothing() -> None:
    assert all(ranked.score == 0 for ranked in ToolIndex(TOOLS).rank("tell me a joke"))


def test_the_choice_is_stable() -> None:
    once, twice = (index_of(TOOLS).rank("remaining vacation days") for _ in range(2))
    assert once == twice


def test_no_tools_give_an_empty_choice() -> None:
    assert index_of([]).rank("anything") == []


def test_hangul_is_cut_into_pairs_of_syllables_so_that_particles_do_not_hide_a_noun() -> None:
    assert set(terms("연차를")) & set(terms("남은 연차"))
