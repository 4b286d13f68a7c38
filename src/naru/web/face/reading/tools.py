"""Reads the tools that a chat request offers, and which of them it wants called, in every form that clients write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naru.messages import JsonObject, ToolDefinition
from naru.models.transport.json_text import encode
from naru.tools.names import exposed_name
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import Kinds, check_kinds
from naru.web.face.reading.parts import cache_of, text_of
from naru.web.face.seam import Pick

_KINDS: Kinds = {
    **dict.fromkeys(("parameters", "input_schema"), (dict,)),
    "description": (str,),
    "strict": (bool,),
}
_WORDS = {"auto": "auto", "none": "none", "required": "required", "any": "required"}
"""What a choice may say instead of a tool's name; `any` is Mistral's and Anthropic's word."""


def read_tools(body: JsonObject) -> tuple[ToolDefinition, ...]:
    """Read `tools`, or the older `functions`; a tool that is there twice is one.

    Raises:
        BadRequestError: one is no function, or two differ under one name; the message names the place.
    """
    raw, older = body.get("tools"), body.get("functions")
    if raw is None and older is not None:
        raw = [{"type": "function", "function": function} for function in _list(older, "functions")]
    tools: dict[str, ToolDefinition] = {}
    for position, item in enumerate(_list([] if raw is None else raw, "tools")):
        tool = _tool(item, f"tools[{position}]")
        if tools.setdefault(tool.name, tool) != tool:
            where = f"tools[{position}]"
            raise BadRequestError(f"{where} repeats the name {tool.name!r} with another definition.", param=where)
    return tuple(tools.values())


_INPUT: JsonObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def free_form(custom: JsonObject) -> JsonObject:
    """Return a tool that takes plain text, OpenAI's `custom`, as a function: other APIs have none of that kind."""
    said = text_of(custom.get("description"))
    form = custom.get("format")
    if isinstance(form, dict):
        grammar = form["grammar"] if isinstance(form.get("grammar"), dict) else form
        if form.get("type") == "grammar":
            said += f"\nThe input must fit this {grammar.get('syntax', '')} grammar:\n{grammar.get('definition', '')}"
    return {"name": custom.get("name"), "description": said, "parameters": _INPUT}


def free_input(arguments: JsonObject) -> str:
    """Return the plain text of a call of such a tool."""
    text = arguments.get("input")
    return text if isinstance(text, str) else encode(arguments).decode()


def _tool(item: Any, where: str) -> ToolDefinition:
    if isinstance(item, dict) and isinstance(custom := item.get("custom"), dict):
        item = free_form(custom)
    function = item.get("function", item) if isinstance(item, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind is not None and kind != "function":
            raise BadRequestError(f"{where} is of the type {kind!r}; only functions can be offered here.", param=where)
        raise BadRequestError(f"{where} has no function name.", param=where)
    check_kinds(function, _KINDS, f"{where}.function.")
    schema = function.get("parameters") or function.get("input_schema") or {"type": "object", "properties": {}}
    said, strict = function.get("description") or "", function.get("strict") is True
    return ToolDefinition(name, said, schema, strict=strict, cache=cache_of(item))


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRequestError(f"{name} must be a list, not {type(value).__name__}.", param=name)
    return value


def chosen_tools(
    tools: tuple[ToolDefinition, ...], body: JsonObject, *, others: bool
) -> tuple[tuple[ToolDefinition, ...], str | JsonObject | None]:
    """Return the tools that may be called and the choice among them, in OpenAI's form.

    Args:
        tools: the client's.
        body: the request.
        others: tools of the hub are offered as well, and may be named.

    Raises:
        BadRequestError: `tool_choice` is in nobody's form, or wants a tool that is not offered.
    """
    tools, choice = _chosen(tools, body, others=others)
    if choice not in (None, "auto", "none") and not tools and not others:
        said = "tool_choice wants a call, and no tool is offered that can be called here: send tools, or leave it out."
        raise BadRequestError(said, param="tool_choice")
    return tools, choice


def _chosen(
    tools: tuple[ToolDefinition, ...], body: JsonObject, *, others: bool
) -> tuple[tuple[ToolDefinition, ...], str | JsonObject | None]:
    choice = body.get("tool_choice")
    if choice is None:
        choice = body.get("function_call")
    if choice is None:
        return tools, None
    if (allowed := _allowed(choice)) is not None:
        names = [_named(one) for one in allowed["tools"]]
        for name in names if not others else ():
            _check_offered(name, tools)
        return tuple(tool for tool in tools if tool.name in names), _WORDS.get(str(allowed.get("mode")), "auto")
    word = choice if isinstance(choice, str) else choice.get("type") if isinstance(choice, dict) else None
    if isinstance(word, str) and word in _WORDS:
        return tools, _WORDS[word]
    is_tools_name = isinstance(choice, str) and any(tool.name == choice for tool in tools)
    name = choice if is_tools_name else _named(choice)
    if not name:
        raise BadRequestError(
            'tool_choice must be "auto", "none", "required", or an object that names a function.', param="tool_choice"
        )
    if not others:
        _check_offered(name, tools)
    return tools, {"type": "function", "function": {"name": name}}


def allowed_tools(body: JsonObject) -> Pick | None:
    """Return which tools of the hub a choice of the type `allowed_tools` lets be called; None where it is another.

    Raises:
        BadRequestError: it is in nobody's form.
    """
    allowed = _allowed(body.get("tool_choice"))
    if allowed is None:
        return None
    names, servers = map(_named, allowed["tools"]), (_server(one) for one in allowed["tools"] if not _named(one))
    return Pick(frozenset(filter(None, names)), servers=frozenset(filter(None, servers)))


def _allowed(choice: Any) -> JsonObject | None:
    """Return what a choice of the type `allowed_tools` says: its list, and its mode."""
    if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
        return None
    allowed: JsonObject = choice["allowed_tools"] if isinstance(choice.get("allowed_tools"), dict) else choice
    return {**allowed, "tools": _list(allowed.get("tools"), "tool_choice.allowed_tools.tools")}


def _server(choice: Any) -> str:
    """Return the server of an MCP tool that a choice names."""
    label = choice.get("server_label") if isinstance(choice, dict) and choice.get("type") == "mcp" else None
    return label if isinstance(label, str) else ""


def _named(choice: Any) -> str:
    """Return the tool that a choice names: OpenAI's forms, the older one, Anthropic's."""
    if not isinstance(choice, dict):
        return ""
    if server := _server(choice):
        return exposed_name(server, str(choice["name"])) if choice.get("name") else ""
    function = choice.get("function") or choice.get("custom")
    name = function.get("name") if isinstance(function, dict) else choice.get("name")
    return name if isinstance(name, str) else ""


def check_choice(choice: str | JsonObject | None, tools: Sequence[ToolDefinition]) -> None:
    """Refuse a choice of a tool that is not among all that are offered.

    Raises:
        BadRequestError: it names one.
    """
    if name := _named(choice):
        _check_offered(name, tools)


def _check_offered(name: str, tools: Sequence[ToolDefinition]) -> None:
    if not any(tool.name == name for tool in tools):
        raise BadRequestError(f"tool_choice names {name!r}, which is not among the tools.", param="tool_choice")
