"""Reads the turns of a chat request; ids, arguments and results are put in order on the way (LESSONS 21).

Nothing here is ever executed: calls in a history are what a client says was called (SECURITY S-43).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from naru.messages import AudioPart, ImagePart, Message, Part, ResourcePart, Role, TextPart, ToolCall
from naru.models.json_text import encode, mended
from naru.web.openai_wire import BadRequestError

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "model": "assistant",
}
_DECODER = json.JSONDecoder(strict=False)
NOT_RUN = "(no result: this call was not run)"
"""Stands where a client's history holds a call without its result; strict endpoints refuse such a gap."""


@dataclass(slots=True)
class _Open:
    """The calls of the last assistant turn, and the results that followed it, until the results end."""

    calls: list[tuple[str, ToolCall]] = field(default_factory=list)
    """With the id that the client holds: clients hold repeated ids, and none."""
    results: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    """With the place in the request."""

    def close(self) -> list[Message]:
        """Return a turn for each result and each call that has none, and forget both."""
        found = self._by_id()
        left = [position for position in range(len(self.results)) if position not in found]
        for position in left:
            if (name := _name(self.results[position][0])) and (call := self._only_one(name)) is not None:
                found[position] = call
        left = [position for position in left if position not in found]
        if len(left) == len(self.calls):  # In the order of the calls, whatever the ids are.
            found |= {position: call for position, (_, call) in zip(left, self.calls, strict=True)}
            self.calls.clear()
        turns = [self._result(position, found[position]) for position in sorted(found)]
        turns += [Message("tool", NOT_RUN, tool_call_id=call.id, name=call.name) for _, call in self.calls]
        turns += [self._stray(position) for position in left if position not in found]
        self.calls.clear()
        self.results.clear()
        return turns

    def _by_id(self) -> dict[int, ToolCall]:
        found: dict[int, ToolCall] = {}
        for position, (item, _) in enumerate(self.results):
            sent_id = _text(item.get("tool_call_id"))
            match = next((one for one in self.calls if sent_id and one[0] == sent_id), None)
            if match is not None:
                self.calls.remove(match)
                found[position] = match[1]
        return found

    def _only_one(self, name: str) -> ToolCall | None:
        named = [one for one in self.calls if one[1].name == name]
        if len(named) != 1:
            return None
        self.calls.remove(named[0])
        return named[0][1]

    def _result(self, position: int, call: ToolCall) -> Message:
        item, where = self.results[position]
        return Message("tool", _content(item.get("content"), where), tool_call_id=call.id, name=call.name)

    def _stray(self, position: int) -> Message:
        """Keep a result whose call nobody knows any more: the client has cut the turn that asked (LESSONS 21)."""
        item, where = self.results[position]
        sent_id = _text(item.get("tool_call_id"))
        if not sent_id and self.calls:
            count = len(self.calls)
            raise BadRequestError(f"{where} has no tool_call_id, and {count} calls wait for their result.", param=where)
        content, label = _content(item.get("content"), where), _name(item) or sent_id
        text = content if isinstance(content, str) else Message("user", content).text
        return Message("user", f"[Tool Result: {label}]\n{text}" if label else f"[Tool Result]\n{text}")


def read_messages(raw: Any) -> tuple[Message, ...]:
    """Read the turns.

    Raises:
        BadRequestError: a turn cannot be taken; the message names it as `messages[i]`.
    """
    if not isinstance(raw, list) or not raw:
        raise BadRequestError("messages must be a list with at least one turn.", param="messages")
    turns: list[Message] = []
    used: set[str] = set()
    waiting = _Open()
    for position, item in enumerate(raw):
        where = f"messages[{position}]"
        if not isinstance(item, dict):
            raise BadRequestError(f"{where} must be an object, not {type(item).__name__}.", param=where)
        named = item.get("role", "user")
        role = _ROLES.get(named) or _ROLES.get(named.lower()) if isinstance(named, str) else None
        if role is None:
            raise BadRequestError(f"{where}.role {item.get('role')!r} is not known.", param=where)
        if role == "tool":
            waiting.results.append((item, where))
            continue
        if waiting.calls or waiting.results:
            turns += waiting.close()
        if role == "assistant":
            turn = _assistant_turn(item, _Ids(position, used), waiting, where)
        else:
            content = item.get("content")
            if type(content) is not str:
                content = _content(content, where)
            turn = Message(role, content, name=_text(item["name"])) if "name" in item else Message(role, content)
        turns.append(turn)
    if waiting.calls or waiting.results:
        turns += waiting.close()
    return tuple(turns)


