"""What flows between models, tools and faces: messages, calls, results, requests, events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Reasoning, Text

Json = Any
"""A decoded JSON value."""
JsonObject = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image: base64 `data`, or a `url`."""

    mime_type: str
    data: str = ""
    url: str = ""
    detail: str = ""
    """How closely the model shall look, in OpenAI's words (`low`, `high`, `auto`); empty leaves it to the endpoint."""


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Audio, base64."""

    mime_type: str
    data: str


@dataclass(frozen=True, slots=True)
class ResourcePart:
    """An embedded resource: `text`, or base64 `blob`; a link when both are None."""

    uri: str
    mime_type: str = ""
    text: str | None = None
    blob: str | None = None


Part = TextPart | ImagePart | AudioPart | ResourcePart


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is offered: its own schema, never a provider's form of it."""

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema 2020-12 of the arguments object; validates each call."""
    output_schema: JsonObject | None = None
    title: str = ""
    annotations: JsonObject = field(default_factory=dict)
    """MCP annotations (`readOnlyHint`, `destructiveHint`, …): hints, not facts."""
    meta: JsonObject = field(default_factory=dict)
    server: str = ""
    """Name of the MCP server it comes from; empty for Naru's own."""
    strict: bool = False
    """A client asks its endpoint to hold calls to the schema (OpenAI's `strict`)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: typed parts, structured content beside them (H6)."""

    content: tuple[Part, ...] = ()
    structured: Json = None
    is_error: bool = False
    meta: JsonObject = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str, *, is_error: bool = False) -> ToolResult:
        """Wrap plain text."""
        return cls((TextPart(text),), is_error=is_error)

    @property
    def text(self) -> str:
        """The result for a consumer that can take text alone, with placeholders for the rest (H6)."""
        shown = "\n".join(_shown(part) for part in self.content)
        if not shown and self.structured is not None:
            return json.dumps(self.structured, ensure_ascii=False)
        return shown


def _shown(part: Part) -> str:
    match part:
        case TextPart(text=text):
            return text
        case ImagePart(mime_type=mime_type):
            return f"[Image: {mime_type}]"
        case AudioPart(mime_type=mime_type):
            return f"[Audio: {mime_type}]"
        case ResourcePart(uri=uri, text=text):
            return text if text is not None else f"[Resource: {uri}]"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str | tuple[Part, ...] = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """The content as plain text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_shown(part) for part in self.content)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model, in no provider's form."""

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    tool_choice: str | JsonObject | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: Sequence[str] = ()
    response_schema: JsonObject | None = None
    """JSON Schema that the whole answer must fit, for engines that can be guided."""
    grammar: str = ""
    """GBNF grammar, for llama.cpp."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Provider parameters that Naru does not look at."""
    keep_raw: bool = False
    """Ask for a RawText event: for traces, replays and the dialect inspector."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The model stopped; `reason` is OpenAI's word: stop, length, tool_calls, content_filter."""

    reason: str


@dataclass(frozen=True, slots=True)
class RawText:
    """The whole answer as the model wrote it, markers and all; only where the request asked for it."""

    text: str


ChatEvent = Text | Reasoning | CallStart | ArgumentsDelta | CallEnd | Usage | RawText | Finish
"""What a model's answer is made of, in order: the dialects' events, then usage and the reason of stopping."""

__all__ = [
    "ArgumentsDelta",
    "AudioPart",
    "CallEnd",
    "CallStart",
    "ChatEvent",
    "ChatRequest",
    "Finish",
    "ImagePart",
    "Json",
    "JsonObject",
    "Message",
    "Part",
    "RawText",
    "Reasoning",
    "ResourcePart",
    "Role",
    "Text",
    "TextPart",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Usage",
]
