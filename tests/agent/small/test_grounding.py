"""Issue 14, 4: calls run as the model wrote them, unless a value certainly came from nowhere."""

from __future__ import annotations

import pytest

from naru.agent.small.grounding import ground
from naru.agent.small.sources import Sources
from naru.messages import ToolCall, ToolDefinition


def tool(**properties: object) -> ToolDefinition:
    needed = [name for name in properties if not name.startswith("maybe_")]
    return ToolDefinition("look_up", "Look it up.", {"type": "object", "properties": properties, "required": needed})


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
    ],
)
def test_derived_translated_and_given_values_run_as_written(
    question: str, one: ToolDefinition, arguments: dict[str, object]
) -> None:
    grounded = made(question, one, **arguments)
    assert (grounded.refusal, grounded.call.arguments) == ("", arguments)


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
