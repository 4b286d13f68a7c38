"""JSON pointers within a schema (RFC 6901)."""

from __future__ import annotations

import pytest

from naru.tools.provider_schemas.references import find_pointer

SCHEMA = {"anyOf": [{"type": "string"}, {"type": "null"}], "$defs": {"a/b": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("#", SCHEMA),
        ("#/anyOf/1", {"type": "null"}),
        ("#/$defs/a~1b", {"type": "integer"}),
        ("#/anyOf/2", None),
        ("#/anyOf/01", None),
        ("#/anyOf/-1", None),
        ("#/anyOf/²", None),
        ("#/anyOf/" + "9" * 5000, None),
        ("#/anyOf/0/type/0", None),
        ("other#/anyOf/0", None),
    ],
    ids=[
        "all",
        "place",
        "escaped",
        "beyond",
        "zero before",
        "negative",
        "no digit",
        "long",
        "below a text",
        "elsewhere",
    ],
)
def test_a_pointer_leads_somewhere_or_nowhere(pointer: str, found: object) -> None:
    assert find_pointer(SCHEMA, pointer) == found
