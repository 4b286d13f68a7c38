"""Python functions as a Toolset: arguments validated, dependencies supplied, run off the event loop (S5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from naru.errors import ConflictError, NaruError, ToolError, ToolTimeoutError, UnknownToolError, foreign
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.tools.deadline import DeadlineExceededError, within
from naru.tools.functions.dependencies import Container, DependencyError
from naru.tools.functions.foreign import foreign_tool
from naru.tools.functions.function_tool import FunctionTool
from naru.tools.functions.inject import ToolContext
from naru.tools.functions.registry import REGISTRY
from naru.tools.toolset import CallContext

logger = logging.getLogger(__name__)


class FunctionToolset:
    """Functions, registered or not, behind the Toolset protocol."""

    validates_arguments = True
    """Nobody else needs to."""

    def __init__(
        self, functions: Iterable[Callable[..., Any] | FunctionTool], *, container: Container | None = None
    ) -> None:
        self.container = Container() if container is None else container
        """What supplies the injected parameters; application-wide ones live until `close`."""
        self._tools: dict[str, FunctionTool] = {}
        self.set_aside: dict[str, str] = {}
        """Tools that cannot be offered, and why; the others go on (N6)."""
        for function in functions:
            self.add(function)

    def add(self, function: Callable[..., Any] | FunctionTool, *, name: str = "") -> FunctionTool:
        """Take in one more function, registered or not, under its own name or another.

        Raises:
            ConflictError: another function has this name.
            TypeError: it cannot be called.
        """
        if isinstance(function, FunctionTool):
            tool = function
        else:
            registered = None if name else REGISTRY.find(function)
            tool = registered or foreign_tool(function, name=name) or FunctionTool(function, name=name)
        if tool.name in self._tools and self._tools[tool.name].function != tool.function:
            raise ConflictError(f"two functions are called {tool.name!r}.", remedy="Give one of them another name.")
        self._tools[tool.name] = tool
        return tool

    async def open(self) -> None:
        """Make ready; safe to call twice. Dependencies open at their first use."""

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the definitions in the order of the functions, without those that cannot be described."""
        offered: list[ToolDefinition] = []
        for name, tool in self._tools.items():
            if name in self.set_aside:
                continue
            if problem := tool.problem:
                self.set_aside[name] = problem
                logger.warning("tool %s is set aside: %s", name, problem)
            else:
                offered.append(tool.definition)
        return offered

    async def definition(self, name: str) -> ToolDefinition | None:
        """Return one function's definition; None where it cannot be offered."""
        tool = self._tools.get(name)
        return None if tool is None or name in self.set_aside or tool.problem else tool.definition

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a function once.

        Raises:
            UnknownToolError: there is no such function.
            InvalidArgumentsError: the arguments do not fit; it was not run.
            ToolTimeoutError: it did not finish in time.
            ToolError: what it needs cannot be supplied, or what it returned cannot be told in JSON.
        """
        value = await self.run(name, arguments, context)
        return value if isinstance(value, ToolResult) else self._tools[name].told(value)

    async def run(self, name: str, arguments: JsonObject, context: CallContext) -> Any:
        """Call a function once and return what it returned; its own failure is a `ToolResult` with `is_error`."""
        tool = self._tools.get(name)
        if tool is None or name in self.set_aside:
            raise UnknownToolError(f"there is no tool {name!r}. Tools: {', '.join(sorted(self._tools)) or 'none'}.")
        try:
            values = tool.read_arguments(arguments)
        except TypeError as error:  # its signature cannot be read
            raise ToolError(str(error)) from error
        try:
            if tool.is_async and not tool.signature.injected:
                return await within(context.timeout_seconds, tool.run(values, None))
            return await within(context.timeout_seconds, self._supplied_run(tool, values, context))
        except DeadlineExceededError as error:
            raise ToolTimeoutError(
                f"tool {name!r} did not finish within {context.timeout_seconds:g} s; it may still have run."
            ) from error
        except DependencyError:
            raise
        except NaruError as error:
            return ToolResult.of_text(str(error), is_error=True)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return _failed(error)  # something that the function waited for was cancelled, not the call
        except (Exception, SystemExit) as error:  # the outermost edge of foreign code: any failure is told to the model
            logger.debug("tool %s failed", name, exc_info=True)
            return _failed(error)

    async def _supplied_run(self, tool: FunctionTool, values: dict[str, Any], context: CallContext) -> Any:
        injected = tool.signature.injected
        running = ToolContext(tool.name, context)
        try:
            if not injected:
                return await tool.run(values, running)
            async with self.container.supply(injected, running) as supplied:
                return await tool.run({**values, **supplied}, running)
        finally:
            running.cancel()

    async def close(self) -> None:
        """Close what application-wide dependencies opened, in reverse."""
        await self.container.close()


def _failed(error: BaseException) -> ToolResult:
    return ToolResult.of_text(foreign(error), is_error=True)
