"""S3: the schema of every type that a person would annotate with."""

from __future__ import annotations

import datetime
import decimal
import enum
import pathlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Required, TypedDict, Union

import jsonschema
import pytest
from pydantic import BaseModel, Field

from naru.tools.functions.json_schema import type_to_json_schema


class Place(enum.Enum):
    HOME = (1, 2)
    WORK = (3, 4)


class Kind(enum.StrEnum):
    A = "a"
    B = "b"


class Inner(BaseModel):
    """An inner thing."""

    n: int


@dataclass
class Outer:
    inner: Inner
    others: list[Inner]


class Tree(BaseModel):
    children: list[Tree] = []


class Pair(NamedTuple):
    x: int
    y: str = "y"


class Shape(TypedDict, total=False):
    side: float


INNER = {
    "type": "object",
    "description": "An inner thing.",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045  # as people write it
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007  # as people write it
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Kind, {"type": "string", "enum": ["a", "b"]}),
        (Place, {"type": "array", "enum": [[1, 2], [3, 4]], "items": {"type": "integer"}}),
        (Literal[Place.HOME], {"type": "array", "const": [1, 2], "items": {"type": "integer"}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.timedelta, {"type": "string", "format": "duration"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (pathlib.Path, {"type": "string", "format": "path"}),
        (Any, {}),
        (Annotated[int, Field(ge=1)], {"type": "integer", "minimum": 1}),
        (Shape, {"type": "object", "properties": {"side": {"type": "number"}}}),
        (Inner, INNER),
    ],
)
def test_a_type_has_the_schema_that_one_expects(annotation, schema):
    found = type_to_json_schema(annotation)
    found.pop("title", None)
    assert {key: value for key, value in found.items() if key not in schema} in ({}, {"additionalProperties": True})
    assert {key: found[key] for key in schema} == schema


def test_definitions_are_put_in_their_place():
    found = type_to_json_schema(Outer)
    assert "$defs" not in found
    assert found["properties"]["inner"] == INNER
    assert found["properties"]["others"]["items"] == INNER


def test_what_contains_itself_keeps_its_definition():
    found = type_to_json_schema(Tree)
    jsonschema.Draft202012Validator.check_schema(found)
    validator = jsonschema.Draft202012Validator(found)
    assert validator.is_valid({"children": [{"children": []}]})
    assert not validator.is_valid({"children": [{"children": 1}]})


@pytest.mark.parametrize("annotation", [decimal.Decimal, Pair, Outer, Tree, frozenset[Kind], dict[Kind, Inner]])
def test_every_schema_is_valid(annotation):
    jsonschema.Draft202012Validator.check_schema(type_to_json_schema(annotation))


def test_a_type_that_json_cannot_give_is_refused_and_never_called_a_string():
    class Opaque:
        pass

    with pytest.raises(TypeError, match="no JSON Schema for"):
        type_to_json_schema(Opaque)


class Branch(TypedDict):
    """A branch."""

    name: str
    twigs: list[Branch]


@dataclass
class Forest:
    trees: dict[str, Branch | None]


def test_a_typed_dict_of_the_standard_library_is_read_wherever_it_stands():
    found = type_to_json_schema(Forest)
    jsonschema.Draft202012Validator.check_schema(found)
    validator = jsonschema.Draft202012Validator(found)
    assert validator.is_valid({"trees": {"a": {"name": "x", "twigs": [{"name": "y", "twigs": []}]}, "b": None}})
    assert not validator.is_valid({"trees": {"a": {"name": "x"}}})
    assert type_to_json_schema(list[Shape])["items"]["properties"] == {"side": {"type": "number"}}


class Half(TypedDict, total=False):
    needed: Required[int]
    free: str


class Most(TypedDict):
    needed: int
    free: NotRequired[str]


@pytest.mark.parametrize("shape", [Half, Most])
def test_what_a_field_of_a_typed_dict_says_of_itself_counts_under_postponed_annotations(shape: Any) -> None:
    assert type_to_json_schema(shape)["required"] == ["needed"]
