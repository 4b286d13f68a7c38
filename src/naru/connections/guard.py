"""The seam to the rules of this installation (H12); `policy` implements it, the manager asks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from naru.messages import ToolDefinition, ToolResult
from naru.records import ServerRecord


class Guard(Protocol):
    """Judges records, tools and results before anybody else sees them."""

    def admit(self, record: ServerRecord) -> None:
        """Let a record be registered and connected. Raises PolicyError, naming the rule."""
        ...

    def offered(self, server: str, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Return the tools that may be offered and called."""
        ...

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Return a result as it may be passed on, cut if it is too long."""
        ...


class NoGuard:
    """Lets everything through."""

    def admit(self, record: ServerRecord) -> None:
        """Admit it."""

    def offered(self, server: str, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Offer all."""
        return tools

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Pass it on."""
        return result
