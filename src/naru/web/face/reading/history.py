"""Reads the turns of a chat request; ids, arguments and results are put in order on the way.

Nothing here is ever executed: calls in a history are what a client says was called (SECURITY S-43).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from naru.messages import CARRIED, JsonObject, Message, Role, ToolCall
from naru.models.transport.json_text import mended
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.foreign import chat_items
from naru.web.face.reading.parts import cache_of, content_of, text_of

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "model": "assistant",
    "human": "user",
    "ai": "assistant",
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
            sent_id = text_of(item.get("tool_call_id"))
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
        content, cache = content_of(item.get("content"), where, is_result=True), cache_of(item)
        if cache is None and not isinstance(content, str):
            cache = next(filter(None, (getattr(part, "cache", None) for part in content)), None)
        return Message("tool", content, tool_call_id=call.id, name=call.name, cache=cache)

    def _stray(self, position: int) -> Message:
        """Keep a result whose call nobody knows any more: the client has cut the turn that asked."""
        item, where = self.results[position]
        sent_id = text_of(item.get("tool_call_id"))
        if not sent_id and self.calls:
            count = len(self.calls)
            raise BadRequestError(f"{where} has no tool_call_id, and {count} calls wait for their result.", param=where)
        content, label = content_of(item.get("content"), where, is_result=True), _name(item) or sent_id
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
    for position, item in chat_items(raw):
        where = f"messages[{position}]"
        named = item.get("role")
        role = _ROLES.get(named) or _ROLES.get(named.lower()) if isinstance(named, str) else None
        if role is None:
            # Whose words they are is not guessed: a system's or a model's would count as the person's.
            said = f"{where}.role {named!r} is not known." if named is not None else f"{where} has no role."
            raise BadRequestError(said, param=where)
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
                content = content_of(content, where)
            turn = Message(role, content, name=text_of(item["name"])) if "name" in item else Message(role, content)
        turns.append(turn)
    if waiting.calls or waiting.results:
        turns += waiting.close()
    return tuple(turns)


def _name(item: Mapping[str, Any]) -> str:
    return text_of(item.get("name") or item.get("tool_name"))  # The second is Ollama's.


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
    if isinstance(raw_calls, dict):
        raw_calls = [raw_calls]
    if not isinstance(raw_calls, list):
        raise BadRequestError(f"{where}.tool_calls must be a list.", param=where)
    for position, raw in enumerate(raw_calls):
        sent_id, call = _call(raw, f"{where}.tool_calls[{position}]")
        call = replace(call, id=ids.unique(sent_id, position))
        calls.append(call)
        waiting.calls.append((sent_id, call))
    reasoning = text_of(item.get("reasoning_content")) or text_of(item.get("reasoning"))
    content = content_of(item.get("content"), where) or text_of(item.get("refusal"))
    carried = _carried(item)
    if isinstance(audio := item.get("audio"), dict) and audio.get("id"):
        carried["audio"] = {"id": audio["id"]}  # What was spoken is kept at the endpoint, under this id.
    cache = cache_of(item) if calls else None
    return Message("assistant", content, reasoning=reasoning, carried=carried, tool_calls=tuple(calls), cache=cache)


def _call(raw: Any, where: str) -> tuple[str, ToolCall]:
    function = raw.get("function", raw) if isinstance(raw, dict) else None
    if isinstance(raw, dict) and isinstance(custom := raw.get("custom"), dict):  # A tool that takes plain text.
        function = {"name": custom.get("name"), "arguments": {"input": custom.get("input")}}
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(raw, dict) or not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise BadRequestError(f"{where} has no function name.", param=where)
    sent_id = text_of(raw.get("id"))
    return sent_id, ToolCall(sent_id, name, read_arguments(function.get("arguments")), _carried(raw))


def _carried(item: Mapping[str, Any]) -> JsonObject:
    """Return what the endpoint that wrote a turn or a call wants back beside it."""
    return {name: item[name] for name in CARRIED & item.keys() if item[name]}


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
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"arguments": value}
