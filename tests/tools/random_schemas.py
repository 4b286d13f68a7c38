"""Random JSON Schemas, as MCP servers write them, each with values that fit it."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

MAX_DEPTH = 3
VALUES = 3


@dataclass(frozen=True)
class Example:
    """A schema and a strategy of JSON values that fit it."""

    schema: dict[str, Any]
    values: st.SearchStrategy[Any]


SCALARS = [
    Example({"type": "string"}, st.text(max_size=6)),
    Example({"type": "string", "minLength": 1, "maxLength": 4}, st.text("abc", min_size=1, max_size=4)),
    Example({"type": "string", "maxLength": 10_000}, st.text(max_size=6)),
    Example({"type": "string", "format": "email"}, st.just("a@b.example")),
    Example({"type": "string", "format": "date"}, st.just("2024-01-02")),
    Example({"type": "string", "format": "made-up"}, st.text(max_size=4)),
    Example({"type": "string", "pattern": "^[a-c]{1,3}$"}, st.from_regex(r"\A[a-c]{1,3}\Z")),
    Example({"type": "string", "pattern": "b+"}, st.sampled_from(["b", "abc"])),
    Example({"type": "string", "pattern": r"^(?!x)\w+$"}, st.just("abc")),
    Example({"type": "string", "enum": ["a", "b", ""]}, st.sampled_from(["a", "b", ""])),
    Example({"enum": ["a", 1, None]}, st.sampled_from(["a", 1, None])),
    Example({"enum": [1, 2]}, st.sampled_from([1, 2])),
    Example({"const": "circle"}, st.just("circle")),
    Example({"const": 3}, st.just(3)),
    Example({"const": None}, st.none()),
    Example({"type": "integer"}, st.integers(-(2**40), 2**40)),
    Example({"type": "integer", "minimum": 1, "exclusiveMaximum": 6}, st.integers(1, 5)),
    Example({"type": "integer", "exclusiveMinimum": 0.5}, st.integers(1, 9)),
    Example({"type": "integer", "minimum": -(10**30)}, st.integers(0, 9)),
    Example({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, st.sampled_from([0.5, 1, 2.5])),
    Example({"type": "number"}, st.integers(-99, 99) | st.just(0.25)),
    Example({"type": "boolean"}, st.booleans()),
    Example({"type": "null"}, st.none()),
    Example({"type": ["string", "null"], "description": "text or nothing"}, st.none() | st.text(max_size=3)),
    Example({"type": ["integer", "string"], "minimum": 3}, st.integers(3, 9) | st.text(max_size=3)),
    Example({"type": "object"}, st.dictionaries(st.sampled_from(["k", "l"]), st.integers(0, 9), max_size=2)),
    Example({"type": "array"}, st.lists(st.text(max_size=2), max_size=2)),
    Example({}, st.text(max_size=3) | st.booleans() | st.none() | st.just(0.5)),
    Example({"description": "anything", "default": 1, "examples": [1]}, st.text(max_size=3)),
    Example({"type": "string", "default": "x", "title": "T", "x-vendor": {"a": 1}}, st.text(max_size=3)),
    Example({"type": "string", "format": "uri", "minLength": 3}, st.just("http://a.example")),
    Example({"type": "string", "contentEncoding": "base64"}, st.just("YQ==")),
    Example({"type": "string", "pattern": r"^\d{3}-\d{4}$"}, st.just("555-1234")),
    Example({"type": "string", "pattern": '^[^"]+$', "maxLength": 9}, st.text("abc", min_size=1, max_size=4)),
    Example({"type": "string", "not": {"enum": ["x", "y"]}}, st.sampled_from(["a", "b"])),
    Example({"type": "string", "enum": [f"choice number {n}" for n in range(300)]}, st.just("choice number 7")),
    Example({"type": "string", "enum": [("long" * 20) + str(n) for n in range(300)]}, st.just("long" * 20 + "9")),
    Example({"type": "integer", "enum": [1, 2, 3]}, st.integers(1, 3)),
    Example({"type": "number", "enum": [0.5, 2]}, st.sampled_from([0.5, 2])),
    Example({"type": ["string", "integer", "null"], "enum": ["a", 1, None]}, st.sampled_from(["a", 1, None])),
    Example({"type": "boolean", "const": True}, st.just(True)),
    Example({"enum": [True, "auto"]}, st.sampled_from([True, "auto"])),
    Example({"const": {"mode": "x"}}, st.just({"mode": "x"})),
    Example({"const": ["a", 1]}, st.just(["a", 1])),
    Example({"enum": [[1], {"a": 2}, "z"]}, st.sampled_from([[1], {"a": 2}, "z"])),
    Example({"type": "integer", "multipleOf": 5, "maximum": 100.5}, st.sampled_from([0, 5, 100])),
    Example({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, st.just(0.5)),
    Example({"type": "array", "items": {"type": ["number", "null"]}, "minItems": 1}, st.lists(st.none(), min_size=1)),
    Example({"type": "array", "items": {}}, st.lists(st.text(max_size=2) | st.integers(0, 9), max_size=2)),
    Example({"type": "array", "contains": {"const": 1}}, st.just([1, "a"])),
    Example({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, st.just(["a"])),
    Example({"type": "object", "patternProperties": {"^x": {"type": "integer"}}}, st.just({"x1": 1})),
    Example({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1}, st.just({"k": "v"})),
    Example(
        {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}, "dependentRequired": {"a": ["b"]}},
        st.sampled_from([{}, {"a": 1, "b": "x"}, {"b": "y"}]),
    ),
    Example(
        {"properties": {"a": {"type": "string"}, "b": {}}, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        st.sampled_from([{}, {"a": "x", "b": 1}]),
    ),
    Example(
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
         "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        st.sampled_from([{"a": "x"}, {"b": 1}]),
    ),
    Example(
        {"oneOf": [{"type": "object", "properties": {"kind": {"const": kind}, kind: {"type": "integer"}},
                    "required": ["kind", kind]} for kind in ("cat", "dog")], "discriminator": {"propertyName": "kind"}},
        st.sampled_from([{"kind": "cat", "cat": 1}, {"kind": "dog", "dog": 2}]),
    ),
    Example({"oneOf": [{"type": "integer", "minimum": 5}, {"type": "number", "maximum": 3}]}, st.sampled_from([2, 7])),
    Example({"allOf": [{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 4}]}, st.just("abc")),
    Example({"anyOf": [{"minimum": 3}, {"multipleOf": 5}], "type": "integer"}, st.sampled_from([4, 0])),
    Example({"anyOf": [{"type": "string"}, {}]}, st.text(max_size=2) | st.just(1)),
    Example({"$ref": "#/$defs/Tree"}, st.sampled_from([{"v": 1}, {"v": 1, "next": [{"v": 2, "next": []}]}])),
    Example({"$ref": "#/$defs/Colour", "description": "own words"}, st.sampled_from(["red", "blue"])),
]  # fmt: skip
DEFINITIONS = {
    "Tree": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        "required": ["v"],
    },
    "Colour": {"type": "string", "enum": ["red", "blue"], "description": "a colour"},
}
"""What the random schemas refer to; `tools()` puts them at the root."""
ODD_NAMES = [
    "user-id",
    "user.name",
    "filter[name]",
    "$top",
    "2nd",
    "이름",
    "with space",
    "a" * 70,
    "type",
    "properties",
]


def examples(depth: int = MAX_DEPTH) -> st.SearchStrategy[Example]:
    """Return random schemas, nested up to a depth."""
    leaf = st.sampled_from(SCALARS)
    if depth == 0:
        return leaf
    inner = examples(depth - 1)
    members = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        leaf, inner.map(_array), members.map(_tuple), members.map(_union), inner.map(_one_of_null), inner.map(_all_of),
        objects(depth - 1), inner.map(_map),
    )  # fmt: skip


def sample(wanted: int) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return that many different schemas of a tool's arguments, each with values that fit; the same ones every time."""
    found: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}

    def one(example: Example, data: st.DataObject) -> None:
        values = [data.draw(example.values) for _ in range(VALUES)]
        check = jsonschema_rs.Draft202012Validator(example.schema)
        assert all(map(check.is_valid, values)), example.schema
        found.setdefault(json.dumps(example.schema, sort_keys=True), (example.schema, values))

    rounds = settings(
        max_examples=min(2 * wanted, 1_000), deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    for number in itertools.count():
        seed(number)(rounds(given(example=tools(), data=st.data())(one)))()
        if len(found) >= wanted:
            break
    return list(found.values())[:wanted]


def tools(depth: int = MAX_DEPTH) -> st.SearchStrategy[Example]:
    """Return random schemas of a tool's arguments, with what they refer to; now and then with odd names."""
    return st.builds(_named, objects(depth), st.none() | st.sampled_from(ODD_NAMES))


def _named(example: Example, name: str | None) -> Example:
    schema = {**example.schema, "$defs": DEFINITIONS}
    if name is None:
        return Example(schema, example.values)
    schema["properties"] = {**schema["properties"], name: {"type": "string"}}
    return Example(schema, st.builds(lambda value, text: {**value, name: text}, example.values, st.text(max_size=3)))


def objects(depth: int = MAX_DEPTH) -> st.SearchStrategy[Example]:
    """Return random schemas of objects: what a tool's arguments are."""
    return st.builds(_object, st.lists(st.tuples(examples(depth), st.booleans()), max_size=3), st.booleans())


def _array(inner: Example) -> Example:
    return Example(
        {"type": "array", "items": inner.schema, "maxItems": 1000, "uniqueItems": True},
        st.lists(inner.values, max_size=1),
    )


def _tuple(members: list[Example]) -> Example:
    return Example(
        {"type": "array", "prefixItems": [each.schema for each in members]},
        st.tuples(*(each.values for each in members)).map(list),
    )


def _union(members: list[Example]) -> Example:
    return Example({"anyOf": [each.schema for each in members]}, st.one_of(*(each.values for each in members)))


def _one_of_null(inner: Example) -> Example:
    branches = [inner.schema, {"type": "null", "description": "nothing"}]
    return Example({"anyOf": branches, "description": "maybe", "default": None}, inner.values | st.none())


def _all_of(inner: Example) -> Example:
    return Example({"allOf": [inner.schema, {"description": "as said"}]}, inner.values)


def _map(inner: Example) -> Example:
    return Example(
        {"type": "object", "additionalProperties": inner.schema},
        st.dictionaries(st.sampled_from(["k", "l"]), inner.values, max_size=2),
    )


def _object(members: list[tuple[Example, bool]], closed: bool) -> Example:
    names = [f"p{index}" for index in range(len(members))]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: member.schema for name, (member, _) in zip(names, members, strict=True)},
        "required": [name for name, (_, required) in zip(names, members, strict=True) if required],
    }
    if closed:
        schema["additionalProperties"] = False
    needed = {name: member.values for name, (member, required) in zip(names, members, strict=True) if required}
    spare = {name: member.values for name, (member, required) in zip(names, members, strict=True) if not required}
    return Example(schema, st.fixed_dictionaries(needed, optional=spare))
