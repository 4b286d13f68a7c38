"""Where `naru tool` finds tools: functions of modules, built-in servers, the hub's servers; only what a name needs."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from naru.errors import ConfigError
from naru.tools.combined import CombinedToolset
from naru.tools.functions import FunctionToolset
from naru.tools.registry import REGISTRY, discover
from naru.tools.toolset import Toolset

BUILTINS = {
    "hr": ("naru.builtins.hr.server", "hr_toolset"),
    "data": ("naru.builtins.data.toolset", "data_toolset"),
}
"""Server name → where its toolset is made; imported only when it is needed."""
OWN = ""
"""Server name of the functions of modules: they are called by their own names."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a command line says about where tools are."""

    modules: tuple[str, ...] = ()
    store: str = ""
    local: bool = False

    @asynccontextmanager
    async def toolset(self, name: str = "") -> AsyncIterator[CombinedToolset]:
        """Open the tools that a name may mean, or all of them when it is empty.

        Raises:
            ConfigError: a module cannot be imported.
        """
        toolsets: dict[str, Toolset] = {}
        if self.modules:
            toolsets[OWN] = module_toolset(self.modules)
        server = _server_of(name)
        if not self.modules or server in BUILTINS:
            toolsets |= {builtin: builtin_toolset(builtin) for builtin in BUILTINS if server in ("", builtin)}
        combined = CombinedToolset(toolsets)
        await combined.open()
        try:
            await combined.tools()
            yield combined
        finally:
            await combined.close()


def module_toolset(modules: tuple[str, ...]) -> FunctionToolset:
    """Return the registered functions of modules; of a module that registers none, all its public ones.

    Raises:
        ConfigError: a module cannot be imported, or has no functions.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # a module beside the caller, as `python -m` finds it
    toolset = FunctionToolset([])
    for module in modules:
        discover(module)
        registered = REGISTRY.of_modules(module)
        for function in registered or _public_functions(module):
            toolset.add(function)
    return toolset


def _public_functions(name: str) -> list[Callable[..., object]]:
    module = importlib.import_module(name)
    found: list[Callable[..., object]] = [
        function
        for key, function in vars(module).items()
        if inspect.isfunction(function) and not key.startswith("_") and function.__module__ == module.__name__
    ]
    if not found:
        raise ConfigError(
            f"module {name!r} has no functions to call.", remedy="Put @register_tool before those that are tools."
        )
    return found


def builtin_toolset(name: str) -> Toolset:
    """Make the tool set of one of `BUILTINS`."""
    module, factory = BUILTINS[name]
    made: Toolset = getattr(importlib.import_module(module), factory)()
    return made


def _server_of(name: str) -> str:
    """Return the server that a qualified name says, or an empty text."""
    for separator in ("__", ".", "/"):
        server, found, _ = name.partition(separator)
        if found and server in BUILTINS:
            return server
    return ""
