"""What the host supplies to a tool's function: how it is declared, and the call's own `ToolContext`.

`dependencies` opens and closes what is declared here.
"""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from naru.messages import JsonObject
from naru.tools.annotations import enclosing_names
from naru.tools.toolset import CallContext

INJECTED_NAMES = frozenset({"db", "client", "httpx_client", "current_user"})
"""Parameters that a host supplies by name, whatever their annotation (S2)."""

Scope = Literal["call", "application"]
LogLevel = Literal["debug", "info", "warning", "error"]
REPORT_SECONDS = 5.0
"""How long a worker thread waits for the loop to take a report."""


@dataclass(frozen=True, slots=True)
class Depends:
    """Mark a parameter as supplied: `pool: Annotated[Pool, Depends(open_pool, scope="application")]`."""

    provider: Callable[..., Any]
    """A function, a generator that yields once, a `contextmanager`; sync or async; may itself be injected."""
    scope: Scope = "call"
    """`call`: opened and closed with each call; `application`: opened at first use, closed with the toolset."""
    local_names: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """Names of the scope that a local provider was defined in, for its postponed annotations."""

    def __post_init__(self) -> None:
        local = {} if isinstance(self.provider, type) else enclosing_names(self.provider)
        object.__setattr__(self, "local_names", local)

    def within(self, local_names: Mapping[str, Any]) -> Depends:
        """Return the same for a provider that is local to the scope of the function that wants it."""
        found = Depends(self.provider, self.scope)
        object.__setattr__(found, "local_names", {**local_names, **self.local_names})
        return found


class ToolContext:
    """What a tool's function may know of the call it serves, and tell about it."""

    def __init__(self, tool: str, call: CallContext) -> None:
        self.tool = tool
        self.call = call
        self._is_cancelled = False
        self._loop = asyncio.get_running_loop()

    @property
    def caller(self) -> str:
        """The verified identity of who asks; empty on an open loopback."""
        return self.call.caller

    @property
    def meta(self) -> JsonObject:
        """The request's MCP `_meta`."""
        return self.call.meta

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the result any more; for sync functions, which cannot be interrupted."""
        return self._is_cancelled

    def cancel(self) -> None:
        """Say that nobody waits for the result any more."""
        self._is_cancelled = True

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far the work is; nothing happens when it does not listen."""
        if self.call.on_progress is not None:
            await self.call.on_progress(done, total, message)

    async def log(self, level: LogLevel, message: str) -> None:
        """Tell the caller what happens; nothing happens when it does not listen."""
        if self.call.on_log is not None:
            await self.call.on_log(level, message)

    def progress_from_thread(self, done: float, total: float | None = None, message: str = "") -> None:
        """Do as `progress` does, from a sync function; return when the caller has it."""
        self._wait_for(self.progress(done, total, message))

    def log_from_thread(self, level: LogLevel, message: str) -> None:
        """Do as `log` does, from a sync function; return when the caller has it."""
        self._wait_for(self.log(level, message))

    def _wait_for(self, report: Coroutine[Any, Any, None]) -> None:
        if self.is_cancelled:
            report.close()
            return
        asyncio.run_coroutine_threadsafe(report, self._loop).result(REPORT_SECONDS)


@dataclass(frozen=True, slots=True)
class Injection:
    """One supplied parameter of a function."""

    name: str
    kind: Literal["context", "named", "depends"]
    depends: Depends | None = None
    has_default: bool = False


def injection_of(
    name: str, annotation: Any, *, has_default: bool = False, local_names: Mapping[str, Any] | None = None
) -> Injection | None:
    """Say how a parameter is supplied, or None when the model gives it; the annotation must be resolved already."""
    bare: Any = annotation
    marks: list[Any] = []
    if typing.get_origin(annotation) is typing.Annotated:
        bare, *marks = typing.get_args(annotation)
    for mark in marks:
        if isinstance(mark, Depends):
            return Injection(name, "depends", mark.within(local_names or {}), has_default)
    candidates = typing.get_args(bare) or (bare,)
    if any(isinstance(each, type) and issubclass(each, ToolContext) for each in candidates):
        return Injection(name, "context", None, has_default)
    if name in INJECTED_NAMES:
        return Injection(name, "named", None, has_default)
    return None
