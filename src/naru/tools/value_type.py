"""Which JSON type a decoded value has."""

from __future__ import annotations

from naru.messages import Json


def json_type(value: Json) -> str:
    """Return the name that JSON Schema gives the type of a value; a whole float is a number."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
