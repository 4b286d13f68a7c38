"""Issue 14, 4: calls run as the model wrote them, unless a value certainly came from nowhere."""

from __future__ import annotations

import pytest

from naru.agent.small.grounding import ground
from naru.agent.small.parameters import parameters, shared_numbers
from naru.agent.small.sources import Sources
from naru.messages import ToolCall, ToolDefinition


def tool(**properties: object) -> ToolDefinition:
    needed = [name for name in properties if not name.startswith("maybe_")]
    return ToolDefinition("look_up", "Look it up.", {"type": "object", "properties": properties, "required": needed})


ZONE = tool(zone={"type": "string", "description": "Zone such as ZONE-1"})
ORDER = tool(order_id={"type": "string", "description": "Order id such as ORD-00000"})
MEMBER = tool(member_no={"type": "integer"})
PLACE = tool(city={"type": "string"}, maybe_unit={"type": "string", "enum": ["C", "F"]})
TABLE = tool(guests={"type": "integer"}, day={"type": "string", "format": "date"})


def made(question: str, one: ToolDefinition, **arguments: object):
    return ground(ToolCall("1", one.name, arguments), one, Sources(question), frozenset({"member_no"}))


@pytest.mark.parametrize(
    ("question", "one", "arguments"),
    [
        ("What is the weather in the capital of France?", PLACE, {"city": "Paris"}),
        ("부산 날씨 알려줘", PLACE, {"city": "Busan"}),
        ("Wie warm ist es in Köln, in Fahrenheit?", PLACE, {"city": "Cologne", "maybe_unit": "F"}),
        ("A table for a party of four, the day after tomorrow", TABLE, {"guests": 4, "day": "2026-12-01"}),
        ("Un tavolo per due dozzine di persone a Natale", TABLE, {"guests": 24, "day": "2026-12-25"}),
        ("Where is ord 88123?", ORDER, {"order_id": "ORD-88123"}),
        ("회원 4471은?", MEMBER, {"member_no": 4471}),
        ("Ist es in Zone drei warm?", ZONE, {"zone": "ZONE-3"}),
    ],
)
def test_derived_translated_and_given_values_run_as_written(
    question: str, one: ToolDefinition, arguments: dict[str, object]
) -> None:
    grounded = made(question, one, **arguments)
    assert (grounded.refusal, grounded.call.arguments) == ("", arguments)


def test_an_id_that_is_written_with_its_noun_is_the_id() -> None:
    grounded = made("주문 ORD-88123은 언제 와?", ORDER, order_id="주문 ORD-88123")
    assert (grounded.refusal, grounded.call.arguments) == ("", {"order_id": "ORD-88123"})


@pytest.mark.parametrize("written", ["21 November 2026", "November 21, 2026", "Sat, 21 Nov 2026"])
def test_issue_14_a_day_in_words_is_the_day_that_a_schema_takes(written: str) -> None:
    grounded = made("Ein Tisch für zwei am 21. November 2026", TABLE, guests=2, day=written)
    assert (grounded.refusal, grounded.call.arguments) == ("", {"guests": 2, "day": "2026-11-21"})


@pytest.mark.parametrize(
    ("question", "one", "arguments", "said"),
    [
        ("Where is my order?", ORDER, {"order_id": "ORD-00000"}, "an example"),
        ("Where is order ORD-88123?", ORDER, {"order_id": "ORD-12345"}, "neither in the question nor in a result"),
        ("Is Hanna a member?", MEMBER, {"member_no": 123}, "neither in the question nor in a result"),
    ],
)
def test_an_example_of_the_schema_and_an_id_from_nowhere_are_refused(
    question: str, one: ToolDefinition, arguments: dict[str, object], said: str
) -> None:
    assert said in made(question, one, **arguments).refusal


def test_keys_are_mended_and_what_the_tool_does_not_know_is_dropped() -> None:
    grounded = made("Where is ORD-88123?", ORDER, orderId="ORD-88123", required=["order_id"])
    assert grounded.call.arguments == {"order_id": "ORD-88123"}


def test_the_bare_number_of_an_id_is_completed_to_what_was_said() -> None:
    assert made("Where is ORD-88123?", ORDER, order_id="88123").call.arguments == {"order_id": "ORD-88123"}


def test_a_number_is_not_completed_to_another_one_that_ends_with_it() -> None:
    assert made("ORD-112 and 12", ORDER, order_id="12").call.arguments == {"order_id": "12"}


def test_a_placeholder_is_no_id() -> None:
    assert "no value" in made("Where is my order?", ORDER, order_id="<your order_id>").refusal


@pytest.mark.parametrize("named", ["ISO-8601 day", "Day as in RFC3339", "UTF-8 text", "BCP-47 tag", "Base64 of it"])
def test_the_name_of_a_standard_in_a_description_makes_no_id_of_a_parameter(named: str) -> None:
    one = tool(value={"type": "string", "description": named})
    for value in ("2026-12-25", "ko-KR", "R29vZCBtb3JuaW5nIDI0Lzc=", "Meet at 12:00."):
        assert made("At Christmas", one, value=value).call.arguments == {"value": value}


@pytest.mark.parametrize(
    ("told", "value"),
    [("such as KA-PL-1234", "KA-PL-8812"), ("(SP-A1-03)", "SP-A2-11"), ("like eu-web-01", "eu-web-17")],
)
def test_an_id_of_several_groups_of_letters_is_read_as_a_whole(told: str, value: str) -> None:
    (one,) = parameters(tool(value={"type": "string", "description": f"An id {told}"}))
    assert one.takes_id
    assert one.fits(value)


def test_a_text_whose_form_the_schema_names_takes_no_ids() -> None:
    when = {"type": "string", "format": "date-time", "description": "RFC3339 timestamp"}
    assert not parameters(tool(when=when))[0].takes_id


def test_a_whole_number_names_a_thing_where_a_tool_needs_nothing_else() -> None:
    number: dict[str, object] = {"type": "integer"}
    alone, with_day = tool(member=number), tool(member=number, day={"type": "string"})
    tables = [tool(guests=number, day={"type": "string"}), tool(guests=number, name={"type": "string"})]
    assert shared_numbers([alone, with_day, *tables]) == {"member"}
    one = {**number, "maximum": 12}
    assert shared_numbers([tool(hours=one), tool(hours=one, day={"type": "string"})]) == frozenset()
