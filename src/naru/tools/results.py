"""From what a function returned to a ToolResult: text, typed parts, structured content (H6)."""

from __future__ import annotations

from typing import Any

from naru.messages import AudioPart, ImagePart, Json, Part, ResourcePart, TextPart, ToolResult
from naru.tools.serialise import json_text, to_json_text, to_jsonable, whole_text

_PARTS = (TextPart, ImagePart, AudioPart, ResourcePart)
WRAPPED = "result"
"""Key that a result which is no object stands under in structured content, which older MCP versions want an object."""


def to_tool_result(value: Any) -> ToolResult:
    """Wrap a function's return value.

    Raises:
        UnserialisableError: it holds something that JSON cannot.
    """
    kind = type(value)
    if kind is str:
        return ToolResult((TextPart(whole_text(value)),))
    if kind is dict:
        plain = to_jsonable(value)
        return ToolResult((TextPart(json_text(plain)),), plain)
    if kind is ToolResult:
        return value  # type: ignore[no-any-return]  # which it is
    if isinstance(value, _PARTS):
        return ToolResult((value,))
    if isinstance(value, list | tuple) and any(isinstance(item, _PARTS) for item in value):
        return ToolResult(tuple(_as_part(item) for item in value))
    plain = to_jsonable(value)
    if isinstance(plain, str):
        return ToolResult((TextPart(plain),))
    structured = plain if isinstance(plain, dict) else {WRAPPED: plain}
    return ToolResult((TextPart(json_text(plain)),), structured)


def _as_part(item: Any) -> Part:
    if isinstance(item, _PARTS):
        return item
    return TextPart(whole_text(item) if isinstance(item, str) else to_json_text(item))


def to_value(result: ToolResult) -> Json:
    """Return the JSON value that a result stands for: the reverse of `to_tool_result`."""
    structured = result.structured
    if isinstance(structured, dict) and structured.keys() == {WRAPPED}:
        return structured[WRAPPED]
    if structured is not None:
        return structured
    if all(isinstance(part, TextPart) for part in result.content):
        return result.text
    return [to_jsonable(part) for part in result.content]
