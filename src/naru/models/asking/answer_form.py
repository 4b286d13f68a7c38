"""The form that a request wants its answer in, for wires that do not call it `response_format`."""

from __future__ import annotations

from typing import Literal

from naru.messages import ChatRequest, JsonObject


def form_asked(request: ChatRequest) -> JsonObject | Literal["json"] | None:
    """Return the JSON Schema of the answer, `json` for any JSON, None for text."""
    if request.response_schema is not None:
        return request.response_schema
    form = request.extra.get("response_format")
    match form:
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return schema
        case {"type": "json_object"}:
            return "json"
    return None
