"""What bench/tools.py measures, for one library: run in the bench's own environment, prints JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

FUNCTIONS_PER_ROUND = 40
CALLS_PER_ROUND = 2_000
ROUNDS = 7


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Address(BaseModel):
    street: str
    city: str
    zip_code: str | None = None


@dataclass
class Item:
    name: str
    amount: int = 1


def make_functions() -> dict[str, Callable[..., Any]]:
    """Return functions anew, as a module that is just imported has them, so that no cache helps."""

    async def small(city: str, days: int = 3) -> str:
        """Get a forecast.

        Args:
            city: Where.
            days: How many days.
        """
        return f"{city} {days}"

    async def large(
        query: Annotated[str, Field(description="What to look for.", min_length=1)],
        where: Address,
        items: list[Item],
        priority: Priority = Priority.LOW,
        mode: Literal["fast", "full"] = "fast",
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
        tags: list[str] | None = None,
        extra: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Search.

        Args:
            query: What to look for.
            where: The place.
            items: What is wanted.
            priority: How urgent.
            mode: How thorough.
            limit: How many.
            tags: Labels that must be there.
            extra: Weights.
        """
        return {"query": query, "city": where.city, "count": len(items), "limit": limit}

    def blocking(city: str, days: int = 3) -> str:
        """Get a forecast, from a function that may block.

        Args:
            city: Where.
            days: How many days.
        """
        return f"{city} {days}"

    return {"small": small, "large": large, "blocking": blocking}


ARGUMENTS: dict[str, dict[str, Any]] = {
    "small": {"city": "Seoul", "days": 5},
    "large": {
        "query": "tea",
        "where": {"street": "Main 1", "city": "Busan"},
        "items": [{"name": "cup", "amount": 2}, {"name": "pot"}],
        "priority": "high",
        "limit": 20,
        "tags": ["a", "b"],
        "extra": {"x": 1.5},
    },
    "blocking": {"city": "Seoul", "days": 5},
}


class Naru:
    def __init__(self) -> None:
        from naru.tools.functions.function_tool import FunctionTool
        from naru.tools.functions.toolset import FunctionToolset
        from naru.tools.toolset import CallContext

        self.tool_class, self.toolset_class, self.context = FunctionTool, FunctionToolset, CallContext()

    def schema(self, function: Callable[..., Any]) -> Any:
        return self.tool_class(function).definition.input_schema

    def validation(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        return self.tool_class(function).read_arguments

    def call(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        toolset, name, context = self.toolset_class([function]), function.__name__, self.context

        async def call(arguments: dict[str, Any]) -> Any:
            return await toolset.call(name, arguments, context)

        return call


class FastMcp:
    def __init__(self) -> None:
        from fastmcp.tools.function_tool import FunctionTool
        from fastmcp.utilities.types import get_cached_typeadapter

        self.tool_class, self.adapter = FunctionTool, get_cached_typeadapter

    def schema(self, function: Callable[..., Any]) -> Any:
        return self.tool_class.from_function(function).parameters

    def validation(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        # fastmcp validates by calling: its adapter is over the function itself, so the (trivial) body runs too.
        return self.adapter(self.tool_class.from_function(function).fn).validate_python

    def call(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        return self.tool_class.from_function(function).run


class PydanticAi:
    def __init__(self) -> None:
        from pydantic_ai import RunContext, Tool
        from pydantic_ai.messages import ToolReturnPart
        from pydantic_ai.models.test import TestModel
        from pydantic_ai.toolsets import FunctionToolset
        from pydantic_ai.usage import RunUsage

        self.tool_class, self.toolset_class, self.part_class = Tool, FunctionToolset, ToolReturnPart
        self.context = RunContext(deps=None, model=TestModel(), usage=RunUsage())

    def schema(self, function: Callable[..., Any]) -> Any:
        return self.tool_class(function, takes_ctx=False).function_schema.json_schema

    def validation(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        return self.tool_class(function, takes_ctx=False).function_schema.validator.validate_python

    def call(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        toolset, context, name = self.toolset_class([function]), self.context, function.__name__
        tools: dict[str, Any] = {}

        async def call(arguments: dict[str, Any]) -> Any:
            if not tools:
                tools.update(await toolset.get_tools(context))
            tool = tools[name]
            values = tool.args_validator.validate_python(arguments)
            result = await toolset.call_tool(name, values, context, tool)
            return self.part_class(
                name, result, "call-1"
            ).model_response_str()  # what the model is shown, as with the others

        return call


LIBRARIES = {"naru": Naru, "fastmcp": FastMcp, "pydantic-ai": PydanticAi}


def microseconds(started: float, count: int) -> float:
    return (time.process_time() - started) / count * 1e6


def run_all(function: Callable[[dict[str, Any]], Any], arguments: dict[str, Any], count: int) -> None:
    for _ in range(count):
        result = function(arguments)
        if hasattr(result, "close"):  # fastmcp's validation of an async function gives a coroutine
            result.close()


async def await_all(function: Callable[[dict[str, Any]], Any], arguments: dict[str, Any], count: int) -> None:
    for _ in range(count):
        await function(arguments)


def measure(library: str) -> dict[str, float]:
    subject = LIBRARIES[library]()
    found: dict[str, list[float]] = {}
    loop = asyncio.new_event_loop()
    for _ in range(ROUNDS):
        for name, arguments in ARGUMENTS.items():
            gc.collect()
            if name != "blocking":
                fresh = [make_functions()[name] for _ in range(FUNCTIONS_PER_ROUND)]
                started = time.process_time()
                for function in fresh:
                    subject.schema(function)
                found.setdefault(f"schema {name}", []).append(microseconds(started, FUNCTIONS_PER_ROUND))
                validate = subject.validation(make_functions()[name])
                run_all(validate, arguments, 10)
                started = time.process_time()
                run_all(validate, arguments, CALLS_PER_ROUND)
                found.setdefault(f"validation {name}", []).append(microseconds(started, CALLS_PER_ROUND))
            call = subject.call(make_functions()[name])
            count = CALLS_PER_ROUND if name != "blocking" else CALLS_PER_ROUND // 4
            loop.run_until_complete(await_all(call, arguments, 10))
            started = time.process_time()
            loop.run_until_complete(await_all(call, arguments, count))
            found.setdefault(f"call {name}", []).append(microseconds(started, count))
    loop.close()
    return {key: statistics.median(values) for key, values in found.items()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
