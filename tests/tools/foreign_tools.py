"""Runs in an environment with LangChain, pydantic-ai and FastMCP: their tools in Naru, Naru's in them; prints JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import fastmcp
import pydantic_ai
from fastmcp.tools import Tool as FastMcpTool
from langchain_core.tools import InjectedToolArg, StructuredTool, ToolException
from pydantic import BaseModel
from pydantic_ai.models.test import TestModel

from naru.adapters import for_fastmcp, for_langchain, for_pydantic_ai
from naru.errors import InvalidArgumentsError
from naru.tools import CallContext, FunctionToolset, register_tool
from naru.tools.functions.registry import ToolRegistry


class Place(BaseModel):
    city: str


def add(a: int, b: int, secret: Annotated[str, InjectedToolArg] = "mine") -> str:
    """Add two."""
    return f"{a + b} {secret}"


def point(x: int) -> dict[str, int]:
    """Make a point.

    Args:
        x: Where.
    """
    if x < 0:
        raise ValueError("x is below zero")
    return {"x": x}


async def visit(place: Place, days: int = 1) -> str:
    """Visit a place."""
    return f"{days} in {place.city}"


def needs_context(context: pydantic_ai.RunContext[None], x: int) -> int:
    """Need an agent."""
    return x


ADD = StructuredTool.from_function(add)
POINT = FastMcpTool.from_function(point)
VISIT = pydantic_ai.Tool(visit)


async def taken() -> dict[str, Any]:
    """Return what comes of their tools in Naru."""
    toolset = FunctionToolset([ADD, POINT, VISIT])
    found: dict[str, Any] = {
        each.name: [each.description, sorted(each.input_schema["properties"]), each.input_schema.get("required")]
        for each in await toolset.tools()
    }
    for key, name, arguments in (
        ("added", "add", {"a": 1, "b": "2"}),
        ("forged", "add", {"a": 1, "b": 2, "secret": "theirs"}),
        ("pointed", "point", {"x": 3}),
        ("failed", "point", {"x": -3}),
        ("visited", "visit", {"place": {"city": "Seoul"}, "days": "3"}),
    ):
        result = await toolset.call(name, arguments, CallContext())
        found[key] = [result.text, result.structured, result.is_error]
    try:
        await toolset.call("visit", {"place": {"town": "Seoul"}}, CallContext())
    except InvalidArgumentsError as error:
        found["refused"] = str(error)
    return found


def registered() -> dict[str, Any]:
    """Return what comes of registering them."""
    registry = ToolRegistry()
    register = register_tool(registry=registry)
    found: dict[str, Any] = {"unchanged": [register(each) is each for each in (ADD, POINT, VISIT, ADD)]}
    found["names"] = [tool.name for tool in registry.tools()]
    try:
        register(pydantic_ai.Tool(needs_context))
    except TypeError as error:
        found["context"] = str(error)
    return found


def draw(config: dict[str, int], run_manager: str, self: str) -> str:
    """Draw, with parameters that LangChain's own methods have, too."""
    return f"{config} {run_manager} {self}"


async def handed() -> dict[str, Any]:
    """Return what comes of Naru's tools in theirs."""
    own = FunctionToolset([point, visit])
    found: dict[str, Any] = {}
    first, second = await for_langchain(own)
    found["langchain"] = [first.name, first.description, await first.ainvoke({"x": 3})]
    message = await second.ainvoke(
        {"name": "visit", "args": {"place": {"city": "Seoul"}}, "id": "1", "type": "tool_call"}
    )
    found["langchain message"] = [message.content, message.artifact.is_error]
    try:
        await first.ainvoke({"x": -1})
    except ToolException as error:
        found["langchain failed"] = str(error)
    (drawn,) = await for_langchain(FunctionToolset([draw]))
    found["langchain names"] = await drawn.ainvoke({"config": {"x": 1}, "run_manager": "m", "self": "s"})
    agent = pydantic_ai.Agent(TestModel(call_tools=["point"]), toolsets=[await for_pydantic_ai(own)])
    found["pydantic-ai"] = (await agent.run("go")).output
    async with fastmcp.Client(await for_fastmcp(own)) as client:
        tools = await client.list_tools()
        found["fastmcp"] = [tools[0].name, tools[0].description, tools[0].inputSchema["properties"]["x"]["description"]]
        result = await client.call_tool("point", {"x": 3})
        found["fastmcp result"] = [result.content[0].text, result.structured_content]
        failed = await client.call_tool("point", {"x": -1}, raise_on_error=False)
        found["fastmcp failed"] = [failed.content[0].text, failed.is_error]
        wrong = await client.call_tool("visit", {"place": "x"}, raise_on_error=False)
        found["fastmcp wrong"] = [wrong.content[0].text, wrong.is_error]
    return found


async def main() -> None:
    print(json.dumps({"taken": await taken(), "registered": registered(), "handed": await handed()}))


if __name__ == "__main__":
    asyncio.run(main())
