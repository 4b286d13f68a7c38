"""What a parameter takes, by its schema, and which values of a question it may be."""

from __future__ import annotations

from typing import Any

import pytest

from naru.agent.parameters import candidates, choices, kind_of
from naru.agent.sources import Sources


def said(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


@pytest.mark.parametrize(
    ("name", "schema", "kind"),
    [
        ("record_locator", said("six character booking reference"), "id"),
        ("plate", said(""), "id"),
        ("house", said("동-호, 예: 101-0101"), "id"),
        ("flight", said("e.g. KE123"), "id"),
        ("customer", said("name or id of the customer"), "text"),
        ("origin", said("IATA code of the airport"), "code"),
        ("month", said("YYYY-MM"), "month"),
        ("period", said("YYYY-MM"), "month"),
        ("day", said("YYYY-MM-DD"), "date"),
        ("from_unit", said(""), "unit"),
        ("unit", said("Flat, e.g. 12-034"), "id"),
        ("facility", said("one of: gym, pool, sauna"), "enum"),
        ("시설", said("헬스장, 독서실, 수영장 중 하나"), "enum"),
    ],
)
def test_a_schema_tells_what_a_parameter_takes(name: str, schema: dict[str, Any], kind: str) -> None:
    assert kind_of(name, schema) == kind


@pytest.mark.parametrize(
    ("name", "schema", "question", "values"),
    [
        ("flight", said("e.g. KE123"), "Is OZ102 late?", ["OZ102"]),
        ("flight", said("e.g. KE123"), "Is KE7 or OZ102 late?", ["KE7"]),
        ("flight", said("KE and three digits"), "Is OZ102 late?", []),
        ("house", said("예: 101-0101"), "2026년 10월 102-0504 관리비", ["102-0504"]),
        ("plate", said(""), "차량번호 12가3456의 주인", ["12가3456"]),
        ("month", said("YYYY-MM"), "2026년 10월 관리비", ["2026-10"]),
        ("month", said("YYYY-MM"), "the bill of March 2025", ["2025-03"]),
        ("origin", said("airport code"), "from ICN to NRT", ["ICN"]),
        ("destination", said("airport code"), "ICN에서 NRT로", ["NRT"]),
        ("to_unit", said("mile or km"), "How many km are 3 miles?", ["km"]),
    ],
)
def test_values_of_a_question_are_known_by_their_shape(
    name: str, schema: dict[str, Any], question: str, values: list[str]
) -> None:
    assert candidates(name, schema, Sources(question)) == values


def test_choices_that_a_description_lists_are_read() -> None:
    assert choices(said("one of: gym, pool or sauna")) == ["gym", "pool", "sauna"]
    assert choices(said("asc|desc")) == ["asc", "desc"]
    assert choices(said("any of the three houses")) == []


def test_a_bare_id_is_of_what_its_tool_gives() -> None:
    sources = Sources("Which artist made it?")
    sources.add('{"id": 301, "title": "Blue", "album_id": 21}', "search_tracks")
    whole = {"type": "integer"}
    assert candidates("track_id", whole, sources) == [301]
    assert candidates("album_id", whole, sources) == [21]
    assert candidates("artist_id", whole, sources) == []


def test_an_id_that_the_question_says_to_be_of_another_thing_is_not_taken() -> None:
    sources = Sources("Who is the contact for order 88002?")
    sources.things = {"order", "custom"}
    assert candidates("customer_id", said(""), sources) == []
    assert candidates("order_id", {"type": "integer"}, sources) == [88002]
    korean = Sources("주문번호 88002의 고객은?")
    korean.things = {"order", "custom"}
    assert candidates("customer_id", said(""), korean) == []


def test_words_are_ids_where_a_result_gives_them_so_or_a_dash_is_in_them() -> None:
    assert candidates("recipe_id", said(""), Sources("How long does red-stew take?", subjects=["red-stew"])) == [
        "red-stew"
    ]
    sources = Sources("How long does the stew take?")
    sources.add('{"recipe_id": "stew", "title": "Red stew"}', "find_recipe")
    assert candidates("recipe_id", said(""), sources) == ["stew"]


def test_a_choice_is_heard_in_a_korean_loanword() -> None:
    diet = {"type": "string", "enum": ["vegan", "vegetarian"]}
    assert candidates("diet", diet, Sources("비건 요리를 알려줘")) == ["vegan"]
