"""What tools give, also sloppy ones: typed parts, and nothing that a model could have read is lost (H6)."""

from __future__ import annotations

import itertools

import pytest

from naru.connections.wire.results import to_result
from naru.messages import ImagePart, ResourcePart, TextPart


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": "bare text"}, "bare text"),
        ({"content": {"type": "text", "text": "one block"}}, "one block"),
        ({"content": ["bare", "texts"]}, "bare\ntexts"),
        ({"content": [{"type": "new", "x": 1}]}, '{"type": "new", "x": 1}'),
        ({"content": 5}, "5"),
        ({"toolResult": {"rows": 2}}, '{"rows": 2}'),
        ({"toolResult": "2024"}, "2024"),
        ({"output": "elsewhere"}, '{"output": "elsewhere"}'),
        ({"content": []}, ""),
        ({"content": None}, ""),
        ({}, ""),
        ({"_meta": {"a": 1}, "isError": False, "resultType": "complete"}, ""),
    ],
)
def test_what_a_tool_said_is_there_whatever_its_form(raw: dict, text: str) -> None:
    assert to_result(raw).text == text


@pytest.mark.parametrize(
    ("value", "is_error"), [(True, True), ("true", True), (1, True), (False, False), ("false", False), (None, False)]
)
def test_a_failure_is_told_from_a_success(value: object, is_error: bool) -> None:
    assert to_result({"content": [], "isError": value}).is_error is is_error


def test_parts_keep_their_types() -> None:
    blocks = [
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t"}},
        {"type": "resource_link", "uri": "c:d"},
    ]
    kinds = [type(part) for part in to_result({"content": blocks}).content]
    assert kinds == [ImagePart, ResourcePart, ResourcePart]
    assert to_result({"structuredContent": {"a": 1}}).structured == {"a": 1}
    assert to_result({"structuredContent": {"a": 1}}).content == ()
    assert to_result({"content": [{"type": "text"}]}).content == (TextPart(""),)


def test_no_form_of_a_result_is_an_exception() -> None:
    odd = [None, True, 0, 1.5, "x", [], {}, [None], [[1]], [{"type": 5}], [{"type": "image"}], [{"type": "resource"}]]
    for content, structured, failed in itertools.product(odd, repeat=3):
        to_result({"content": content, "structuredContent": structured, "isError": failed, "_meta": content})  # type: ignore[dict-item]
