"""The tools of a Responses request: functions, free-form tools, the client's shell, MCP servers that run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.messages import JsonObject, ToolDefinition
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.mcp_tools import McpAsked, read_mcp_tool
from naru.web.face.reading.tools import allowed_tools, chosen_tools, free_form, read_tools
from naru.web.face.seam import Pick
from naru.web.responses.items import LOCAL_SHELL, namespaced

_SHELL_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string"}},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["command"],
}
_THEIRS = "{where} is {kind!r}, a tool that OpenAI's own servers or models bring; it was not offered to the model."


@dataclass(slots=True)
class OfferedTools:
    """What may be called, and how each call is written for the client."""

    tools: tuple[ToolDefinition, ...] = ()
    choice: str | JsonObject | None = None
    mcp: McpAsked = field(default_factory=McpAsked)
    custom: frozenset[str] = frozenset()
    """Names of tools that take plain text."""
    namespaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Namespace and own name, by the name that the model is shown."""
    notes: tuple[str, ...] = ()
    allowed: Pick | None = None
    """Which tools of the hub may be called, where the choice says so."""


def read_offer(body: JsonObject, *, others: bool) -> OfferedTools:
    """Read `tools` and `tool_choice`; `others` says that tools of the hub are offered besides.

    Raises:
        BadRequestError: one cannot be taken; the message names its place.
    """
    raw = body.get("tools") or []
    if not isinstance(raw, list):
        raise BadRequestError("tools must be a list.", param="tools")
    reader = _Reader()
    for position, item in enumerate(raw):
        if not isinstance(item, dict):
            raise BadRequestError(f"tools[{position}] must be an object.", param=f"tools[{position}]")
        reader.take(item, f"tools[{position}]")
    _check_server(body.get("tool_choice"), None if others else reader.mcp.servers)
    others = others or bool(reader.mcp.servers)
    chosen = {"tool_choice": _choice(body.get("tool_choice"))}
    tools, choice = chosen_tools(read_tools({"tools": reader.functions}), chosen, others=others)
    custom, notes = frozenset(reader.custom), tuple(reader.notes)
    return OfferedTools(tools, choice, reader.mcp, custom, reader.namespaces, notes, allowed_tools(chosen))


class _Reader:
    def __init__(self) -> None:
        self.functions: list[JsonObject] = []
        self.mcp = McpAsked()
        self.custom: set[str] = set()
        self.namespaces: dict[str, tuple[str, str]] = {}
        self.notes: list[str] = []

    def take(self, item: JsonObject, where: str, namespace: str = "") -> None:
        kind = item.get("type") or "function"
        if kind == "function":
            self.functions.append(self._named(item, namespace))
        elif kind == "custom":
            function = self._named(free_form(item), namespace)
            self.custom.add(function["name"])
            self.functions.append(function)
        elif kind == "local_shell":
            said = "Run a command on the user's machine; `command` is a list of words."
            self.functions.append({"name": LOCAL_SHELL, "description": said, "parameters": _SHELL_SCHEMA})
        elif kind == "mcp":
            self.mcp = read_mcp_tool(item, where, self.mcp)
        elif kind == "namespace" and isinstance(item.get("tools"), list):
            for position, one in enumerate(item["tools"]):
                if isinstance(one, dict):
                    self.take(one, f"{where}.tools[{position}]", str(item.get("name") or ""))
        else:
            # An offer, not an order: Codex sends some of them always.
            self.notes.append(_THEIRS.format(where=where, kind=kind))

    def _named(self, item: JsonObject, namespace: str) -> JsonObject:
        name = namespaced(namespace, item.get("name"))
        if namespace:
            self.namespaces[name] = (namespace, str(item.get("name")))
        return {**item, "name": name}


def _choice(choice: Any) -> Any:
    """Return a choice in the forms that other APIs have too."""
    if not isinstance(choice, dict):
        return choice
    match choice.get("type"):
        case "mcp" if not choice.get("name"):  # any tool of that server
            return {"type": "allowed_tools", "mode": "required", "tools": [choice]}
        case "local_shell":
            return {"type": "function", "name": LOCAL_SHELL}
    return choice


def _check_server(choice: Any, servers: Sequence[str] | None) -> None:
    """Refuse a choice of a server that is not offered; None offers all of the hub's."""
    if servers is None or not isinstance(choice, dict) or choice.get("type") != "mcp":
        return
    if (label := choice.get("server_label")) not in servers:
        said = f"tool_choice names the server {label!r}, which is not among the tools."
        raise BadRequestError(said, param="tool_choice")


def shell_action(arguments: JsonObject) -> JsonObject:
    """Return what a call of the client's shell does, as its item says it."""
    command, env = arguments.get("command"), arguments.get("env")
    words = [str(word) for word in command] if isinstance(command, list) else ["bash", "-lc", str(command)]
    known: JsonObject = {key: arguments[key] for key in ("timeout_ms", "working_directory") if key in arguments}
    return {"command": words, "env": env if isinstance(env, dict) else {}, **known}
