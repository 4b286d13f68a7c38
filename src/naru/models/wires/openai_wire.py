"""OpenAI's chat completions as data: a request into its body, a chunk into a reader's calls. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naru.messages import (
    AudioPart,
    ChatEvent,
    ChatRequest,
    ContentPart,
    Extra,
    ForeignPart,
    ImagePart,
    JsonObject,
    Message,
    ResourcePart,
    TextPart,
    ToolCall,
    Usage,
)
from naru.models.answers.normalise import AnswerReader
from naru.models.asking.strategy import OF_OLLAMA
from naru.models.known.count import count
from naru.models.known.engines import takes_template_switch
from naru.models.known.profile import Profile
from naru.models.known.thinking import effort_asked
from naru.models.transport.failures import failure
from naru.models.transport.json_text import encode

_ANSWER_OWN = frozenset("id object created model choices usage error obfuscation".split())
"""Fields of an answer that Naru reads or makes itself; the last is padding against listeners."""
_CHOICE_OWN = frozenset({"index", "delta", "message", "finish_reason", "text", "usage"})
_MESSAGE_OWN = frozenset("role content reasoning_content reasoning refusal tool_calls function_call".split())
_CALL_OWN = frozenset({"index", "id", "type", "function", "custom"})
_BLANK_THOUGHT = " "
_COUNTS = frozenset({"prompt_tokens", "completion_tokens"})
_REASONS = {"model_length": "length", "max_tokens": "length"}
"""Mistral's word for a full context, and the one that gateways hand on from other APIs."""
_NO_ENDS = frozenset({"error", "abort", "insufficient_system_resource"})
"""OpenRouter's and Mistral's, SGLang's and vLLM's, DeepSeek's: the answer is not whole, and no limit was met."""


def request_body(request: ChatRequest, profile: Profile, *, model: str, tools: Sequence[JsonObject] = ()) -> JsonObject:
    """Build the body of a streaming request, already prepared; `extra` never overrides what Naru decides."""
    body: JsonObject = {
        **request.extra,
        "model": model,
        "messages": [message_object(message, profile) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if takes_template_switch(profile.schema_form) and (effort := effort_asked(request)):
        switch = {"enable_thinking": effort != "none"}
        body["chat_template_kwargs"] = switch | (request.extra.get("chat_template_kwargs") or {})
    if tools:
        body["tools"] = _without_strict(tools) if "strict" in profile.refused_parameters else list(tools)
        if request.tool_choice is not None:
            body["tool_choice"] = request.tool_choice
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[profile.max_tokens_field] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.grammar:
        body["grammar"] = request.grammar
    elif request.response_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": request.response_schema, "strict": True},
        }
    for name in profile.refused_parameters:
        body.pop(name, None)
    body.pop(OF_OLLAMA, None)
    if "stream" not in body:
        body.pop("stream_options", None)
    return body


def _without_strict(tools: Sequence[JsonObject]) -> list[JsonObject]:
    return [
        {**tool, "function": {key: value for key, value in tool["function"].items() if key != "strict"}}
        for tool in tools
    ]


def message_object(message: Message, profile: Profile) -> JsonObject:
    """Return a message in OpenAI's form; content is null only beside calls, and only where the profile says so."""
    shown: JsonObject = {"role": message.role}
    if message.role == "assistant":
        says_null = message.tool_calls and profile.empty_content == "null"
        shown["content"] = _content(message.content, profile) or (None if says_null else "")
        if message.tool_calls:
            shown["tool_calls"] = [_call_object(call, profile) for call in message.tool_calls]
        if message.reasoning or message.carried or profile.reasoning_needed:
            _put_thoughts(shown, message, profile)
        return shown
    if message.role == "tool":
        content = message.content if type(message.content) is str else _content(message.content, profile)
        return shown | {"tool_call_id": message.tool_call_id, "content": content}
    shown["content"] = _content(message.content, profile)
    if message.name:
        shown["name"] = message.name
    return shown


def _put_thoughts(shown: JsonObject, message: Message, profile: Profile) -> None:
    """Give an endpoint its reasoning back, in the field it came in."""
    refused = profile.refused_parameters
    shown |= {name: value for name, value in message.carried.items() if name not in refused}
    text, field = message.reasoning, profile.reasoning
    if profile.reasoning_needed and message.tool_calls:
        text = text or _BLANK_THOUGHT
        field = field if field not in ("", "none") else "reasoning_content"
    if not text or field in ("", "none"):
        return
    if field == "content":
        shown["content"] = f"<think>\n{text}\n</think>\n\n{message.text}"
    elif field == "parts":
        said = [{"type": "text", "text": message.text}] if message.text else []
        shown["content"] = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}, *said]
    elif field == "reasoning_details":
        shown.setdefault(field, [{"type": "reasoning.text", "text": text, "index": 0}])
    else:
        shown[field] = text


def _call_object(call: ToolCall, profile: Profile) -> JsonObject:
    arguments = encode(call.arguments).decode()
    shown = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    if not call.carried:
        return shown
    return shown | {name: value for name, value in call.carried.items() if name not in profile.refused_parameters}


def _content(content: str | tuple[ContentPart, ...], profile: Profile) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    if all(isinstance(part, TextPart) or (isinstance(part, ResourcePart) and part.blob is None) for part in content):
        return Message("user", content).text
    shows_detail = "detail" not in profile.refused_parameters
    return [_part_object(part, shows_detail=shows_detail) for part in content]


