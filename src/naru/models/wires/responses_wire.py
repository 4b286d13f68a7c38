"""OpenAI's Responses as data: a request into its body, the stream's events into a reader's calls. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    Usage,
)
from naru.models.answers.normalise import AnswerReader
from naru.models.known.count import count
from naru.models.known.profile import Profile
from naru.models.known.thinking import WORDS, effort_asked
from naru.models.transport.failures import classify, error_text, failure
from naru.models.transport.json_text import encode

_PASSED = (
    *("top_p", "top_logprobs", "parallel_tool_calls", "service_tier", "user", "metadata", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
TAKES = frozenset({*_PASSED, *WORDS, "temperature", "response_format", "verbosity", "logprobs"})
"""Of what a request sets beside its turns and tools, by the names of chat completions."""
_NOTHING_KNOWN = Profile()
_OVER = ("rate_limit_exceeded", "insufficient_quota")
_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}
_THOUGHTS = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")


def carries(part: MediaPart) -> bool:
    """Tell whether this API has a form for a part: pictures, files."""
    return isinstance(part, ImagePart) or (isinstance(part, ResourcePart) and part.blob is not None)


def responses_body(
    request: ChatRequest, *, model: str, tools: Sequence[JsonObject], profile: Profile = _NOTHING_KNOWN
) -> JsonObject:
    """Build the body of a streaming request, already prepared; nothing is kept at the endpoint."""
    body: JsonObject = {
        "model": model,
        "input": [
            item
            for position, message in enumerate(request.messages)
            for item in _items(message, f"rs_{position}", thinks=profile.takes_thoughts)
        ],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        **{name: request.extra[name] for name in _PASSED if name in request.extra},
    }
    if tools:
        body["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
        if isinstance(choice := request.tool_choice, dict):
            body["tool_choice"] = {"type": "function", "name": choice["function"]["name"]}
        elif choice is not None:
            body["tool_choice"] = choice
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if effort := effort_asked(request):
        body["reasoning"] = {"effort": effort, **({} if effort == "none" else {"summary": "auto"})}
    form, verbosity = _form(request), request.extra.get("verbosity")
    if form or verbosity:
        body["text"] = {"format": form or {"type": "text"}, **({"verbosity": verbosity} if verbosity else {})}
    if request.extra.get("logprobs"):
        body["include"].append("message.output_text.logprobs")
    for name in profile.refused_parameters - {"stream"}:
        body.pop(name, None)
    return body


def _form(request: ChatRequest) -> JsonObject | None:
    if request.response_schema is not None:
        return {"type": "json_schema", "name": "answer", "schema": request.response_schema, "strict": True}
    form = request.extra.get("response_format")
    match form:
        case {"type": "json_schema", "json_schema": dict(named)}:
            return {"type": "json_schema", **named}
        case {"type": "json_object"}:
            return {"type": "json_object"}
    return None


def _items(message: Message, own_id: str, *, thinks: bool) -> list[JsonObject]:
    if message.role == "tool":
        output = message.content if isinstance(message.content, str) else _parts(message.content, "input_text")
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": output}]
    if message.role != "assistant":
        content = message.content if isinstance(message.content, str) else _parts(message.content, "input_text")
        return [{"type": "message", "role": message.role, "content": content}]
    items = _thoughts(message, own_id, thinks=thinks)
    if message.text:
        items.append({"type": "message", "role": "assistant", "content": message.text})
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": encode(call.arguments).decode(),
        }
        for call in message.tool_calls
    ]
    return items


def _thoughts(message: Message, own_id: str, *, thinks: bool) -> list[JsonObject]:
    details = message.carried.get("reasoning_details")
    sealed: list[JsonObject] = [
        {"type": "reasoning", "id": one.get("id") or own_id, "summary": [], "encrypted_content": one["data"]}
        for one in (details if isinstance(details, list) else ())
        if isinstance(one, dict) and one.get("type") == "reasoning.encrypted" and one.get("data")
    ]
    if sealed and message.reasoning:
        sealed[0]["summary"] = [{"type": "summary_text", "text": message.reasoning}]
    elif message.reasoning and thinks:
        told = [{"type": "reasoning_text", "text": message.reasoning}]
        return [{"type": "reasoning", "id": own_id, "summary": [], "content": told}]
    return sealed


def _parts(content: tuple[ContentPart, ...], text_type: str) -> list[JsonObject]:
    return [_part(part, text_type) for part in content]


def _part(part: ContentPart, text_type: str) -> JsonObject:
    match part:
        case ImagePart(mime_type=mime_type, data=data, url=url, detail=detail):
            return {
                "type": "input_image",
                "image_url": url or f"data:{mime_type};base64,{data}",
                "detail": detail or "auto",
            }
        case ResourcePart(uri=uri, mime_type=mime_type, blob=str(blob)):
            return {"type": "input_file", "filename": uri, "file_data": f"data:{mime_type};base64,{blob}"}
    return {"type": text_type, "text": Message("user", (part,)).text}


class EventReader:
    """Reads the events of one stream."""

    def __init__(self, reader: AnswerReader, where: str) -> None:
        self.ended = False
        self._reader = reader
        self._where = where
        self._thought_in: tuple[Any, ...] = ()
        """The part of a thought that is open."""
        self._heard: set[int] = set()
        """Items of which something came: the others are read when they are whole."""

    def feed(self, event: Mapping[str, Any]) -> list[ChatEvent]:
        """Read one event; the last one gives the end.

        Raises:
            ModelError: the endpoint tells an error.
        """
        kind, index = str(event.get("type")), int(event.get("output_index") or 0)
        if kind.endswith(".delta"):
            self._heard.add(index)
        if kind == "response.output_text.delta":
            return self._said(event)
        if kind in _THOUGHTS:
            return self._thought(event)
        match kind:
            case "response.refusal.delta":
                return self._reader.refusal(str(event.get("delta") or ""))
            case "response.output_item.added" if (item := event.get("item") or {}).get("type") == "function_call":
                return self._reader.call_delta(index, str(item.get("call_id") or ""), str(item.get("name") or ""), "")
            case "response.function_call_arguments.delta":
                return self._reader.call_delta(index, "", "", str(event.get("delta") or ""))
            case "response.output_item.done":
                return self._done(index, event.get("item") or {})
            case "response.completed" | "response.incomplete":
                return self._end(event.get("response") or {})
            case "response.failed" | "error":
                told = event.get("response") or event
                error, said = told.get("error") or told, error_text(told)
                code = str(error.get("code"))
                status = 429 if code in _OVER else 400 if code.startswith("invalid_") else 500
                kind = classify(status, said, code)
                raise failure(kind, f"{self._where} failed: {said}", status=status, detail={"error": error})
        return []

    def whole(self, answer: JsonObject) -> list[ChatEvent]:
        """Read the response of an endpoint that does not stream.

        Raises:
            ModelError: it failed.
        """
        if answer.get("error"):
            return self.feed({"type": "error", **answer})
        return self._end({**answer, "output": answer["output"]})  # What has none is no response.

    def _item(self, index: int, item: Mapping[str, Any]) -> list[ChatEvent]:
        """Read an item of which nothing came before."""
        if item.get("type") == "function_call":
            call_id, name = str(item.get("call_id") or ""), str(item.get("name") or "")
            return self._reader.call_delta(index, call_id, name, str(item.get("arguments") or ""))
        events: list[ChatEvent] = []
        for position, part in enumerate((*(item.get("summary") or ()), *(item.get("content") or ()))):
            if part.get("type") == "refusal":
                events += self._reader.refusal(str(part.get("refusal") or ""))
            elif item.get("type") == "reasoning":
                place = {"output_index": index, "summary_index": position}
                events += self._thought({**place, "delta": part.get("text")})
            else:
                events += self._said({"delta": part.get("text"), "logprobs": part.get("logprobs")})
        return events

    def _thought(self, event: Mapping[str, Any]) -> list[ChatEvent]:
        """Read a piece of a thought; each part of it is a paragraph, as other APIs have them."""
        thought = str(event.get("delta") or "")
        if not thought:
            return []
        place = tuple(event.get(f"{name}_index") for name in ("output", "summary", "content"))
        before, self._thought_in = self._thought_in, place
        is_next = before[:1] == place[:1] and before != place
        return self._reader.reasoning(f"\n\n{thought}" if is_next else thought)

    def _said(self, event: Mapping[str, Any]) -> list[ChatEvent]:
        events = self._reader.text(str(event.get("delta") or ""))
        if told := event.get("logprobs"):
            events = [*events, Extra("choice", {"logprobs": {"content": told}})]
        return events

    def _done(self, index: int, item: Mapping[str, Any]) -> list[ChatEvent]:
        events = [] if index in self._heard else self._item(index, item)
        self._heard.add(index)
        if item.get("type") == "reasoning" and item.get("encrypted_content"):
            sealed = {"type": "reasoning.encrypted", "data": item["encrypted_content"], "id": item.get("id")}
            return [*events, Extra("message", {"reasoning_details": [sealed]})]
        if item.get("type") == "reasoning" and item.get("content"):
            self._reader.reasoning("", "reasoning")
        return events

    def _end(self, response: Mapping[str, Any]) -> list[ChatEvent]:
        self.ended = True
        events: list[ChatEvent] = []
        if not self._heard:  # It came at once, or the endpoint tells all of it at the end.
            events = [one for at, item in enumerate(response.get("output") or ()) for one in self._done(at, item)]
        why = (response.get("incomplete_details") or {}).get("reason")
        called = any(item.get("type") == "function_call" for item in response.get("output") or ())
        reason = _REASONS.get(str(why)) or ("tool_calls" if called else "stop")
        return events + self._reader.finish(reason, usage_of(response.get("usage") or {}))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Return the tokens by the names that the other wires have."""
    details: JsonObject = {}
    for theirs, ours in (("input", "prompt"), ("output", "completion")):
        if isinstance(found := usage.get(f"{theirs}_tokens_details"), dict):
            details[f"{ours}_tokens_details"] = found
    return Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")), details)
