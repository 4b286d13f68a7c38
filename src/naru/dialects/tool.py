"""What the reader needs to know about a tool: its name and the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that was offered to the model."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema of the arguments, made of plain dicts and lists; empty when nothing is known about them."""


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
