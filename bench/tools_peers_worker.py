"""Run all signatures of `tools_peers_cases` on one library; print JSON: case → [schema is right, call is right]."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import jsonschema

import tools_peers_cases as cases

Offered = tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]
"""A schema of arguments, and a call of the function by them."""


def naru(function: Any) -> Offered:
    from naru.tools.functions.toolset import FunctionToolset
    from naru.tools.toolset import CallContext

    toolset = FunctionToolset([function])
    (tool,) = toolset._tools.values()

    async def call(arguments: dict[str, Any]) -> str:
        result = await toolset.call(tool.name, arguments, CallContext())
        if result.is_error:
            raise RuntimeError(result.text)
        return result.text

    return tool.definition.input_schema, call


def fastmcp(function: Any) -> Offered:
    from fastmcp.tools import Tool

    tool = Tool.from_function(function)

    async def call(arguments: dict[str, Any]) -> str:
        found = await tool.run(arguments)
        return "".join(getattr(part, "text", "") for part in found.content)

    return tool.parameters, call


def pydantic_ai(function: Any) -> Offered:
    from pydantic_ai import Tool

    schema = Tool(function).function_schema

    async def call(arguments: dict[str, Any]) -> str:
        # As its agents do: arguments of a model are JSON text.
        return str(await schema.call(schema.validator.validate_json(json.dumps(arguments)), None))

    return schema.json_schema, call


def openai_agents(function: Any) -> Offered:
    from agents import function_tool
    from agents.tool_context import ToolContext

    # Not strict: its strict form wants every optional argument, which is a provider's rule and no fault of its reading.
    tool = function_tool(function, failure_error_function=None, strict_mode=False)

    async def call(arguments: dict[str, Any]) -> str:
        text = json.dumps(arguments)
        fields = {"context": None, "tool_name": tool.name, "tool_call_id": "1", "tool_arguments": text}
        known = inspect.signature(ToolContext).parameters
        context = ToolContext(**{name: value for name, value in fields.items() if name in known})
        return str(await tool.on_invoke_tool(context, text))

    return tool.params_json_schema, call


def of_type(annotation: Any, seen: list[Any]) -> Any:
    def tool(x: Any, other: int = 0) -> str:  # two, since pydantic-ai offers an only model as the arguments themselves
        """Take one."""
        seen.append(x)
        return "taken"

    tool.__annotations__["x"] = annotation
    return tool


async def judge_type(offer: Callable[[Any], Offered], row: tuple[str, Any, Any, Any, list[Any]]) -> list[bool]:
    _, annotation, sent, right, refused = row
    seen: list[Any] = []
    try:
        schema, call = offer(of_type(annotation, seen))
        jsonschema.Draft202012Validator.check_schema(schema)
        check = jsonschema.Draft202012Validator(schema)
        fits = check.is_valid({"x": sent}) and not any(check.is_valid({"x": value}) for value in refused)
    except Exception:
        return [False, False]
    try:
        await call({"x": sent})
    except Exception:
        return [fits, False]
    return [fits, seen == [right] and type(seen[0]) is type(right)]


async def judge_function(offer: Callable[[Any], Offered], row: tuple[str, Any, Any, str, list[str]]) -> list[bool]:
    _, function, arguments, right, shown = row
    try:
        schema, call = offer(function)
        fits = sorted(schema.get("properties", {})) == sorted(shown)
        fits = fits and jsonschema.Draft202012Validator(schema).is_valid(arguments)
    except Exception:
        return [False, False]
    try:
        return [fits, await call(arguments) == right]
    except Exception:
        return [fits, False]


async def main(library: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    offer = {"naru": naru, "fastmcp": fastmcp, "pydantic-ai": pydantic_ai, "openai-agents": openai_agents}[library]
    found = {row[0]: await judge_type(offer, row) for row in cases.TYPES}
    found |= {row[0]: await judge_function(offer, row) for row in cases.FUNCTIONS}
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