def _name(item: Mapping[str, Any]) -> str:
    return _text(item.get("name") or item.get("tool_name"))  # The second is Ollama's.


@dataclass(frozen=True, slots=True)
class _Ids:
    """Makes ids for one turn's calls: the same for the same history, so that an engine's prompt cache holds."""

    position: int
    used: set[str]

    def unique(self, sent: str, index: int) -> str:
        """Return the id that the client holds, or another if it has none or repeats one."""
        chosen = sent
        while not chosen or chosen in self.used:
            chosen = f"{self.position:04d}c{index:04d}"
            index += 1000
        self.used.add(chosen)
        return chosen


def _assistant_turn(item: Mapping[str, Any], ids: _Ids, waiting: _Open, where: str) -> Message:
    calls: list[ToolCall] = []
    raw_calls = item.get("tool_calls") or []
    if isinstance(item.get("function_call"), dict) and not raw_calls:
        raw_calls = [{"id": "", "function": item["function_call"]}]
    if not isinstance(raw_calls, list):
        raise BadRequestError(f"{where}.tool_calls must be a list.", param=where)
    for position, raw in enumerate(raw_calls):
        sent_id, call = _call(raw, f"{where}.tool_calls[{position}]")
        call = replace(call, id=ids.unique(sent_id, position))
        calls.append(call)
        waiting.calls.append((sent_id, call))
    reasoning = _text(item.get("reasoning_content")) or _text(item.get("reasoning"))
    content = _content(item.get("content"), where) or _text(item.get("refusal"))
    return Message("assistant", content, reasoning=reasoning, tool_calls=tuple(calls))


def _call(raw: Any, where: str) -> tuple[str, ToolCall]:
    function = raw.get("function", raw) if isinstance(raw, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(raw, dict) or not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise BadRequestError(f"{where} has no function name.", param=where)
    sent_id = _text(raw.get("id"))
    return sent_id, ToolCall(sent_id, name, read_arguments(function.get("arguments")))


def read_arguments(raw: Any) -> dict[str, Any]:
    """Read `function.arguments` of a history: an object, JSON text, several glued together (the first counts)."""
    if isinstance(raw, dict):
        return raw
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(raw, str):
        return {"arguments": raw}
    try:
        value, _ = _DECODER.raw_decode(raw.strip())
        if isinstance(value, str):
            value = _DECODER.decode(value)
        value = mended(value) if "\\u" in raw else value
    except (ValueError, RecursionError):
        return {"arguments": raw}
    return value if isinstance(value, dict) else {"arguments": value}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)


def _content(value: Any, where: str) -> str | tuple[Part, ...]:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "type" not in value:
        return encode(value).decode()
    items = value if isinstance(value, list) else [value]
    parts = [_part(item, f"{where}.content[{position}]") for position, item in enumerate(items)]
    if all(isinstance(part, TextPart) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))
    return tuple(parts)


def _part(item: Any, where: str) -> Part:
    if isinstance(item, str):
        return TextPart(item)
    if not isinstance(item, dict):
        raise BadRequestError(f"{where} must be a content part, not {type(item).__name__}.", param=where)
    kind = item.get("type", "text")
    match kind:
        case "text" | "input_text" | "output_text":
            return TextPart(_text(item.get("text")))
        case "refusal":
            return TextPart(_text(item.get("refusal")))
        case "image_url" | "input_image":
            return _image(item.get("image_url"), item.get("detail"), where)
        case "input_audio":
            audio = item.get("input_audio")
            if isinstance(audio, dict) and isinstance(audio.get("data"), str):
                return AudioPart(f"audio/{audio.get('format', 'wav')}", audio["data"])
        case "file":
            file = item.get("file")
            if isinstance(file, dict):
                name = _text(file.get("filename") or file.get("file_id") or "file")
                return ResourcePart(name, blob=file.get("file_data") or None)
    raise BadRequestError(f"{where} of type {kind!r} cannot be read.", param=where)


def _image(value: Any, detail: Any, where: str) -> ImagePart:
    if isinstance(value, dict):
        value, detail = value.get("url"), value.get("detail", detail)
    url, looked = value, detail if isinstance(detail, str) else ""
    if not isinstance(url, str):
        raise BadRequestError(f"{where}.image_url has no url.", param=where)
    if url.startswith("data:") and ";base64," in url:
        head, data = url.split(";base64,", 1)
        return ImagePart(head.removeprefix("data:"), data=data, detail=looked)
    return ImagePart("", url=url, detail=looked)
