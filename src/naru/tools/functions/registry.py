"""The registry of Python tools (S1, S4): `@register_tool`, what it collected, and discovery in packages."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterable
from operator import is_
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar, overload

from naru.errors import ConfigError, ConflictError
from naru.messages import JsonObject
from naru.tools.functions.annotations import public_name, unwrap
from naru.tools.functions.foreign import foreign_tool
from naru.tools.functions.function_tool import FunctionTool

F = TypeVar("F", bound=Callable[..., Any])


class _Named(Protocol):
    """A tool of another library."""

    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


class ToolWarning(UserWarning):
    """A function was registered that cannot be offered as it is."""


class ToolConfig(NamedTuple):
    """What a host offers: schemas for the model, functions to run (S4)."""

    tools_schema: list[JsonObject]
    available_tools: dict[str, Callable[..., Any]]


class ToolRegistry:
    """Names and the functions behind them."""

    def __init__(self) -> None:
        self._tools: dict[str, FunctionTool] = {}

    def add(self, tool: FunctionTool) -> FunctionTool:
        """Keep a tool; the same function twice is one entry.

        Raises:
            ConflictError: another function has this name.
        """
        name = tool.name
        held = self._tools.get(name)
        if held is None:
            self._tools[name] = tool
            return tool
        if _is_same(held.function, tool.function):
            self._tools[name] = tool
            return tool
        raise ConflictError(
            f"register_tool: {_where(tool.function)} cannot be tool {name!r}, {_where(held.function)} already is.",
            remedy='Give one of them another name: @register_tool(name="…").',
        )

    def remove(self, name: str) -> None:
        """Forget a tool; nothing happens when there is none."""
        self._tools.pop(name, None)

    def clear(self) -> None:
        """Forget every tool."""
        self._tools.clear()

    def tools(self) -> list[FunctionTool]:
        """Return the tools in the order of their registration."""
        return list(self._tools.values())

    def find(self, function: Any) -> FunctionTool | None:
        """Return the tool that a function was registered as, or None."""
        # A method is another object each time that it is looked up.
        return next((tool for tool in self._tools.values() if tool.function == function), None)

    def of_modules(self, *modules: str) -> list[FunctionTool]:
        """Return the tools whose functions were defined in these modules or packages."""
        return [
            tool
            for tool in self._tools.values()
            if any(tool.module == module or tool.module.startswith(f"{module}.") for module in modules)
        ]


REGISTRY = ToolRegistry()
"""The process's own registry, which `register_tool` fills."""


@overload
def register_tool(function: F, /) -> F: ...


@overload
def register_tool(their_tool: Named, /) -> Named: ...


@overload
def register_tool(
    target: str = "",
    /,
    *,
    name: str = "",
    description: str | None = None,
    schema: JsonObject | None = None,
    annotations: JsonObject | None = None,
    registry: ToolRegistry | None = None,
) -> Callable[[F], F]: ...


def register_tool(
    target: Any = "",
    /,
    *,
    name: str = "",
    description: str | None = None,
    schema: JsonObject | None = None,
    annotations: JsonObject | None = None,
    registry: ToolRegistry | None = None,
) -> Any:
    """Register a function as a tool and return it unchanged; with and without brackets.

    A tool of FastMCP, LangChain or pydantic-ai is registered as it is: `register_tool(their_tool)`.

    Args:
        target: The function, or the tool's name.
        name: The tool's name; the function's own when empty.
        description: What the model reads; the docstring's when None.
        schema: JSON Schema of the arguments; beats the signature.
        annotations: MCP annotations such as `readOnlyHint`.
        registry: Where to keep it; the process's own when None.

    A function that cannot be offered, such as one with a parameter that JSON cannot tell, is a `ToolWarning` now and
    stands in `problems()`; the other tools go on without it.

    Raises:
        TypeError: it is used on a class or on something that cannot be called.
        ConflictError: another function has this name.
    """
    kept = REGISTRY if registry is None else registry

    def register(function: F) -> F:
        given: dict[str, Any] = {"description": description, "schema": schema, "annotations": annotations}
        tool = foreign_tool(function, name=given_name, **given)
        if tool is None:
            if not callable(function) or isinstance(function, type):
                unwrap(function)  # says what is wrong with it
            tool = FunctionTool(function, name=given_name, **given)
        kept.add(tool)
        if problem := tool.early_problem():
            warnings.warn(f"register_tool: {problem}. It is not offered.", ToolWarning, stacklevel=2 + bare)
        return function

    bare = not isinstance(target, str)
    given_name = name or ("" if bare else target)
    return register(target) if bare else register


def get_registered_tools() -> list[Callable[..., Any]]:
    """Return the registered functions in the order of their registration."""
    return [tool.function for tool in REGISTRY.tools()]


def generate_tool_config(registry: ToolRegistry | None = None) -> ToolConfig:
    """Return the schemas and the functions of all registered tools that can be offered; see `problems`."""
    tools = [tool for tool in (REGISTRY if registry is None else registry).tools() if not tool.problem]
    return ToolConfig([tool.openai_schema for tool in tools], {tool.name: tool.function for tool in tools})


def problems(registry: ToolRegistry | None = None) -> dict[str, str]:
    """Return the registered tools that cannot be offered: name → which parameter, and what to write instead."""
    tools = (REGISTRY if registry is None else registry).tools()
    return {tool.name: problem for tool in tools if (problem := tool.problem)}


def discover(*packages: str | ModuleType) -> list[str]:
    """Import every module of packages, so that their decorators run; return the names of the modules.

    Raises:
        ConfigError: a package or one of its modules cannot be imported.
    """
    return [name for package in packages for name in _import_all(package)]


def _import_all(package: str | ModuleType) -> Iterable[str]:
    module = _imported(package) if isinstance(package, str) else package
    yield module.__name__
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}.", onerror=_ignore):
        if not found.name.endswith("__main__"):
            yield _imported(found.name).__name__


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a module may fail in any way when it is run, or be a script that ends
        raise ConfigError(
            f"importing {name!r} for its tools failed: {type(error).__name__}: {error}.",
            remedy="Check the name and that it is installed or on PYTHONPATH."
            if isinstance(error, ImportError)
            else "Correct the module; what a script does when it is run belongs below `if __name__ == '__main__':`.",
        ) from error


def _ignore(name: str) -> None:
    """Let `_imported` report it: walk_packages would swallow an ImportError and raise the rest bare."""


def _is_same(held: Any, new: Any) -> bool:
    """Say whether it is the same function, perhaps of a reloaded module."""
    if held is new or held == new:
        return True
    if isinstance(held, functools.partial) and isinstance(new, functools.partial):
        return held.func == new.func and held.keywords == new.keywords and all(map(is_, held.args, new.args))
    codes = [getattr(unwrap(each), "__code__", None) for each in (held, new)]
    names = [getattr(unwrap(each), "__qualname__", "") for each in (held, new)]
    if None in codes or "<locals>" in names[0] or not inspect.isfunction(held) or not inspect.isfunction(new):
        return False
    first, second = ((code.co_filename, code.co_firstlineno) for code in codes if code is not None)
    return first == second and names[0] == names[1] and held.__module__ == new.__module__


def _where(function: Any) -> str:
    inner = unwrap(function)
    return f"{getattr(inner, '__module__', '?')}.{getattr(inner, '__qualname__', public_name(function))}"


def __getattr__(name: str) -> Any:
    """Offer `tools_schema` and `available_tools` as the seed does, always as they are now."""
    if name in ToolConfig._fields:
        return getattr(generate_tool_config(), name)
    raise AttributeError(name)
