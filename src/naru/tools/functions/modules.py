"""From a module, a package or a file to its functions as a Toolset."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

from naru.errors import ConfigError
from naru.tools.functions.registry import REGISTRY, discover
from naru.tools.functions.toolset import FunctionToolset


def module_toolset(modules: tuple[str, ...]) -> FunctionToolset:
    """Return the registered functions of modules or files; of one that registers none, all its public ones.

    Raises:
        ConfigError: a module cannot be imported, or has no functions.
    """
    find_beside(Path.cwd())  # as `python -m` finds it
    toolset = FunctionToolset([])
    for target in modules:
        module = _file_module(target) if is_file(target) else target
        discover(module)
        registered = REGISTRY.of_modules(module)
        for function in registered or _public_functions(module):
            toolset.add(function)
    return toolset


def find_beside(folder: Path) -> None:
    """Let modules of a folder be imported."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def is_file(target: str) -> bool:
    """Tell whether somebody means a file rather than a module."""
    is_no_module = not all(target.split(".")) or Path(target).is_file()
    return target.endswith(".py") or "/" in target or "\\" in target or ("." in target and is_no_module)


def file_of(target: str) -> Path:
    """Return the Python file that somebody means.

    Raises:
        ConfigError: it is not there, or is something else.
    """
    path = Path(target).expanduser().absolute()
    remedy = "Correct the path; a module is named without .py, such as my_package.tools."
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not there"
        raise ConfigError(f"{target!r} names a file of tools, and {path} is {what}.", remedy=remedy)
    if path.suffix != ".py":
        raise ConfigError(f"{target!r} names a file of tools, and {path.name} is no .py file.", remedy=remedy)
    return path


def import_file(path: Path) -> str:
    """Run a file as a module, with those beside it; return its name, which is not that of another module.

    Raises:
        Exception: whatever the file raises.
    """
    find_beside(path.parent)
    name = path.stem if path.stem not in sys.modules else f"tools_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return name


def short_name(target: str) -> str:
    """Return what a server of a module's or file's functions is called."""
    return Path(target).stem if is_file(target) else target.rpartition(".")[2]


def _file_module(target: str) -> str:
    path = file_of(target)
    try:
        return import_file(path)
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"running {target!r} for its tools failed: {type(error).__name__}: {error}.",
            remedy="Correct the file; what it imports has to be installed or beside it.",
        ) from error


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
