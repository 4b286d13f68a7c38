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

    def trust(self, record: ServerRecord) -> None:
        """Note that someone who may do so registered or changed this server: what it lists next is approved (S-50).

        Waits for its turn at a file: call it from a thread.
        """
        ...

    def forget(self, server: str) -> None:
        """Drop what is known of a removed server."""
        ...

    def look_again(self) -> bool:
        """Judge everything anew if something was approved elsewhere; tell whether that is so. Raises StoreError."""
        ...

    async def note(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
        """Write down what is new of a list that was just read, so that `offered` need not. Raises StoreError."""
        ...

    def offered(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Return the tools that may be offered and called; cheap for a list that was judged before."""
        ...

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Return a result as it may be passed on, cut if it is too long."""
        ...


class NoGuard:
    """Lets everything through."""

    def admit(self, record: ServerRecord) -> None:
        """Admit it."""

    def trust(self, record: ServerRecord) -> None:
        """Do nothing."""

    def forget(self, server: str) -> None:
        """Do nothing."""

    def look_again(self) -> bool:
        """Tell that nothing was."""
        return False

    async def note(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
        """Do nothing."""

    def offered(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Offer all."""
        return tools

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Pass it on."""
        return result