def _part_object(part: ContentPart, *, shows_detail: bool) -> JsonObject:
    match part:
        case ImagePart(mime_type=mime_type, data=data, url=url, detail=detail):
            image: JsonObject = {"url": url or f"data:{mime_type};base64,{data}"}
            return {"type": "image_url", "image_url": image | {"detail": detail} if detail and shows_detail else image}
        case AudioPart(mime_type=mime_type, data=data):
            return {"type": "input_audio", "input_audio": {"data": data, "format": mime_type.rpartition("/")[2]}}
        case ResourcePart(uri=uri, mime_type=mime_type, blob=str(blob)):
            return {"type": "file", "file": {"filename": uri, "file_data": f"data:{mime_type};base64,{blob}"}}
        case ForeignPart(raw=raw):
            return raw
        case _:
            return {"type": "text", "text": Message("user", (part,)).text}


def usage_of(chunk: JsonObject) -> Usage | None:
    """Return the tokens that a chunk or answer reports; Kimi reports a stream's in its last choice."""
    usage = chunk.get("usage")
    if not usage and (choice := first_choice(chunk.get("choices"))) is not None:
        usage = choice.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    details = {name: value for name, value in usage.items() if name not in _COUNTS and value is not None}
    if details.get("total_tokens") == prompt + completion:
        del details["total_tokens"]
    return Usage(prompt, completion, details)


def first_choice(choices: Any) -> JsonObject | None:
    """Return the first choice of a chunk or an answer, if it has the form of one."""
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def reason_of(said: Any, where: str) -> str | None:
    """Return OpenAI's word for a `finish_reason`.

    Raises:
        ModelError: the answer did not end, it broke off.
    """
    if not isinstance(said, str):
        return None
    if said.lower() in _NO_ENDS:
        raise failure("broken_off", f"{where} broke off its answer; its reason is {said!r}.")
    return _REASONS.get(said.lower(), said)


def added_by(choice: JsonObject) -> JsonObject | None:
    """Return what a choice adds: its `delta`, its `message`, or the `text` of an older form."""
    part = choice.get("delta") or choice.get("message")
    if isinstance(part, dict):
        return part
    text = part if isinstance(part, str) else choice.get("text")
    return {"content": text} if isinstance(text, str) and text else None


def extra_of(answer: JsonObject) -> JsonObject:
    """Return the fields at the top of an answer or a chunk that Naru does not read."""
    return {} if _ANSWER_OWN.issuperset(answer) else _others(answer, _ANSWER_OWN)


def choice_extra(choice: JsonObject) -> JsonObject:
    """Return the fields of a choice that Naru does not read, such as `logprobs`."""
    return {} if _CHOICE_OWN.issuperset(choice) else _others(choice, _CHOICE_OWN)


def _others(fields: JsonObject, own: frozenset[str]) -> JsonObject:
    return {name: value for name, value in fields.items() if name not in own and value is not None}


def read_choice(reader: AnswerReader, part: JsonObject) -> list[ChatEvent]:
    """Read the `delta` of a chunk, or the `message` of a whole answer."""
    events: list[ChatEvent] = _read_thoughts(reader, part)
    content = part.get("content")
    if isinstance(content, str):
        events += reader.text(content) if content else ()
    elif content:
        events += _read_parts(reader, content)
    if refusal := part.get("refusal"):
        events += reader.refusal(str(refusal))
    if not _MESSAGE_OWN.issuperset(part) and (extra := _others(part, _MESSAGE_OWN)):
        events.append(Extra("message", extra))
    if calls := part.get("tool_calls"):
        events += _read_calls(reader, calls)
    function = part.get("function_call")
    if isinstance(function, dict):
        events += reader.call_delta(0, "", str(function.get("name") or ""), function.get("arguments"))
    return events


def _read_thoughts(reader: AnswerReader, part: JsonObject) -> list[ChatEvent]:
    for name in ("reasoning_content", "reasoning"):
        text = part.get(name)
        if text and isinstance(text, str):
            return reader.reasoning(text, name)
    details = part.get("reasoning_details")
    if isinstance(details, list):  # MiniMax gives nothing beside them.
        texts = [entry.get("text") or entry.get("summary") for entry in details if isinstance(entry, dict)]
        if text := "".join(one for one in texts if isinstance(one, str)):
            return reader.reasoning(text, "reasoning_details")
    return []


def _read_calls(reader: AnswerReader, calls: Any) -> list[ChatEvent]:
    events: list[ChatEvent] = []
    begun: set[Any] = set()
    for call in [calls] if isinstance(calls, dict) else calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            events += _read_call(reader, call, begun)
    return events


def _read_call(reader: AnswerReader, call: JsonObject, begun: set[Any]) -> list[ChatEvent]:
    """Read a call, or a piece of one; two with a name in one list are never the same, whatever their index."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    index = call.get("index") if isinstance(call.get("index"), int) else None
    name = str(function.get("name") or "")
    is_new = bool(name) and index in begun
    if name:
        begun.add(index)
    carried = None if _CALL_OWN.issuperset(call) else _others(call, _CALL_OWN)
    return reader.call_delta(
        index,
        str(call.get("id") or ""),
        name,
        function.get("arguments"),
        carried=carried,
        is_new=is_new,
    )


def _read_parts(reader: AnswerReader, content: Any) -> list[ChatEvent]:
    """Read content in parts: Mistral's reasoning models think in some of them."""
    if not isinstance(content, list):
        return reader.text(str(content))
    events: list[ChatEvent] = []
    for part in content:
        if not isinstance(part, dict):
            continue
        thought = part.get("thinking")
        if thought:
            events += reader.reasoning(_joined(thought), "parts")
        elif text := part.get("text"):
            events += reader.text(str(text))
    return events


def _joined(thought: Any) -> str:
    if not isinstance(thought, list):
        return str(thought)
    return "".join(str(part.get("text") or "") for part in thought if isinstance(part, dict))
