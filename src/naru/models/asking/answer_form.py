"""The form that a request wants its answer in, for wires that do not call it `response_format`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from naru.messages import ChatRequest, JsonObject, Message
from naru.models.transport.json_text import encode

_IN_WORDS = "Where you answer rather than call a tool, answer with one JSON value and nothing else."
_FITTING = " It must fit this JSON Schema:\n"


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


def in_words(request: ChatRequest, where: str) -> ChatRequest:
    """Return a request whose form is told in its system text: where tools are offered, not every endpoint takes one."""
    form = form_asked(request)
    if form is None:
        return request
    said = _IN_WORDS + (_FITTING + encode(form).decode() if isinstance(form, dict) else "")
    return replace(
        request,
        messages=(Message("system", said), *request.messages),
        response_schema=None,
        extra={name: value for name, value in request.extra.items() if name != "response_format"},
        notes=(*request.notes, f"response_format: told to the model in words, {where} does not take it beside tools."),
    )
