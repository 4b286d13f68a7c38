"""`execute_tool` (V6): one way in that answers every call, every failure included, with the same two shapes."""

from __future__ import annotations

import asyncio
from typing import Any

from naru.errors import NaruError, foreign
from naru.messages import Json, JsonObject, ToolResult
from naru.tools.functions.registry import REGISTRY
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.results import to_value
from naru.tools.serialise import to_jsonable
from naru.tools.toolset import CallContext, Toolset


async def execute_tool(
    name: str,
    arguments: Json = None,
    *,
    toolset: Toolset | None = None,
    context: CallContext | None = None,
) -> JsonObject:
    """Call a tool and never raise: `{"success": true, "result": …}` or `{"success": false, "error": "…"}`.

    Args:
        name: The tool's name.
        arguments: Its arguments; none when left out.
        toolset: Where the tool is; the registered functions when None.
        context: Who asks, how long it may take.
    """
    if arguments is not None and not isinstance(arguments, dict):
        return _failure(f"arguments of tool {name!r} are an object, not {type(arguments).__name__}.")
    context = CallContext() if context is None else context
    try:
        if toolset is not None:
            return _told(await toolset.call(name, arguments or {}, context))
        own = FunctionToolset(REGISTRY.tools())
        try:
            value = await own.run(name, arguments or {}, context)
            return _told(value) if isinstance(value, ToolResult) else {"success": True, "result": to_jsonable(value)}
        finally:
            await own.close()
    except NaruError as error:
        return _failure(str(error))
    except Exception as error:  # noqa: BLE001  # V6: every failure has the same shape
        return _failure(foreign(error))


def run_tool(name: str, arguments: JsonObject | None = None, **options: Any) -> JsonObject:
    """Call a tool from code that has no event loop; see `execute_tool`."""
    return asyncio.run(execute_tool(name, arguments, **options))


def _told(result: ToolResult) -> JsonObject:
    return _failure(result.text) if result.is_error else {"success": True, "result": to_value(result)}


def _failure(text: str) -> JsonObject:
    return {"success": False, "error": text}
