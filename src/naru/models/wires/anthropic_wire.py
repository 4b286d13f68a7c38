"""Anthropic's Messages as data: a request into its body, the stream's events into a reader's calls. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.fields import counted
from naru.messages import (
    ChatEvent,
    ChatRequest,
    ContentPart,
    Extra,
    ImagePart,
    JsonObject,
    MediaPart,
    Message,
    ResourcePart,
    TextPart,
    Usage,
)
from naru.models.answers.normalise import AnswerReader
from naru.models.asking.answer_form import form_asked
from naru.models.known.count import count
from naru.models.known.profile import Profile
from naru.models.known.thinking import WORDS, effort_asked
from naru.models.transport.failures import classify, error_text, failure

_NOTHING_KNOWN = Profile()
DEFAULT_MAX_TOKENS = 8192
"""The API wants a limit with every request."""
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 24576}
_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_PASSED = ("top_p", "top_k")
TAKES = frozenset({*_PASSED, *WORDS, "temperature", "stop", "user", "response_format"})
"""Of what a request sets beside its turns and tools, by the names of chat completions."""
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 503,
    "timeout_error": 504,
}
_WORDS = {"auto": "auto", "required": "any", "none": "none"}


def carries(part: MediaPart) -> bool:
    """Tell whether this API has a form for a part: pictures, PDF."""
    return isinstance(part, ImagePart) or (isinstance(part, ResourcePart) and part.mime_type == "application/pdf")


def messages_body(
    request: ChatRequest, *, model: str, tools: list[JsonObject], profile: Profile = _NOTHING_KNOWN
) -> JsonObject:
    """Build the body of a streaming request, already prepared."""
    system = [turn for turn in request.messages if turn.role == "system" and turn.text]
    body: JsonObject = {
        "model": model,
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        "messages": _turns(request, thinks=profile.takes_thoughts),
        "stream": True,
        **{name: request.extra[name] for name in _PASSED if name in request.extra},
    }
    if any(not isinstance(turn.content, str) for turn in system):
        body["system"] = [block for turn in system for block in _content(turn.content)]
    elif system:
        body["system"] = "\n\n".join(turn.text for turn in system)
    if tools:
        body["tools"] = [_cached(one, tool.cache) for one, tool in zip(tools, request.tools, strict=True)]
        if (choice := _choice(request)) is not None:
            body["tool_choice"] = choice
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if isinstance(user := request.extra.get("user"), str):
        body["metadata"] = {"user_id": user}
    if isinstance(form := form_asked(request), dict):
        body["output_config"] = {"format": {"type": "json_schema", "schema": form}}
    _think(body, effort_asked(request), adapts=profile.adapts_thinking)
    for name in profile.refused_parameters - {"stream"}:
        body.pop(name, None)
    return body


def thinks(request: ChatRequest) -> bool:
    """Tell whether a request asks for thoughts."""
    return effort_asked(request) in _BUDGETS


def _think(body: JsonObject, effort: str, *, adapts: bool) -> None:
    """Ask for thoughts: by a budget, or by how hard the model shall try, as models take it that know no budget."""
    if effort == "none":
        body["thinking"] = {"type": "disabled"}
    if (budget := _BUDGETS.get(effort)) is None:
        return
    if adapts:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        tried = "low" if effort == "minimal" else effort
        body["output_config"] = {**body.get("output_config", {}), "effort": tried}
    else:
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if body["max_tokens"] <= budget:  # The limit counts thoughts too, and must leave room for words.
        body["max_tokens"] += budget
    body.pop("temperature", None)  # Thinking goes with none but its own.


def _choice(request: ChatRequest) -> JsonObject | None:
    choice = request.tool_choice
    single: JsonObject = {}
    if request.extra.get("parallel_tool_calls") is False:
        single["disable_parallel_tool_use"] = True
    if isinstance(choice, dict):
        return {"type": "tool", "name": choice["function"]["name"], **single}
    word = _WORDS.get(choice or ("auto" if single else ""))
    return {"type": word, **single} if word else None


def _turns(request: ChatRequest, *, thinks: bool) -> list[JsonObject]:
    """Return the turns; those of one side that follow each other are one, as results and words after them are."""
    turns: list[JsonObject] = []
    for message in request.messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message, thinks=thinks)
        if not blocks:
            continue
        blocks[-1] = _cached(blocks[-1], message.cache)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message, *, thinks: bool) -> list[JsonObject]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": _content(message.content)}]
    said = _content(message.content)
    if message.role != "assistant":
        return said
    thoughts = message.carried.get("thinking_blocks")
    if not thoughts and thinks and message.reasoning:
        thoughts = [{"type": "thinking", "thinking": message.reasoning, "signature": ""}]
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.tool_calls
    ]
    return [*(thoughts if isinstance(thoughts, list) else ()), *said, *calls]


def _content(content: str | tuple[ContentPart, ...]) -> list[JsonObject]:
    parts: tuple[ContentPart, ...] = (TextPart(content),) if isinstance(content, str) else content
    return [block for part in parts if (block := _block(part))]


def _cached(block: JsonObject, cache: JsonObject | None) -> JsonObject:
    return block if cache is None else {**block, "cache_control": cache}


def _block(part: ContentPart) -> JsonObject | None:
    block = _plain_block(part)
    return _cached(block, getattr(part, "cache", None)) if block else None


def _plain_block(part: ContentPart) -> JsonObject | None:
    match part:
        case ImagePart(data="", url=url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case ImagePart(mime_type=mime_type, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}}
        case ResourcePart(uri=uri, mime_type="application/pdf", blob=str(blob)):
            source = {"type": "base64", "media_type": "application/pdf", "data": blob}
            return {"type": "document", "title": uri, "source": source}
    text = Message("user", (part,)).text
    return {"type": "text", "text": text} if text.strip() else None


class EventReader:
    """Reads the events of one stream."""

    def __init__(self, reader: AnswerReader, where: str) -> None:
        self.ended = False
        self._reader = reader
        self._where = where
        self._blocks: dict[int, JsonObject] = {}
        self._thoughts: dict[int, list[str]] = {}
        """In pieces, as they come: text that grows by a few letters is copied whole each time."""
        self._usage: JsonObject = {}
        self._reason = "stop"

    def feed(self, event: Mapping[str, Any]) -> list[ChatEvent]:
        """Read one event; the last one gives the end.

        Raises:
            ModelError: the endpoint tells an error.
        """
        index = int(event.get("index") or 0)
        match event.get("type"):
            case "message_start":
                self._usage |= (event.get("message") or {}).get("usage") or {}
            case "content_block_start":
                return self._begin(index, dict(event.get("content_block") or {}))
            case "content_block_delta":
                return self._add(index, event.get("delta") or {})
            case "content_block_stop":
                return self._stop(index)
            case "message_delta":
                self._usage |= {key: value for key, value in (event.get("usage") or {}).items() if value}
                told = event.get("delta") or {}
                self._reason = _REASONS.get(str(told.get("stop_reason")), "stop")
                if stopped_by := told.get("stop_sequence"):
                    return [Extra("choice", {"stop_reason": stopped_by})]  # As vLLM tells it.
            case "message_stop":
                self.ended = True
                return self._reader.finish(self._reason, usage_of(self._usage))
            case "error":
                status = _STATUSES.get(str((event.get("error") or {}).get("type")), 500)
                said = error_text(dict(event))
                raise failure(classify(status, said), f"{self._where} failed: {said}", status=status)
        return []

    def whole(self, answer: JsonObject) -> list[ChatEvent]:
        """Read the message of an endpoint that does not stream.

        Raises:
            ModelError: it is an error.
        """
        if answer.get("type") == "error":
            return self.feed(answer)
        events: list[ChatEvent] = []
        for index, block in enumerate(answer["content"]):
            events += self._begin(index, dict(block))
            if thought := block.get("thinking"):
                events += self._reader.reasoning(str(thought))
            events += self._stop(index)
        events += self.feed({"type": "message_delta", "delta": answer, "usage": answer.get("usage")})
        return events + self.feed({"type": "message_stop"})

    def _begin(self, index: int, block: JsonObject) -> list[ChatEvent]:
        self._blocks[index] = block
        match block.get("type"):
            case "text":
                return self._reader.text(str(block["text"])) if block.get("text") else []
            case "tool_use":
                given = block.get("input") or ""
                return self._reader.call_delta(index, str(block.get("id") or ""), str(block.get("name") or ""), given)
        return []

    def _add(self, index: int, delta: Mapping[str, Any]) -> list[ChatEvent]:
        block = self._blocks.setdefault(index, {})
        match delta.get("type"):
            case "text_delta":
                return self._reader.text(str(delta.get("text") or ""))
            case "input_json_delta":
                return self._reader.call_delta(index, "", "", str(delta.get("partial_json") or ""))
            case "thinking_delta":
                thought = str(delta.get("thinking") or "")
                self._thoughts.setdefault(index, []).append(thought)
                return self._reader.reasoning(thought) if thought else []
            case "signature_delta":
                block["signature"] = str(block.get("signature") or "") + str(delta.get("signature") or "")
        return []

    def _stop(self, index: int) -> list[ChatEvent]:
        """Give thoughts as their endpoint wants them back: as signed blocks, or as text where it signs none."""
        block = self._blocks.get(index, {})
        if thoughts := self._thoughts.pop(index, None):
            block["thinking"] = str(block.get("thinking") or "") + "".join(thoughts)
        if block.get("thinking") and not block.get("signature"):
            return self._reader.reasoning("", "thinking")
        is_signed = block.get("type") == "redacted_thinking" or (
            block.get("type") == "thinking" and block.get("signature")
        )
        return [Extra("message", {"thinking_blocks": [block]})] if is_signed else []


def usage_of(usage: JsonObject) -> Usage:
    """Return the tokens; those from the cache are counted apart in this API."""
    read, made = (count(usage.get(f"cache_{kind}_input_tokens")) for kind in ("read", "creation"))
    cached = {name: tokens for name, tokens in (("cached_tokens", read), ("cache_write_tokens", made)) if tokens}
    details: JsonObject = {"prompt_tokens_details": cached} if cached else {}
    if thought := counted(usage, "output_tokens_details", "thinking_tokens"):
        details["completion_tokens_details"] = {"reasoning_tokens": thought}
    return Usage(count(usage.get("input_tokens")) + read + made, count(usage.get("output_tokens")), details)
