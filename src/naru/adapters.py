"""Naru's tools handed to other libraries: LangChain, pydantic-ai, FastMCP. The way back is `register_tool(their_tool)`.

Whatever can be called goes: functions, servers behind a connection, a combination, a wrapper with filter or approvals.
Each library is imported when it is asked for, none is needed by Naru.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import Any

from naru.errors import ConfigError, ToolError
from naru.gateway.upstreams.own_tools import result_json
from naru.messages import Json, JsonObject, ToolDefinition, ToolResult
from naru.tools.results import to_value
from naru.tools.toolset import CallContext, Toolset

__all__ = ["for_fastmcp", "for_langchain", "for_pydantic_ai"]

Call = Callable[[JsonObject], Awaitable[ToolResult]]


async def for_langchain(toolset: Toolset, *, context: CallContext | None = None) -> list[Any]:
    """Return a toolset's tools, as they are now, as LangChain's `StructuredTool`s, for `bind_tools` and agents.

    A call that fails is a `ToolException`; its parts beside text are the message's artifact.

    Args:
        toolset: What is called; opened here, closed by whoever made it.
        context: Who calls, deadline, what is supplied; the defaults when None.

    Raises:
        ConfigError: langchain-core is not installed.
    """
    tools = _library("langchain_core.tools", "langchain-core")
    await toolset.open()
    return [_for_langchain(tools, each, _call(toolset, each, context)) for each in await toolset.tools()]


def _for_langchain(library: Any, definition: ToolDefinition, call: Call) -> Any:
    async def run(**arguments: Any) -> tuple[str, ToolResult]:
        result = await call(arguments)
        if result.is_error:
            raise library.ToolException(result.text)
        return result.text, result

    class Handed(library.StructuredTool):  # type: ignore[misc]  # a base that is imported when it is asked for
        # LangChain's own puts its `config` and `run_manager` in the place of a tool's parameters of these names.
        async def _arun(self, /, **arguments: Any) -> tuple[str, ToolResult]:
            return await run(**arguments)

    return Handed(
        name=definition.name,
        description=definition.description or definition.name,
        args_schema=definition.input_schema,
        coroutine=run,
        response_format="content_and_artifact",
        metadata={"annotations": definition.annotations} if definition.annotations else None,
    )


async def for_pydantic_ai(toolset: Toolset, *, context: CallContext | None = None) -> Any:
    """Return a toolset's tools, as they are now, as one of pydantic-ai's: `Agent(model, toolsets=[…])`.

    A call that fails, or whose arguments do not fit, is a `ModelRetry`.

    Args:
        toolset: What is called; opened here, closed by whoever made it.
        context: Who calls, deadline, what is supplied; the defaults when None.

    Raises:
        ConfigError: pydantic-ai is not installed.
    """
    library = _library("pydantic_ai", "pydantic-ai-slim")
    await toolset.open()
    tools = [_for_pydantic_ai(library, each, _call(toolset, each, context)) for each in await toolset.tools()]
    return library.FunctionToolset(tools)


def _for_pydantic_ai(library: Any, definition: ToolDefinition, call: Call) -> Any:
    async def run(**arguments: Any) -> Json:
        result = await call(arguments)
        if result.is_error:
            raise library.ModelRetry(result.text)
        return to_value(result)

    return library.Tool.from_schema(run, definition.name, definition.description, definition.input_schema)


async def for_fastmcp(toolset: Toolset, *, name: str = "naru", context: CallContext | None = None) -> Any:
    """Return a FastMCP server with a toolset's tools, as they are now; `mount` it, or `run` it.

    Args:
        toolset: What is called; opened here, closed by whoever made it.
        name: What the server is called.
        context: Who calls, deadline, what is supplied; the defaults when None.

    Raises:
        ConfigError: fastmcp is not installed.
    """
    library = _library("fastmcp", "fastmcp")
    tools = _library("fastmcp.tools", "fastmcp")
    results = _library("fastmcp.tools.base", "fastmcp")
    server = library.FastMCP(name)
    await toolset.open()
    for definition in await toolset.tools():
        server.add_tool(_for_fastmcp(tools, results, definition, _call(toolset, definition, context)))
    return server


def _for_fastmcp(library: Any, results: Any, definition: ToolDefinition, call: Call) -> Any:
    class Handed(library.Tool):  # type: ignore[misc]  # a base that is imported when it is asked for
        async def run(self, arguments: JsonObject) -> Any:
            result = await call(arguments)
            shown = result_json(result)
            return results.ToolResult(
                content=_blocks(shown), structured_content=shown.get("structuredContent"), is_error=result.is_error
            )

    return Handed(
        name=definition.name,
        description=definition.description,
        parameters=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=definition.annotations or None,
    )


def _blocks(shown: JsonObject) -> list[Any]:
    types = _library("mcp.types", "mcp")
    found: list[Any] = types.CallToolResult.model_validate({"content": shown["content"]}).content
    return found


def _call(toolset: Toolset, definition: ToolDefinition, context: CallContext | None) -> Call:
    async def call(arguments: JsonObject) -> ToolResult:
        try:
            return await toolset.call(definition.name, arguments, context or CallContext())
        except ToolError as error:  # told to the model, as these libraries tell a tool's own failure
            return ToolResult.of_text(str(error), is_error=True)

    return call


def _library(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"naru.adapters wanted {module}, which cannot be imported: {error}.",
            remedy=f"Install it: pip install {package}",
        ) from error
