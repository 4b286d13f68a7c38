"""What flows between models, tools and faces: messages, calls, results, requests, events.

This is the contract of every face and every wire: what an endpoint sends reaches the caller (`Extra`, `Refusal`,
`Usage.details`), what it wants back beside a turn goes back (`Message.reasoning`, `carried`), and what could not be
passed on is told (`Notice`) or refused by its place (`where`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Reasoning, Text
from naru.facts import fact
from naru.fields import added, counted

Json = Any
"""A decoded JSON value."""
JsonObject = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str
    cache: JsonObject | None = field(default=None, compare=False)
    """The client wants all up to here cached, in Anthropic's words (`cache_control`); other APIs have none for it."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image: base64 `data`, or a `url`."""

    mime_type: str
    data: str = ""
    url: str = ""
    detail: str = ""
    """How closely the model shall look, in OpenAI's words (`low`, `high`, `auto`); empty leaves it to the endpoint."""
    where: str = field(default="", compare=False)
    """Its place in a client's request, such as `messages[2].content[1]`; what cannot be passed on is refused by it.

    A part of a tool's result has none: where the endpoint cannot take it, a placeholder stands for it and a `Notice`
    says so. The same for the other parts.
    """
    cache: JsonObject | None = field(default=None, compare=False)
    """As in `TextPart`."""


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Audio, base64."""

    mime_type: str
    data: str
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ResourcePart:
    """An embedded resource or a file: `text`, or base64 `blob` (a PDF); a link when both are None."""

    uri: str
    """Of a file its name."""
    mime_type: str = ""
    text: str | None = None
    blob: str | None = None
    where: str = field(default="", compare=False)
    name: str = ""
    title: str = ""
    description: str = ""
    """What a link says of what is behind it."""
    cache: JsonObject | None = field(default=None, compare=False)
    """As in `TextPart`."""


@dataclass(frozen=True, slots=True)
class ForeignPart:
    """A part that Naru does not read, as it stands in a chat completion: `video_url`, a file by the endpoint's id."""

    kind: str
    raw: JsonObject
    where: str = field(default="", compare=False)


Part = TextPart | ImagePart | AudioPart | ResourcePart
"""What tools give."""
MediaPart = ImagePart | AudioPart | ResourcePart | ForeignPart
ContentPart = TextPart | MediaPart
"""What a turn of a conversation holds."""


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
    cache: JsonObject | None = field(default=None, compare=False)
    """As in `TextPart`."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call."""

    id: str
    name: str
    arguments: JsonObject
    carried: JsonObject = field(default_factory=dict, compare=False)
    """What the endpoint sent beside it and wants back word for word (`extra_content` with Gemini's signature)."""


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

    @property
    def for_model(self) -> str | tuple[ContentPart, ...]:
        """The text, and pictures, sound and files beside it: the wire knows where they may stand."""
        media = [_as_media(part) for part in self.content if not isinstance(part, TextPart)]
        kept = [part for part in media if part is not None]
        return (TextPart(self.text), *kept) if kept else self.text


def _as_media(part: ImagePart | AudioPart | ResourcePart) -> ImagePart | AudioPart | ResourcePart | None:
    """Return what of a part is no text; a picture in a resource is a picture."""
    if not isinstance(part, ResourcePart):
        return part
    if part.blob is None:
        return None
    return ImagePart(part.mime_type, part.blob) if part.mime_type.startswith("image/") else part


def _shown(part: ContentPart) -> str:
    match part:
        case TextPart(text=text):
            return text
        case ImagePart(mime_type=mime_type):
            return f"[Image: {mime_type}]"
        case AudioPart(mime_type=mime_type):
            return f"[Audio: {mime_type}]"
        case ResourcePart(text=text):
            return text if text is not None else _link(part)
        case ForeignPart(kind=kind):
            return f"[{kind}]"


def _link(part: ResourcePart) -> str:
    called = part.title or part.name
    named = f"{called} ({part.uri})" if called and called != part.uri else part.uri
    return f"[Resource: {named}{f': {part.description}' if part.description else ''}]"


@fact()
class Message:
    """One turn of a conversation."""

    role: Role
    content: str | tuple[ContentPart, ...] = ""
    reasoning: str = ""
    """What the model thought in an assistant turn; the wire sends it back where the profile says so."""
    carried: JsonObject = field(default_factory=dict)
    """Of an assistant turn: what its endpoint wants back as it was, by the endpoint's names (`CARRIED`)."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    cache: JsonObject | None = field(default=None, compare=False)
    """As in `TextPart`: up to the end of this turn, whose calls and results have no parts that could say so."""

    @property
    def text(self) -> str:
        """The content as plain text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_shown(part) for part in self.content)


