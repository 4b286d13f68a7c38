"""What the host supplies to a tool's function: how it is declared, and the call's own `ToolContext`.

`dependencies` opens and closes what is declared here.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from naru.messages import JsonObject
from naru.tools.functions.annotations import enclosing_names, members
from naru.tools.toolset import CallContext

INJECTED_NAMES = frozenset({"db", "client", "httpx_client", "current_user"})
"""Parameters that a host supplies by name, whatever their annotation (S2)."""

Scope = Literal["call", "application"]
LogLevel = Literal["debug", "info", "warning", "error"]
REPORT_SECONDS = 5.0
"""How long a worker thread waits for the loop to take a report."""


def own_class() -> None:
    """Stand for the class that a parameter is annotated with, as `Depends()` says it."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """The mark that `Depends` makes."""

    provider: Callable[..., Any]
    scope: Scope = "call"
    use_cache: bool = True
    local_names: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """Names of the scope that a local provider was defined in, for its postponed annotations."""

    def __post_init__(self) -> None:
        local = {} if isinstance(self.provider, type) else enclosing_names(self.provider)
        object.__setattr__(self, "local_names", local)

    def within(self, local_names: Mapping[str, Any], classes: Sequence[type]) -> Dependency:
        """Return the same for a parameter of these classes, in the scope of the function that wants it."""
        provider = classes[0] if self.provider is own_class and classes else self.provider
        found = Dependency(provider, self.scope, self.use_cache)
        object.__setattr__(found, "local_names", {**local_names, **self.local_names})
        return found

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Refuse to be part of a value: the rest of it is the model's, and so would be what stands in this place."""
        raise TypeError(
            "Depends stands inside a type that the model fills; only a parameter itself can be supplied. "
            "Give what is supplied a parameter of its own"
        )


def Depends(  # noqa: N802  # reads as FastAPI's, and as a function it may be the default of a parameter of any type
    provider: Callable[..., Any] | None = None, scope: Scope = "call", *, use_cache: bool = True
) -> Any:
    """Mark a parameter as supplied, in its annotation or as its default; the model neither sees nor fills it.

    `pool: Annotated[Pool, Depends(open_pool, scope="application")]`, `user: str = Depends(current)`.

    Args:
        provider: A function, a generator that yields once, a `contextmanager`, a class; sync or async; what it wants
            itself is supplied too. The parameter's own class when left out.
        scope: `call`: opened and closed with each call; `application`: opened at first use, closed with the toolset.
        use_cache: Whether all parameters of one call that want this provider share one value.
    """
    return Dependency(own_class if provider is None else provider, scope, use_cache)


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
        waiting = asyncio.run_coroutine_threadsafe(report, self._loop)
        with contextlib.suppress(TimeoutError):  # a client that takes no report costs the report, not the work
            waiting.result(REPORT_SECONDS)
        waiting.cancel()


@dataclass(frozen=True, slots=True)
class Injection:
    """One supplied parameter of a function."""

    name: str
    kind: Literal["context", "named", "depends"]
    depends: Dependency | None = None
    has_default: bool = False


def injection_of(
    parameter: inspect.Parameter, annotation: Any, *, local_names: Mapping[str, Any] | None = None
) -> Injection | None:
    """Say how a parameter is supplied, or None when the model gives it; the annotation must be resolved already.

    Raises:
        TypeError: it is marked as supplied in a way that nothing can supply.
    """
    name = parameter.name
    kinds, marks = _kinds_and_marks(annotation)
    by_default = _as_dependency(parameter.default)
    has_default = parameter.default is not inspect.Parameter.empty and by_default is None
    found = [*marks, *([by_default] if by_default is not None else [])]
    if found:
        if len({each.provider for each in found}) > 1:
            raise TypeError(f"parameter {name!r} is marked with Depends of several providers; keep one of them")
        classes = [each for each in kinds if isinstance(each, type) and each not in (type(None), Any, object)]
        depends = found[-1].within(local_names or {}, classes)
        if depends.provider is own_class:
            raise TypeError(f"parameter {name!r}: Depends() without a provider needs a class as the annotation")
        injection = Injection(name, "depends", depends, has_default)
    elif any(isinstance(each, type) and issubclass(each, ToolContext) for each in kinds):
        injection = Injection(name, "context", None, has_default)
    elif name in INJECTED_NAMES:
        injection = Injection(name, "named", None, has_default)
    else:
        return None
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TypeError(f"parameter {parameter} takes any number of values and cannot be supplied; name each of them")
    return injection


def _kinds_and_marks(annotation: Any) -> tuple[list[Any], list[Dependency]]:
    """Return the types that a parameter may have and the marks of its dependency, wherever in a union they stand."""
    kinds: list[Any] = []
    marks: list[Dependency] = []
    for kind, around in members(annotation):
        kinds.append(kind)
        marks += filter(None, map(_as_dependency, around))
    return kinds, marks


def _as_dependency(mark: Any) -> Dependency | None:
    """Read `Depends` of our own, or of FastAPI and those that copy it, which people import by habit."""
    if isinstance(mark, Dependency):
        return mark
    if type(mark).__name__.strip("_") not in ("Depends", "Security") or not hasattr(mark, "dependency"):
        return None
    return Dependency(mark.dependency or own_class, "call", getattr(mark, "use_cache", True) is not False)
