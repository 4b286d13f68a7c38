"""Arguments by their schema: taken from the question's own words, mended, or refused (UPLIFT.md)."""

from __future__ import annotations

from typing import Any

import pytest

from naru.agent.grounding import ground
from naru.agent.sources import Sources
from naru.messages import ToolCall, ToolDefinition


def tool(required: str = "", **properties: dict[str, Any]) -> ToolDefinition:
    names = required.split()
    schema = {"type": "object", "properties": properties, "required": names}
    return ToolDefinition("look", "Look something up.", schema)


TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
WHOLE = {"type": "integer"}
CHOICE = {"type": "string", "enum": ["monday", "saturday"]}
CODE = {"type": "string", "description": "Three-letter code of the currency"}
ZONE = {"type": "string", "description": "IANA time zone"}
KEY = {"type": "string", "pattern": r"^K-\d{3}$"}
NESTED = {"type": "object", "properties": {"state": {"type": "string", "enum": ["open", "shut"]}, "owner": TEXT}}
MEASURE = tool("from_unit to_unit", from_unit=TEXT, to_unit=TEXT)
UNKNOWN = {"from_unit": "parsecs", "to_unit": "km"}
OPTIONAL = {"anyOf": [{"type": "string", "enum": ["kg", "lb"]}, {"type": "null"}], "default": "kg"}


@pytest.mark.parametrize(
    ("question", "definition", "given", "right"),
    [
        ("Anything on 3 December 2026?", tool("day", day=DAY), {"day": "03/12"}, {"day": "2026-12-03"}),
        ("2026년 5월 2일 일정", tool("day", day=DAY), {"day": "2026-05-02"}, {"day": "2026-05-02"}),
        ("Ticket 413?", tool("number", number=WHOLE), {"number": "413"}, {"number": 413}),
        ("Ticket 413?", tool("number", number=WHOLE), {"number": 1}, {"number": 413}),
        ("for three nights", tool("nights", nights=WHOLE), {"nights": 3}, {"nights": 3}),
        ("5 days from 20 boxes", tool("days", days=WHOLE), {}, {"days": 5}),
        ("open on Saturdays?", tool("day_type", day_type=CHOICE), {"day_type": "Sat"}, {"day_type": "saturday"}),
        ("토요일에 열어?", tool("day_type", day_type=CHOICE), {"day_type": "monday"}, {"day_type": "saturday"}),
        ("50 usd in EUR", tool("target", target=CODE), {"target": "eur"}, {"target": "EUR"}),
        ("time in Tokyo", tool("tz", tz=ZONE), {"tz": "JST"}, {"tz": "Asia/Tokyo"}),
        ("what is 3 × 4?", tool("expression", expression=TEXT), {"expression": "3x4"}, {"expression": "3 * 4"}),
        ("of K-123", tool("key", key=KEY), {"key": "123"}, {"key": "K-123"}),
        ("shut doors", tool("filter", filter=NESTED), {"state": "shut"}, {"filter": {"state": "shut"}}),
        ("shut doors", tool("filter", filter=NESTED), {"filter": {}}, {"filter": {"state": "shut"}}),
        ("which doors are shut?", tool(filter=NESTED), {}, {"filter": {"state": "shut"}}),
        ("doors of K-123", tool(key=KEY), {}, {"key": "K-123"}),
        ("5 parsecs in km", MEASURE, UNKNOWN, UNKNOWN),
        ("5 miles in km", MEASURE, {"from_unit": "m", "to_unit": "m"}, {"from_unit": "mi", "to_unit": "km"}),
        ("all doors", tool(filter=NESTED), {"filter": {"state": "open"}}, {}),
        ("all doors", tool("filter", filter=NESTED), {}, {"filter": {}}),
        ("Is Lima warm?", tool("city", city=TEXT), {"city": "city"}, {"city": "Lima"}),
        ("서울 날씨", tool("city", city=TEXT), {"city": "Seoul"}, {"city": "Seoul"}),
        ("weight in pounds?", tool(unit=OPTIONAL), {"unit": "lb"}, {"unit": "lb"}),
        ("look something up", tool(unit=OPTIONAL), {"unit": "lb"}, {}),
        ("who is Mina", tool("name", name=TEXT, limit=WHOLE), {"name": "Mina", "limit": 10}, {"name": "Mina"}),
    ],
)  # fmt: skip
def test_a_value_is_what_the_question_says_in_the_form_that_the_schema_asks_for(
    question: str, definition: ToolDefinition, given: dict[str, Any], right: dict[str, Any]
) -> None:
    grounded = ground(ToolCall("1", "look", given), definition, Sources(question))
    assert (grounded.refusal, grounded.call.arguments) == ("", right)


@pytest.mark.parametrize(
    ("question", "definition", "given"),
    [
        ("What is on my calendar?", tool("day", day=DAY), {"day": "2023-01-01"}),
        ("Which loans are late?", tool("key", key=KEY), {"key": "K-001"}),
        ("What is 2 plus 2?", tool("city", city=TEXT), {"city": "London"}),
        ("Tell me a joke.", tool("number", number=WHOLE), {"number": 7}),
        ("Name three colours", tool("a b", a=KEY, b=WHOLE), {"a": "K-003", "b": 3}),
    ],
)
def test_a_value_that_nobody_gave_is_refused(question: str, definition: ToolDefinition, given: dict[str, Any]) -> None:
    assert ground(ToolCall("1", "look", given), definition, Sources(question)).refusal


def test_a_path_that_nobody_gave_is_never_written_to() -> None:
    schema = {"type": "object", "properties": {"path": TEXT, "content": TEXT}, "required": ["path", "content"]}
    call = ToolCall("1", "write_file", {"path": "poem.txt", "content": "O river"})
    asked = Sources("Write one sentence about rivers.")
    assert ground(call, ToolDefinition("write_file", "Write a file.", schema), asked).refusal
    here = ToolCall("1", "list", {"path": "."})
    listing = ToolDefinition("list", "List a folder.", {**schema, "required": ["path"]})
    assert not ground(here, listing, Sources("Which files are there?")).refusal


def test_words_that_a_description_puts_in_quotes_are_its_choices() -> None:
    order = {"type": "string", "description": "Either 'newest' or 'oldest' first."}
    city = {"type": "string", "description": "A city, e.g. 'Lima' or 'Oslo'."}
    newest = ToolCall("1", "look", {"order": "newest"})
    assert ground(newest, tool("order", order=order), Sources("Show my mails")).call.arguments == {"order": "newest"}
    oslo = ToolCall("1", "look", {"city": "Oslo"})
    assert ground(oslo, tool("city", city=city), Sources("How is the weather?")).refusal


def test_an_id_that_a_result_gave_under_another_name_is_not_taken() -> None:
    sources = Sources("When must Omar bring it back?", ['{"card": "M-0031", "name": "Omar"}'])
    nothing = ToolCall("1", "look", {})
    assert ground(nothing, tool("isbn", isbn=TEXT), sources).refusal
    assert ground(nothing, tool("card", card={"type": "string", "pattern": "^M"}), sources).call.arguments == {
        "card": "M-0031"
    }
