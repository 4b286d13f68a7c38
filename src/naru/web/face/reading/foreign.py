"""Turns that clients hold from other APIs, in the form of chat completions: Anthropic's blocks, the Responses' items.

Clients that speak to several providers keep one history, and send it to each of them as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from naru.models.transport.json_text import encode
from naru.tools.names import exposed_name
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.parts import text_of

Item = Mapping[str, Any]
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
_CALLS = ("tool_use", "mcp_tool_use", "server_tool_use")
_RESULT = "tool_result"
"""With it the type of every result ends; of tools that Anthropic's servers run it begins with the tool's name."""
_OF_PARTS = ("tool_result", "mcp_tool_result")
"""Results whose content is one of a turn; others have fields of their own."""
_SEALED = "encrypted"
"""With it the name of a field begins that only those servers read."""


def chat_items(raw: Sequence[Any]) -> Iterator[tuple[int, Item]]:
    """Give each turn in the form of chat completions, with its place in the request.

    Raises:
        BadRequestError: one is no turn; the message names it.
    """
    calls: list[Item] = []
    """Of items that follow each other: one turn."""
    for position, item in enumerate(raw):
        if not isinstance(item, dict):
            where = f"messages[{position}]"
            raise BadRequestError(f"{where} must be an object, not {type(item).__name__}.", param=where)
        kind = item.get("type") if "role" not in item else None
        if kind == "function_call":
            calls.append(_call(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments")))
            continue
        if kind == "reasoning":
            continue
        if calls:
            yield position - 1, {"role": "assistant", "tool_calls": calls}
            calls = []
        if kind == "function_call_output":
            yield position, {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
        elif "role" not in item and "content" not in item:
            where = f"messages[{position}]"
            raise BadRequestError(f"{where} has neither a role nor content.", param=where)
        elif type(content := item.get("content")) is list and any(map(_is_block, content)):
            for turn in _from_blocks(item, content):
                yield position, turn
        else:
            yield position, item
    if calls:
        yield len(raw) - 1, {"role": "assistant", "tool_calls": calls}


def _is_block(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind in _THOUGHTS or kind in _CALLS or _is_result(kind)


def _is_result(kind: Any) -> bool:
    return isinstance(kind, str) and kind.endswith(_RESULT)


def _from_blocks(item: Item, content: Sequence[Any]) -> Iterator[Item]:
    """Give a turn's results as turns of their own, before what else it says.

    What was called at the provider stands, with its results, within the assistant's turn, and words follow it there.
    """
    said: list[Any] = []
    for part in content:
        if not _is_block(part) or not _is_result(part["type"]):
            said.append(part)
            continue
        if item.get("role") == "assistant":
            yield from _said(item, said)
            said = []
        cached = part.get("cache_control")
        yield {
            "role": "tool",
            "tool_call_id": part.get("tool_use_id"),
            "content": _outcome(part),
            "cache_control": cached,
        }
    yield from _said(item, said)


def _outcome(part: Item) -> Any:
    """Return what a call gave; that it failed is said in words, as chat completions have no field for it."""
    content = part.get("content")
    if part["type"] not in _OF_PARTS:
        return encode(_readable(content)).decode()
    if part.get("is_error") is not True:
        return content
    if isinstance(content, str):
        return content if content.lower().startswith("error") else f"Error: {content}"
    return [{"type": "text", "text": "Error:"}, *(content if isinstance(content, list) else ())]


def _readable(value: Any) -> Any:
    if isinstance(value, list):
        return [_readable(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: _readable(one) for name, one in value.items() if not name.startswith(_SEALED)}


def _said(item: Item, content: Sequence[Any]) -> Iterator[Item]:
    """Give what a turn says, thinks and calls."""
    blocks = [part for part in content if _is_block(part)]
    rest = [part for part in content if not _is_block(part)]
    calls = [_call(part.get("id"), _called(part), part.get("input")) for part in blocks if part["type"] in _CALLS]
    thoughts = [text_of(part.get("thinking") or part.get("text")) for part in blocks if part["type"] in _THOUGHTS]
    if rest or calls or thoughts:
        turn = {**item, "content": rest}
        if calls:
            turn["tool_calls"] = [*(item.get("tool_calls") or ()), *calls]
            turn["cache_control"] = next(filter(None, (part.get("cache_control") for part in blocks)), None)
        if any(thoughts):
            turn["reasoning_content"] = "\n".join(filter(None, thoughts))
        signed = [part for part in blocks if part.get("signature") or part["type"] == "redacted_thinking"]
        if signed:  # Whoever signed them wants all of them back, as they were.
            turn["thinking_blocks"] = [part for part in blocks if part["type"] in _THOUGHTS]
        yield turn


def _called(part: Item) -> Any:
    server, name = part.get("server_name"), part.get("name")
    return exposed_name(server, name) if isinstance(server, str) and server and isinstance(name, str) else name


def _call(call_id: Any, name: Any, arguments: Any) -> Item:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
