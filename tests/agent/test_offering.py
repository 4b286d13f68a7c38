"""Which tools are shown for a question, and how clearly it speaks for them."""

from __future__ import annotations

from typing import Any

import pytest

from naru.agent.execute import Outcome
from naru.agent.offering import Offering
from naru.agent.sources import Sources
from naru.messages import ToolCall, ToolDefinition, ToolResult


def tool(called: str, says: str, required: str = "", **properties: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(called, says, {"type": "object", "properties": properties, "required": required.split()})


TEXT = {"type": "string"}
FLAT = {"type": "string", "description": "Flat, F- and digits", "pattern": "^F-"}
HOUSE = [
    tool("find_tenant", "Find tenants by name; gives their flat.", "name", name=TEXT),
    tool("rent_of", "Monthly rent and its payments.", "flat", flat=FLAT),
    tool("evict", "Cancel the contract of a flat.", "flat", flat=FLAT),
    tool("repairs_on", "Repairs that are planned.", "day", day={"type": "string", "format": "date"}),
    tool("caretaker", "관리인의 연락처를 알려줍니다."),
]


def offering(question: str) -> Offering:
    return Offering(question, HOUSE, Sources(question))


def names(found: Offering) -> list[str]:
    return [one.tool.name for one in found.now()]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How high is the rent of F-12?", "rent_of"),
        ("What is planned on 3 May 2026?", "repairs_on"),
        ("관리인 연락처가 뭐야?", "caretaker"),
        ("What does Lena Hoffmann pay as rent?", "find_tenant"),
    ],
    ids=["an id of its shape", "a day", "Korean description", "the tool that gives the id comes first"],
)
def test_the_first_tool_is_the_one_that_the_questions_values_fill(question: str, first: str) -> None:
    assert names(offering(question))[0] == first


def test_nothing_is_offered_for_small_talk() -> None:
    assert names(offering("Tell me a joke.")) == []
    assert not offering("Tell me a joke.").speaks_clearly()


def test_a_tool_that_changes_something_is_offered_to_one_who_asks_for_it() -> None:
    assert "evict" not in names(offering("What is the contract of flat F-12?"))
    assert "evict" in names(offering("Cancel the contract of flat F-12."))


def test_a_found_id_leads_to_the_tool_that_takes_it() -> None:
    question = "What does Lena Hoffmann pay as rent?"
    sources = Sources(question)
    found = Offering(question, HOUSE, sources)
    text = '{"name": "Lena Hoffmann", "flat": "F-12"}'
    sources.add(text)
    made = Outcome(ToolCall("1", "find_tenant", {"name": "Lena Hoffmann"}), ToolResult.of_text(text), text)
    found.note("find_tenant", made, nothing=False)
    assert names(found) == ["rent_of"]


def test_nothing_more_is_offered_once_all_is_told() -> None:
    question = "How high is the rent of F-12?"
    found = offering(question)
    text = '{"rent": 900}'
    found.note(
        "rent_of", Outcome(ToolCall("1", "rent_of", {"flat": "F-12"}), ToolResult.of_text(text), text), nothing=False
    )
    assert names(found) == []


def test_of_a_long_list_no_id_is_followed() -> None:
    question = "List all tenants and the rent"
    sources = Sources(question)
    found = Offering(question, HOUSE, sources)
    text = "\n".join(f'{{"flat": "F-{number}"}}' for number in range(10, 20))
    sources.add(text)
    made = Outcome(ToolCall("1", "find_tenant", {"name": "a"}), ToolResult.of_text(text), text)
    found.note("find_tenant", made, nothing=False)
    assert "evict" not in names(found)


@pytest.mark.parametrize(
    "question",
    ["How are you today?", "What day comes after Monday?", "Count from 1 to 5", "오늘 뭐 먹을까?",
     "Say hello in French.", "What is the tallest mountain in the world?", "Write a haiku about winter"],
)  # fmt: skip
def test_words_that_every_tool_has_speak_for_none(question: str) -> None:
    tools = [
        tool("late_on", "Loans that are late today.", day={"type": "string", "format": "date"}),
        tool("hours", "Opening hours of a day.", "kind", kind={"enum": ["weekday", "sunday"]}),
        tool(
            "count_by_state", "Count the flats in a state.", "state", state={"type": "string", "enum": ["let", "free"]}
        ),
        tool("clock", "Tell the current time.", "tz", tz={"type": "string", "description": "IANA time zone"}),
        tool("write_file", "Write a file.", "path text", path=TEXT, text=TEXT),
    ]
    found = Offering(question, tools, Sources(question))
    assert not found.speaks_clearly()
