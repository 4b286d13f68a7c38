"""What the host supplies to a tool's function: named parameters, `Depends`, and the call's own `ToolContext`."""

from __future__ import annotations

import threading
import typing
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from naru.errors import ToolError
from naru.messages import JsonObject
from naru.tools.toolset import CallContext

INJECTED_NAMES = frozenset({"db", "client", "httpx_client", "current_user"})
"""Parameters that a host supplies by name, whatever their annotation (S2)."""

Scope = Literal["call", "application"]


@dataclass(frozen=True, slots=True)
class Depends:
    """Mark a parameter as supplied: `db: Annotated[Pool, Depends(open_pool, scope="application")]`."""

    provider: Callable[..., Any]
    """A function, a generator that yields once, or a context manager; sync or async; may itself be injected."""
    scope: Scope = "call"
    """`call`: opened and closed with each call; `application`: opened at first use, closed with the toolset."""


class ToolContext:
    """What a tool's function may know of the call it serves, and tell about it."""

    def __init__(self, tool: str, call: CallContext) -> None:
        self.tool = tool
        self.caller = call.caller
        """The verified identity of who asks; empty on an open loopback."""
        self.meta: JsonObject = call.meta
        self._call = call
        self._cancelled = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the result any more; for sync functions, which cannot be interrupted."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Say that nobody waits for the result any more."""
        self._cancelled.set()

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far the work is; nothing happens when it does not listen."""
        if self._call.on_progress is not None:
            await self._call.on_progress(done, total, message)


@dataclass(frozen=True, slots=True)
class Injection:
    """One supplied parameter of a function."""

    name: str
    kind: Literal["context", "named", "depends"]
    depends: Depends | None = None
    has_default: bool = False


def injection_of(name: str, annotation: Any, *, has_default: bool = False) -> Injection | None:
    """Say how a parameter is supplied, or None when the model gives it; the annotation must be resolved already."""
    bare: Any = annotation
    marks: list[Any] = []
    if typing.get_origin(annotation) is typing.Annotated:
        bare, *marks = typing.get_args(annotation)
    for mark in marks:
        if isinstance(mark, Depends):
            return Injection(name, "depends", mark, has_default)
    candidates = typing.get_args(bare) or (bare,)
    if any(isinstance(each, type) and issubclass(each, ToolContext) for each in candidates):
        return Injection(name, "context", None, has_default)
    if name in INJECTED_NAMES:
        return Injection(name, "named", None, has_default)
    return None


class Container:
    """Supplies injected parameters: per call, or once per application, closed in reverse (S5)."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._closers: list[Callable[[], Any]] = []

    def provide_value(self, name: str, value: Any, *, close: Callable[[Any], Any] | None = None) -> None:
        """Say what a named parameter such as `db` gets; `close` is called with it when the container closes."""
        self._values[name] = value
        if close is not None:
            self._closers.append(lambda: close(value))

    @asynccontextmanager
    async def supply(
        self, wanted: Sequence[Injection], running: ToolContext, call: CallContext
    ) -> AsyncIterator[dict[str, Any]]:
        """Open what a function wants for one call.

        Raises:
            ToolError: this host does not supply it, and the function has no default for it.
        """
        supplied: dict[str, Any] = {}
        for injection in wanted:
            if injection.kind == "context":
                supplied[injection.name] = running
            elif injection.name in call.values:
                supplied[injection.name] = call.values[injection.name]
            elif injection.name in self._values:
                supplied[injection.name] = self._values[injection.name]
            elif not injection.has_default:
                raise ToolError(
                    f"tool {running.tool!r} was not run: nothing supplies its parameter {injection.name!r}.",
                    remedy="The host gives it with Container.provide_value or per call in CallContext.values.",
                )
        yield supplied

    async def close(self) -> None:
        """Close what was given, in reverse."""
        while self._closers:
            self._closers.pop()()
