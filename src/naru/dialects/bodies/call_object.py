"""Calls written as decoded JSON: which key holds the name, which the arguments, and what is no call at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

from naru.dialects.bodies.pythonic import keyword_arguments
from naru.dialects.calls.keys import (
    are_arguments,
    begins_as_members,
    is_around_calls,
    names_tool,
    role_of,
    says_call,
    unwrapped,
)
from naru.dialects.calls.offered import Offered, properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import encodable, parse_literal
from naru.dialects.texts.source import NotACall
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Found = tuple[str, dict[str, Any], str, dict[str, Any]]
    """Name, arguments, id, and the arguments that stand beside the others."""

_MAY_NAME = ("command", "method")
"""Keys under which other things than tools may be named."""


class NotOffered(NotACall):
    """A complete call of a tool that was not offered, or a complete object that is no call."""


def call_id(fields: Mapping[str, Any]) -> str:
    """Return the id that the object carries before its arguments, or an empty string.

    One that comes later is left: the call was announced by then.
    """
    for key, value in fields.items():
        role = role_of(key)
        if role == "arguments":
            break
        if role == "id" and isinstance(value, str | int):
            return str(value)
    return ""


def name_in(fields: Mapping[str, Any], offered: Offered) -> tuple[str, str]:
    """Return the name of the tool that the fields call, and its key.

    The name is empty where that tool was not offered, the key as well where the fields name none.
    """
    for key, value in fields.items():
        if isinstance(value, str) and role_of(key) == "name":
            if offered.find(value) is not None:
                return value, key
            if not says_call(value) and key not in _MAY_NAME:
                return "", key
    return "", ""


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
    if not marked and any(role_of(key) == "outcome" for key in value):
        raise NotOffered
    name, name_key = name_in(value, offered)
    if name:
        return [_named(name, name_key, value, offered, marked=marked)]
    if name_key:
        raise NotOffered
    for key, inner in value.items():
        if isinstance(inner, dict | list) and inner and is_around_calls(key):
            if isinstance(inner, dict) and "id" in value and "id" not in inner:
                inner = {**inner, "id": value["id"]}
            return calls_in(inner, offered, marked=marked, depth=depth + 1)
    return _keyed_by_name(value, offered, marked=marked)


def _keyed_by_name(value: dict[str, Any], offered: Offered, *, marked: bool) -> list[Found]:
    """Read `{"tool": {arguments}}`; without a marker only if all that is in there are arguments of the tool."""
    found: list[Found] = []
    for key, item in value.items():
        tool = offered.find(key)
        if tool is None or not isinstance(item, dict):
            raise NotOffered
        arguments = unwrapped(item, tool)
        if not marked and any(name not in tool.properties for name in arguments):
            raise NotOffered
        if not marked and not arguments and tool.properties:
            raise NotOffered
        found.append((key, arguments, "", {}))
    if not found:
        raise NotOffered
    return found


def _named(name: str, name_key: str, fields: dict[str, Any], offered: Offered, *, marked: bool) -> Found:
    tool = offered.find(name)
    assert tool is not None
    described = False
    for key, value in fields.items():
        described = described or key == "description"
        if key != name_key and role_of(key) == "arguments":
            if described and key == "parameters":
                raise NotOffered
            return name, arguments_from(value, tool), call_id(fields), beside_arguments(fields, tool)
    fitting = [value for key, value in fields.items() if role_of(key) != "outcome" and are_arguments(value, tool)]
    if len(fitting) == 1:
        return name, fitting[0], call_id(fields), {}
    if not marked and (not names_tool(name_key) or len(fields) < 2):  # noqa: PLR2004 - the name and one more
        raise NotOffered
    return name, _beside_the_name(fields, name_key, tool), call_id(fields), {}


def beside_arguments(fields: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    """Return the fields of a call's object that bear an argument's name, and are none of its own fields."""
    return {
        key: value
        for key, value in fields.items()
        if key in tool.properties
        and key != "type"
        and value is not None
        and (not role_of(key) or (role_of(key) == "name" and key in required_of(tool) and value != tool.name))
    }


def _beside_the_name(fields: dict[str, Any], name_key: str, tool: Tool) -> dict[str, Any]:
    """Read arguments that lie next to the name instead of under a key of their own."""
    rest = {
        key: value
        for key, value in fields.items()
        if key != name_key and (key in tool.properties or (key != "type" and role_of(key) not in ("name", "id")))
    }
    if any(key not in tool.properties for key in rest) or any(key not in rest for key in required_of(tool)):
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
        if begins_as_members(value, tool):
            raise NotOffered
        return keyword_arguments(value, tool) or _only_text(value, tool)
    if isinstance(value, list):
        return _from_list(value, tool)
    raise NotOffered


def _from_list(values: list[Any], tool: Tool) -> dict[str, Any]:
    """Read arguments that came as a list: of the one object, of names with their values, or in their order."""
    if len(values) == 1 and isinstance(values[0], dict) and set(values[0]) != {"name", "value"}:
        return values[0]
    if all(isinstance(item, dict) and set(item) == {"name", "value"} for item in values):
        found = {str(item["name"]): item["value"] for item in values}
    elif all(isinstance(item, list) and len(item) == 2 and item[0] in tool.properties for item in values):  # noqa: PLR2004
        found = {str(name): value for name, value in values}
    elif any(isinstance(item, dict) or item in tool.properties for item in values if not isinstance(item, list)):
        raise NotOffered  # such as the names of what it takes
    else:
        found = dict(zip(properties_of(tool), values, strict=False))
    if len(found) < len(values) or not are_arguments(found, tool):
        raise NotOffered
    return found


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
    found = calls_in(value, writer.offered, marked=marked)
    if not found:
        raise NotOffered  # a list of empty lists
    for name, arguments, identifier, beside in found:
        writer.start(name, identifier)
        writer.whole(arguments)
        writer.add(beside)
        writer.end(offset)


def name_remarks(fields: Mapping[str, Any], writer: CallWriter, *, with_arguments: bool = False) -> None:
    """Report what the object of the last call says besides it: texts, and arguments that stand beside the others.

    `with_arguments` says that it has a field for the arguments which is not among `fields`.
    """
    has_arguments = with_arguments or any(role_of(key) == "arguments" for key in fields)
    if len(fields) + with_arguments <= 1 + has_arguments:  # the name and the arguments, or calls under a key
        return
    tool = writer.offered.find(writer.calls[-1].name)
    assert tool is not None
    for key, value in fields.items():
        if key in tool.properties:
            says_more = has_arguments and key not in writer.beside
        elif not isinstance(value, str) or not value.strip() or key == "type" or is_around_calls(key):
            says_more = False
        else:
            role = role_of(key)
            says_more = role in ("", "outcome") or (role == "name" and writer.offered.find(value) is None)
        if says_more:
            writer.leave_out(f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
