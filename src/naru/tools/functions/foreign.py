"""Tools of FastMCP, LangChain and pydantic-ai as they are, known by their structure; none of them is imported here."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

from naru.messages import AudioPart, ImagePart, JsonObject, Part, TextPart, ToolResult
from naru.tools.functions.function_tool import FunctionTool


def foreign_tool(
    tool: object,
    *,
    name: str = "",
    description: str | None = None,
    schema: JsonObject | None = None,
    annotations: JsonObject | None = None,
) -> FunctionTool | None:
    """Return another library's tool as one of Naru's, or None where it is none of those that are known.

    Its own schema is what the model sees, and all that reaches it: what its library supplies (LangChain's injected
    arguments) is never taken from a model.

    Raises:
        TypeError: it needs what only its own library has.
    """
    if inspect.isroutine(tool) or isinstance(tool, type):
        return None
    found = _fastmcp(tool) or _langchain(tool) or _pydantic_ai(tool)
    if found is None:
        return None
    call, own_schema, hints = found
    said: Any = tool
    return FunctionTool(
        call,
        name=name or said.name,
        description=(said.description or "") if description is None else description,
        schema=_closed(own_schema if schema is None else schema),
        annotations={**hints, **(annotations or {})},
    )


Found = tuple[Callable[..., Any], JsonObject, JsonObject]
"""What calls it, the schema of its arguments, MCP annotations."""


def _fastmcp(tool: Any) -> Found | None:
    if not _has(tool, "name", "parameters", "run", "to_mcp_tool"):
        return None
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    return functools.partial(_call_fastmcp, tool), tool.parameters, hints


async def _call_fastmcp(tool: Any, /, **arguments: Any) -> ToolResult:
    found = await tool.run(arguments)
    return ToolResult(tuple(map(_part, found.content)), found.structured_content, is_error=bool(found.is_error))


def _part(block: Any) -> Part:
    shown = block.model_dump(mode="json", by_alias=True, exclude_none=True)
    match shown:
        case {"type": "text", "text": str(text)}:
            return TextPart(text)
        case {"type": "image", "mimeType": str(kind), "data": str(data)}:
            return ImagePart(kind, data)
        case {"type": "audio", "mimeType": str(kind), "data": str(data)}:
            return AudioPart(kind, data)
        case _:
            return TextPart(json.dumps(shown, ensure_ascii=False))


def _langchain(tool: Any) -> Found | None:
    if not _has(tool, "name", "tool_call_schema", "ainvoke"):
        return None
    schema = tool.tool_call_schema  # without what LangChain injects
    return functools.partial(_call_langchain, tool), schema if isinstance(schema, dict) else _of_model(schema), {}


async def _call_langchain(tool: Any, /, **arguments: Any) -> Any:
    return await tool.ainvoke(arguments)


def _of_model(model: Any) -> JsonObject:
    found = model.model_json_schema() if hasattr(model, "model_json_schema") else model.schema()
    return {key: value for key, value in found.items() if key not in ("title", "description")}


def _pydantic_ai(tool: Any) -> Found | None:
    if not _has(tool, "name", "function_schema", "takes_ctx"):
        return None
    if tool.takes_ctx:
        raise TypeError(
            f"tool {tool.name!r} takes a RunContext, which only an agent of pydantic-ai has; register a function "
            "without it, with naru's ToolContext or Depends(…) for what it needs"
        )
    hints = {"destructiveHint": True} if getattr(tool, "requires_approval", False) else {}
    return functools.partial(_call_pydantic_ai, tool.function_schema), tool.function_schema.json_schema, hints


async def _call_pydantic_ai(schema: Any, /, **arguments: Any) -> Any:
    return await schema.call(schema.validator.validate_json(json.dumps(arguments)), None)


def _closed(schema: JsonObject) -> JsonObject:
    return {"additionalProperties": False, **schema}


def _has(tool: Any, *names: str) -> bool:
    """Say whether an object has these itself; what answers to every name does not."""
    return set(names) <= set(dir(tool))
