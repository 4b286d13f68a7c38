"""Values change only where the schema forbids what came and one reading is evident."""

import pytest

from naru.dialects.calls.coerce import coerce, from_text, types_of

RECURSIVE = {
    "$defs": {"node": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("5", {"type": "integer"}, 5),
        ("5", {"type": "string"}, "5"),
        ("5", {}, "5"),
        ("5", {"type": ["integer", "string"]}, "5"),
        ("5.0", {"type": "integer"}, 5),
        ("5.5", {"type": "integer"}, "5.5"),
        ("x", {"type": "integer"}, "x"),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("yes", {"type": "boolean"}, "yes"),
        ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("['a']", {"type": "array"}, ["a"]),
        (["1", "2"], {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"a": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        (12, {"type": "string"}, "12"),
        ({"a": 1}, {"type": "string"}, '{"a": 1}'),
        ("1e999", {"type": "number"}, "1e999"),
        ("7", {"enum": [5, 6, 7]}, 7),
        ("7", {"type": "integer", "nullable": True}, 7),
    ],
)
def test_a_value_is_read_as_the_schema_allows(value, schema, expected):
    result = coerce(value, schema, schema)
    assert result == expected
    assert type(result) is type(expected)


def test_references_and_recursion_are_followed():
    value = {"n": "1", "next": {"n": "2", "next": {"n": "3"}}}
    expected = {"n": 1, "next": {"n": 2, "next": {"n": 3}}}
    assert coerce(value, {"$ref": "#/$defs/node"}, RECURSIVE) == expected


def test_a_reference_in_a_circle_says_nothing():
    circle = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert coerce("5", {"$ref": "#/$defs/a"}, circle) == "5"
    assert "string" in types_of({"$ref": "#/$defs/a"}, circle)


def test_text_stays_text_where_text_alone_is_allowed():
    assert from_text("007", frozenset({"string"})) == "007"
    assert from_text("02139", frozenset({"string", "integer"})) == "02139"
