"""OpenAI's chat completions as data: a request into its body, a chunk into a reader's calls. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naru.messages import (
    AudioPart,
    ChatEvent,
    ChatRequest,
    ImagePart,
    JsonObject,
    Message,
    Part,
    ToolCall,
    Usage,
)
from naru.models.json_text import encode
from naru.models.normalise import AnswerReader
from naru.models.profile import Profile


def request_body(request: ChatRequest, profile: Profile, *, model: str, tools: Sequence[JsonObject] = ()) -> JsonObject:
    """Build the body of a streaming request, already prepared; `extra` never overrides what Naru decides."""
    body: JsonObject = {
        **request.extra,
        "model": model,
        "messages": [message_object(message, profile) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
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
            shown["tool_calls"] = [_call_object(call) for call in message.tool_calls]
        return shown
    if message.role == "tool":
        return shown | {"tool_call_id": message.tool_call_id, "content": message.text}
    shown["content"] = _content(message.content, profile)
    if message.name:
        shown["name"] = message.name
    return shown


def _call_object(call: ToolCall) -> JsonObject:
    arguments = encode(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _content(content: str | tuple[Part, ...], profile: Profile) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    if not any(isinstance(part, ImagePart | AudioPart) for part in content):
        return Message("user", content).text
    shows_detail = "detail" not in profile.refused_parameters
    return [_part_object(part, shows_detail=shows_detail) for part in content]


def _part_object(part: Part, *, shows_detail: bool) -> JsonObject:
    match part:
        case ImagePart(mime_type=mime_type, data=data, url=url, detail=detail):
            image: JsonObject = {"url": url or f"data:{mime_type};base64,{data}"}
            return {"type": "image_url", "image_url": image | {"detail": detail} if detail and shows_detail else image}
        case AudioPart(mime_type=mime_type, data=data):
            return {"type": "input_audio", "input_audio": {"data": data, "format": mime_type.rpartition("/")[2]}}
        case _:
            return {"type": "text", "text": Message("user", (part,)).text}


def usage_of(chunk: JsonObject) -> Usage | None:
    """Return the tokens that a chunk or answer reports."""
    usage = chunk.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int:
    try:
        return max(0, int(value or 0))
    except (TypeError, ValueError, OverflowError):
        return 0


def first_choice(choices: Any) -> JsonObject | None:
    """Return the first choice of a chunk or an answer, if it has the form of one."""
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def added_by(choice: JsonObject) -> JsonObject | None:
    """Return what a choice adds: its `delta`, its `message`, or the `text` of an older form."""
    part = choice.get("delta") or choice.get("message")
    if isinstance(part, dict):
        return part
    text = part if isinstance(part, str) else choice.get("text")
    return {"content": text} if isinstance(text, str) and text else None


def read_choice(reader: AnswerReader, part: JsonObject) -> list[ChatEvent]:
    """Read the `delta` of a chunk, or the `message` of a whole answer."""
    events: list[ChatEvent] = []
    reasoning = part.get("reasoning_content") or part.get("reasoning")
    if reasoning and isinstance(reasoning, str):
        events += reader.reasoning(reasoning)
    content = part.get("content")
    if isinstance(content, str):
        events += reader.text(content) if content else ()
    elif content:
        events += _read_parts(reader, content)
    if refusal := part.get("refusal"):
        events += reader.text(str(refusal))
    calls = part.get("tool_calls") or ()
    for call in [calls] if isinstance(calls, dict) else calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            events += _read_call(reader, call)
    function = part.get("function_call")
    if isinstance(function, dict):
        events += reader.call_delta(0, "", str(function.get("name") or ""), function.get("arguments"))
    return events


def _read_call(reader: AnswerReader, call: JsonObject) -> list[ChatEvent]:
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    index = call.get("index")
    return reader.call_delta(
        index if isinstance(index, int) else None,
        str(call.get("id") or ""),
        str(function.get("name") or ""),
        function.get("arguments"),
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
            events += reader.reasoning(_joined(thought))
        elif text := part.get("text"):
            events += reader.text(str(text))
    return events


def _joined(thought: Any) -> str:
    if not isinstance(thought, list):
        return str(thought)
    return "".join(str(part.get("text") or "") for part in thought if isinstance(part, dict))
