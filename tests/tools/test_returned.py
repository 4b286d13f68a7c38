"""Issue 19 line 9: results described by the return annotation, and held to it before they are sent."""

from __future__ import annotations

import dataclasses
import decimal
import logging
from typing import Any, NotRequired

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from naru.messages import TextPart, ToolResult
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext


class Weather(TypedDict):
    city: str
    degrees: NotRequired[float]


@dataclasses.dataclass(slots=True)
class Point:
    x: int
    y: int = 0


class Price(BaseModel):
    amount: decimal.Decimal
    unit: str = Field("EUR", alias="currency")


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


def typed_dict() -> Weather:
    return {"city": "Seoul", "degrees": 3.5}


def dataclass() -> Point:
    return Point(1)


async def model() -> Price:
    return Price(amount=decimal.Decimal("1.50"))


def recursive() -> Tree:
    return Tree(name="a", children=[Tree(name="b")])


def mapping() -> dict[str, int]:
    return {"a": 1}


async def described(function: Any) -> tuple[Any, ToolResult]:
    toolset = FunctionToolset([function])
    (tool,) = await toolset.tools()
    return tool.output_schema, await toolset.call(tool.name, {}, CallContext())


@pytest.mark.parametrize(
    ("function", "properties", "structured"),
    [
        (typed_dict, {"city", "degrees"}, {"city": "Seoul", "degrees": 3.5}),
        (dataclass, {"x", "y"}, {"x": 1, "y": 0}),
        (model, {"amount", "currency"}, {"amount": "1.50", "currency": "EUR"}),
        (recursive, {"name", "children"}, {"name": "a", "children": [{"name": "b", "children": []}]}),
        (mapping, set(), {"a": 1}),
    ],
)
async def test_an_object_is_described_by_the_return_annotation(function, properties, structured):
    schema, result = await described(function)
    assert schema["type"] == "object"
    assert schema.get("properties", {}).keys() == properties
    assert result.structured == structured
    assert result.text


def text() -> str: ...
def numbers() -> list[int]: ...
def maybe() -> Point | None: ...
def own() -> ToolResult: ...
def part() -> TextPart: ...
def unknown() -> complex: ...
def unsaid(): ...


@pytest.mark.parametrize("function", [text, numbers, maybe, own, part, unknown, unsaid])
async def test_what_promises_no_object_has_no_output_schema(function):
    schema, _ = await described(function)
    assert schema is None


def lies() -> Weather:
    return {"degrees": "cold"}  # type: ignore[typeddict-item]  # the fault under test


async def test_what_does_not_match_is_sent_as_text_alone_and_logged(caplog):
    with caplog.at_level(logging.WARNING):
        schema, result = await described(lies)
    assert schema is not None
    assert result.structured is None
    assert not result.is_error
    assert result.text == '{"degrees":"cold"}'
    assert "tool lies returned what its return annotation does not promise" in caplog.text
    assert "city" in caplog.text


def fails() -> Weather:
    raise RuntimeError("no station")


async def test_a_failure_stays_a_failure():
    _, result = await described(fails)
    assert result.is_error
    assert "no station" in result.text
