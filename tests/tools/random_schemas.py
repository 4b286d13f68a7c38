"""Random JSON Schemas, as MCP servers write them, each with values that fit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

MAX_DEPTH = 3


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
