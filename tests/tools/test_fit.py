"""A value is changed only where the schema forbids it as it came."""

from __future__ import annotations

import pytest

from naru.tools.arguments.fit import fit


def fitted(part, value, **extra):
    schema = {"type": "object", "properties": {"x": part}, **extra}
    return fit(schema, {"x": value}).get("x", "LEFT OUT")


@pytest.mark.parametrize(
    ("part", "sent", "right"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, " 3.0 ", 3),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "integer"}, "3.5", "3.5"),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "number"}, "NaN", "NaN"),
        ({"type": "boolean"}, "TRUE", True),
        ({"type": "boolean"}, 0, False),
        ({"type": "boolean"}, "maybe", "maybe"),
        ({"type": "string"}, 2025, "2025"),
        ({"type": "string"}, "[1]", "[1]"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({}, "[1]", "[1]"),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1]", "[1]"),
        ({"type": "array", "items": {"type": "integer"}}, "[1, \"2\"]", [1, 2]),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "1"}', {"n": 1}),
        ({"type": "object"}, "{not json", "{not json"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"enum": ["red", "blue"]}, " Red ", "red"),
        ({"enum": [1, 2]}, "1", 1),
        ({"enum": ["a", "A"]}, "á", "á"),
        ({"type": "boolean", "default": False}, None, "LEFT OUT"),
        ({"type": ["boolean", "null"]}, None, None),
        ({"allOf": [{"type": "object"}, {"properties": {"n": {"type": "number"}}}]}, '{"n": "1.5"}', {"n": 1.5}),
        ({"prefixItems": [{"type": "integer"}], "items": {"type": "boolean"}}, ["1", "no"], [1, False]),
    ],
)  # fmt: skip
def test_only_what_the_schema_forbids_is_changed(part, sent, right):
    found = fitted(part, sent)
    assert found == right
    assert type(found) is type(right)


def test_null_for_a_required_parameter_is_left_for_the_validator():
    assert fitted({"type": "integer"}, None, required=["x"]) is None


def test_keys_that_a_closed_object_does_not_know_are_dropped():
    schema = {"type": "object", "properties": {"x": {}}, "additionalProperties": False}
    assert fit(schema, {"x": 1, "additionalProperties": False}) == {"x": 1}


def test_words_of_the_schema_itself_that_a_small_model_copies_are_dropped():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert fit(schema, {"city": "Busan", "required": ["city"], "type": "object"}) == {"city": "Busan"}
    assert fit(schema, {"city": "Busan", "type": "hourly"}) == {"city": "Busan", "type": "hourly"}


def test_references_and_circles_are_followed_without_end_in_sight():
    schema = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"v": {"type": "integer"}, "n": {"$ref": "#/$defs/Node"}}}},
    }
    assert fit(schema, {"n": {"v": "1", "n": '{"v": "2"}'}}) == {"n": {"v": 1, "n": {"v": 2}}}
    loop = {"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}}
    assert fit(loop, {"x": "1"}) == {"x": "1"}