@fact()
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
    notes: tuple[str, ...] = ()
    """What was left out or changed on the way to the endpoint; the answer says each in a `Notice`."""


CARRIED = frozenset({"reasoning_details", "thinking_blocks", "extra_content"})
"""Fields of an assistant's turn or of a call that endpoints want back as they were: signatures, encrypted thoughts.

OpenRouter's and MiniMax's, LiteLLM's, Gemini's.
"""


@fact()
class Usage:
    """Tokens of one model call, or of several added up."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    details: JsonObject = field(default_factory=dict)
    """What else the endpoint counted, as OpenAI or the endpoint names it: `prompt_tokens_details`, `cost`, …"""

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that came out of the endpoint's cache."""
        return counted(self.details, "prompt_tokens_details", "cached_tokens")

    @property
    def cache_write_tokens(self) -> int:
        """Prompt tokens that were put into it."""
        return counted(self.details, "prompt_tokens_details", "cache_write_tokens")

    @property
    def reasoning_tokens(self) -> int:
        """Completion tokens that were thought rather than said."""
        return counted(self.details, "completion_tokens_details", "reasoning_tokens")

    @property
    def total_tokens(self) -> int:
        """The endpoint's own total, else the sum."""
        total = self.details.get("total_tokens")
        return total if isinstance(total, int) else self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        details = added(self.details, other.details)
        if "total_tokens" in details:  # One of them may not have said it.
            details["total_tokens"] = self.total_tokens + other.total_tokens
        return Usage(
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens, details
        )


@fact()
class Finish:
    """The model stopped; `reason` is OpenAI's word: stop, length, tool_calls, content_filter."""

    reason: str


@dataclass(frozen=True, slots=True)
class RawText:
    """The whole answer as the model wrote it, markers and all; only where the request asked for it."""

    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Text in which the model declines, which OpenAI keeps apart from content; other faces show it as text."""

    text: str


@dataclass(frozen=True, slots=True)
class BrokenCall:
    """A call that cannot be run: its arguments are no JSON object, or cut. Faces show it as text, loops tell it."""

    id: str
    name: str
    raw: str
    """The arguments as they came."""
    fault: str
    """What is wrong with them, in words for the model."""
    was_cut: bool = False
    """The endpoint says that the limit on the reply's length cut them off."""
    index: int | None = None
    """Its place when CallStart and some arguments have been given already; no CallEnd follows."""

    @property
    def as_text(self) -> str:
        """What a person may read of it; empty where there is nothing."""
        return f"{self.name}({self.raw})" if self.raw else ""


Place = Literal["answer", "choice", "message", "call"]
"""Where a field stands in a chat completion: at the top, in the choice, in its message (or delta), in a call."""


@dataclass(frozen=True, slots=True)
class Extra:
    """Fields of an endpoint's answer that Naru does not read, as the endpoint names them.

    `answer`: `system_fingerprint`, `service_tier`, `provider`, `citations`, `timings`, …; `choice`: `logprobs`,
    `native_finish_reason`, …; `message`: `annotations`, `audio`, `images`, and those of `CARRIED`; `call`: a call's
    `extra_content`. Later ones add to earlier ones (`fields.merge`); at the top they stand for them. Other faces show
    what their wire has room for.
    """

    place: Place
    fields: JsonObject
    index: int = 0
    """Of the call."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What the caller should know of how its request was carried: a picture left out, earlier turns left out, ..."""

    text: str


ChatEvent = (
    Text
    | Reasoning
    | Refusal
    | CallStart
    | ArgumentsDelta
    | CallEnd
    | BrokenCall
    | Extra
    | Notice
    | Usage
    | RawText
    | Finish
)
"""What a model's answer is made of, in order: the dialects' events and what stands beside them, then usage and the end.

A face passes over events that its wire has no place for, save Refusal and BrokenCall, whose words must not be lost.
"""

__all__ = [
    "CARRIED",
    "ArgumentsDelta",
    "AudioPart",
    "BrokenCall",
    "CallEnd",
    "CallStart",
    "ChatEvent",
    "ChatRequest",
    "ContentPart",
    "Extra",
    "Finish",
    "ForeignPart",
    "ImagePart",
    "Json",
    "JsonObject",
    "MediaPart",
    "Message",
    "Notice",
    "Part",
    "Place",
    "RawText",
    "Reasoning",
    "Refusal",
    "ResourcePart",
    "Role",
    "Text",
    "TextPart",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Usage",
]
