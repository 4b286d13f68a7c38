"""The seam to everything that can be called: four methods, composed by wrapping."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from naru.messages import JsonObject, ToolDefinition, ToolResult

ProgressCallback = Callable[[float, float | None, str], Awaitable[None]]
"""Gets progress, total (or None) and a message."""
LogCallback = Callable[[str, str], Awaitable[None]]
"""Gets a level (`debug`, `info`, `warning`, `error`) and a message."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What goes with a call, whatever it is made on. Cancellation is the task's own."""

    caller: str = ""
    """Who asks: the verified identity of the key, empty on an open loopback."""
    timeout_seconds: float | None = 30.0
    """Deadline of the whole call (R9); None leaves it to the callee's own."""
    on_progress: ProgressCallback | None = None
    on_log: LogCallback | None = None
    meta: JsonObject = field(default_factory=dict)
    """The request's MCP `_meta`, passed through."""
    values: dict[str, Any] = field(default_factory=dict)
    """Per-call values for injected parameters (S5), by parameter name."""


class Toolset(Protocol):
    """A set of tools: a server's, Python functions, a combination, or a wrapper round another."""

    async def open(self) -> None:
        """Make ready; safe to call twice."""
        ...

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return what is offered now, in a deterministic order."""
        ...

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool once; never repeated by itself.

        Raises:
            UnknownToolError: the tool is not offered.
            ToolError: it could not be called or did not finish; a tool's own failure is a result with `is_error`.
        """
        ...

    async def close(self) -> None:
        """Let go of what `open` took."""
        ...


@runtime_checkable
class NamedDefinitions(Protocol):
    """A toolset that knows a tool by its name, without listing all of them."""

    async def definition(self, name: str) -> ToolDefinition | None:
        """Return what `tools` lists under a name; None where it lists nothing."""
        ...


async def definition_of(toolset: Toolset, name: str) -> ToolDefinition | None:
    """Return one tool's definition: by its name where the toolset knows it so, else out of its list."""
    if isinstance(toolset, NamedDefinitions):
        return await toolset.definition(name)
    return next((tool for tool in await toolset.tools() if tool.name == name), None)


def set_aside_of(toolset: object) -> Mapping[str, str]:
    """Return the tools that a toolset kept back at its last listing, and why; most have none to tell."""
    found = getattr(toolset, "set_aside", None)
    return found if isinstance(found, Mapping) else {}
