"""What the reader needs to know about a tool: its name and the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from naru.dialects.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class Tool(Value):
    """A tool that was offered to the model."""

    __match_args__ = ("name", "parameters")
    __slots__ = (*__match_args__, "properties")

    def __init__(self, name: str, parameters: Mapping[str, Any] | None = None) -> None:
        self.name: Final = name
        self.parameters: Final[Mapping[str, Any]] = {} if parameters is None else parameters
        """JSON Schema of the arguments, made of plain dicts and lists; empty when nothing is known about them."""
        properties = self.parameters.get("properties")
        self.properties: Final[Mapping[str, Any]] = properties if isinstance(properties, dict) else {}
        """What `parameters` says about each argument."""


def as_tools(tools: Iterable[Tool | Mapping[str, Any]]) -> list[Tool]:
    """Return tools that were given as such or as any API's dictionaries; see `tools_from_openai`."""
    found: list[Tool] = []
    for tool in tools:
        if isinstance(tool, Tool):
            found.append(tool)
        else:
            found += tools_from_openai((tool,))
    return found


def tools_from_openai(tools: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Read the `tools` of an OpenAI chat request; entries that are no named functions are left out.

    Takes the Chat Completions form (`{"type": "function", "function": {...}}`), the flat Responses form and
    the forms of Anthropic (`input_schema`) and MCP (`inputSchema`).
    """
    found = []
    for tool in tools:
        body = tool.get("function", tool)
        name = body.get("name") if isinstance(body, Mapping) else None
        if not isinstance(name, str) or not name:
            continue
        schema = body.get("parameters") or body.get("input_schema") or body.get("inputSchema")
        found.append(Tool(name, schema if isinstance(schema, Mapping) else {}))
    return tuple(found)
