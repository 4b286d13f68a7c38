"""Calls written as decoded JSON: which key holds the name, which the arguments, and what is no call at all."""

from __future__ import annotations

from collections.abc import Mapping

from naru.dialects.calls.offered import Offered, properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import encodable, parse_literal
from naru.dialects.texts.source import NotACall
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Found = tuple[str, dict[str, Any], str]
    """Name, arguments, id."""

_TOOL_KEYS = frozenset({"tool", "tool_name", "toolName", "function_name"})
"""Keys of a tool's name that say so: its arguments may lie beside them."""


def _in_any_case(*keys: str) -> frozenset[str]:
    return frozenset(written for key in keys for written in (key, key.capitalize(), key.upper()))


NAME_KEYS = _TOOL_KEYS | _in_any_case("name", "function", "func", "action", "recipient_name", "api_name", "tool")
ARGUMENT_KEYS = _in_any_case(
    "arguments", "argument", "parameters", "parameter", "args", "input", "inputs", "params", "kwargs", "tool_input",
    "action_input", "function_args", "tool_args", "tool_parameters",
) | {"actionInput"}  # fmt: skip
OUTCOME_KEYS = frozenset({
    "result", "results", "output", "outputs", "response", "observation", "error", "expected", "returned",
    "return_value", "status", "success", "took", "latency", "latency_ms", "duration", "duration_ms", "timestamp",
})  # fmt: skip
"""An unmarked object that has one of these tells of a call that was made."""
WRAPPER_KEYS = (
    "tool_calls",
    "tool_uses",
    "function_calls",
    "calls",
    "function_call",
    "functionCall",
    "tool_call",
    "function",
    "tool",
    "action",
    "command",
    "params",
)
"""What calls may stand under; the last is JSON-RPC's, in which MCP calls tools."""
_AROUND_CALLS = ("type", "role", "thought", "thoughts", "reasoning", "reason", "jsonrpc", "method")
_ID_KEYS = ("id", "tool_call_id", "call_id")


class NotOffered(NotACall):
    """A complete call of a tool that was not offered, or a complete object that is no call."""


def first_key_may_open_a_call(key: str, offered: Offered) -> bool:
    """Judge the first key of an unmarked JSON object, so that other JSON is not held back."""
    return (
        key in NAME_KEYS or key in ARGUMENT_KEYS or key in WRAPPER_KEYS or key in _ID_KEYS
        or key in _AROUND_CALLS or offered.find(key) is not None
    )  # fmt: skip


def call_id(fields: Mapping[str, Any]) -> str:
    """Return the id that the object carries before its arguments, or an empty string.

    One that comes later is left: the call was announced by then.
    """
    for key, value in fields.items():
        if key in ARGUMENT_KEYS:
            break
        if key in _ID_KEYS and isinstance(value, str | int):
            return str(value)
    return ""


def name_in(fields: Mapping[str, Any], offered: Offered) -> tuple[str | None, bool]:
    """Return the written tool name among the fields and whether that tool was offered."""
    for key, value in fields.items():
        if key in NAME_KEYS and isinstance(value, str):
            return value, offered.find(value) is not None
    return None, False


def calls_in(value: Any, offered: Offered, *, marked: bool, depth: int = 0) -> list[Found]:
    """Return the calls that a decoded JSON value stands for.

    Args:
        value: What was decoded.
        offered: The tools.
        marked: Whether a marker said that a call follows; then arguments may be missing or lie beside the name.
        depth: How deep the value lies in wrappers.

    Raises:
        NotOffered: It stands for none.
    """
    if isinstance(value, list) and depth < 4:
        return [call for item in value for call in calls_in(item, offered, marked=marked, depth=depth + 1)]
    if not isinstance(value, dict) or depth > 4:
        raise NotOffered
    name, known = name_in(value, offered)
    if name is not None:
        if not known or (not marked and any(key in OUTCOME_KEYS for key in value)):
            raise NotOffered
        return [_named(name, value, offered, marked=marked)]
    for key in WRAPPER_KEYS:
        if isinstance(value.get(key), dict | list) and value[key]:
            inner = value[key]
            if isinstance(inner, dict) and "id" in value and "id" not in inner:
                inner = {**inner, "id": value["id"]}
            return calls_in(inner, offered, marked=marked, depth=depth + 1)
    return _keyed_by_name(value, offered, marked=marked)


def _keyed_by_name(value: dict[str, Any], offered: Offered, *, marked: bool) -> list[Found]:
    """Read `{"tool": {arguments}}`; without a marker only if all that is in there are arguments of the tool."""
    for key, item in value.items():
        tool = offered.find(key)
        if tool is None or not isinstance(item, dict):
            raise NotOffered
        if not marked and not _are_arguments(item, tool):
            raise NotOffered
    if not value:
        raise NotOffered
    return [(key, item, "") for key, item in value.items()]


def _are_arguments(item: dict[str, Any], tool: Tool) -> bool:
    return all(name in tool.properties for name in item) if item else not tool.properties


def _named(name: str, fields: dict[str, Any], offered: Offered, *, marked: bool) -> Found:
    tool = offered.find(name)
    assert tool is not None
    described = False
    for key, value in fields.items():
        described = described or key == "description"
        if key in ARGUMENT_KEYS:
            if described and key == "parameters":
                raise NotOffered
            return name, arguments_from(value, tool), call_id(fields)
    if not marked and (_TOOL_KEYS.isdisjoint(fields) or len(fields) < 2):  # noqa: PLR2004 - the name and one more
        raise NotOffered
    return name, _beside_the_name(fields, tool), call_id(fields)


def _beside_the_name(fields: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Read arguments that lie next to the name instead of under a key of their own."""
    known = properties_of(tool)
    rest = {key: value for key, value in fields.items() if key not in NAME_KEYS and key not in (*_ID_KEYS, "type")}
    if any(key not in known for key in rest) or any(key not in rest for key in required_of(tool)):
        raise NotOffered
    return rest


def arguments_from(value: Any, tool: Tool) -> dict[str, Any]:
    """Return arguments that came as an object, as its JSON text, as nothing, or as the tool's only text.

    Raises:
        NotOffered: They came as something else.
    """
    if isinstance(value, dict):
        return value
    if value is None or value == "" or value == []:
        return {}
    if isinstance(value, str):
        if value.lstrip()[:1] == "{":
            try:
                decoded = parse_literal(value)
            except ValueError as error:
                raise NotOffered from error
            if isinstance(decoded, dict):
                return decoded
        return _only_text(value, tool)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return value[0]
    raise NotOffered


def _only_text(value: str, tool: Tool) -> dict[str, Any]:
    names = required_of(tool) or properties_of(tool)
    if len(names) != 1:
        raise NotOffered
    return {names[0]: encodable(value)}


def write_calls(value: Any, writer: CallWriter, offset: int, *, marked: bool) -> None:
    """Write every call that a decoded JSON value stands for.

    Raises:
        NotOffered: It stands for none.
    """
    for name, arguments, identifier in calls_in(value, writer.offered, marked=marked):
        writer.start(name, identifier)
        writer.whole(arguments)
        writer.end(offset)
