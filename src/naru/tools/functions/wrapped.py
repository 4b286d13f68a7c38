"""Which parameters of a decorated function its decorators leave open: what one supplies is no caller's to give.

`functools.wraps` shows the inner signature whatever the wrapper does with it. A wrapper without `*args` and `**kwargs`
takes what it says itself; of others their own call of the inner function is read.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def supplied_by_wrappers(function: Any) -> frozenset[str]:
    """Return the names of parameters that a function's decorators fill by themselves."""
    if not hasattr(function, "__wrapped__"):
        return frozenset()
    return frozenset(_names(function)) - frozenset(_open(function, 0))


def is_dispatching(function: Any) -> bool:
    """Say whether it is a `singledispatch`, which chooses by an argument that is passed by its place."""
    return hasattr(function, "__wrapped__") and callable(getattr(function, "register", None))


def _open(function: Any, depth: int) -> list[str]:
    """Return the names that can be passed, in order."""
    inner = getattr(function, "__wrapped__", None)
    if inner is None or hasattr(function, "__signature__") or is_dispatching(function) or depth > 32:
        return _names(function)
    names = _open(inner, depth + 1)
    wrapper = _code_of(function)
    if wrapper is None:
        return names
    own = list(inspect.signature(wrapper, follow_wrapped=False).parameters.values())[wrapper is not function :]
    if not any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in own):
        taken = {each.name for each in own}
        return [name for name in names if name in taken]
    supplied = _supplied(function, wrapper, inner)
    return [name for name in names[supplied.by_place :] if name not in supplied.names]


def _names(function: Any) -> list[str]:
    return [each.name for each in inspect.signature(function).parameters.values()]


def _code_of(function: Any) -> Any:
    """Return the plain function that runs when a wrapper is called."""
    if inspect.isfunction(function):
        return function
    if inspect.ismethod(function):
        return function.__func__
    call = inspect.getattr_static(type(function), "__call__", None)
    return call if inspect.isfunction(call) else None


@dataclass(frozen=True, slots=True)
class _Supplied:
    by_place: int = 0
    names: frozenset[str] = frozenset()


def _supplied(function: Any, wrapper: Any, inner: Any) -> _Supplied:
    """Read from a wrapper's source what it adds to the call of the inner function; nothing where there is no source."""
    code = wrapper.__code__
    try:
        tree = _parsed(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return _Supplied()
    node = next((each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)), None)
    if node is None:
        return _Supplied()
    cells = zip(code.co_freevars, wrapper.__closure__ or (), strict=False)
    local = {name for name, cell in cells if _content(cell) is inner}
    fields = {name for name, value in getattr(function, "__dict__", {}).items() if value is inner}
    rest = node.args.kwarg.arg if node.args.kwarg else ""
    own = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    passed = {*own[wrapper is not function :], *(each.arg for each in node.args.kwonlyargs)}
    passed |= set(_keys(node, rest, reads=True))
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and _is_inner(call.func, local, fields):
            named = {each.arg for each in call.keywords if each.arg and not _passes_on(each.value, rest, passed)}
            named |= {key for key in _keys(node, rest, reads=False) if key not in passed}
            return _Supplied(_leading(call, passed), frozenset(named))
    return _Supplied()


def _parsed(source: str) -> ast.Module:
    """Parse, and once more where Python before 3.11.8 lost its count since something else was parsed meanwhile."""
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _is_inner(node: ast.expr, local: set[str], fields: set[str]) -> bool:
    return (isinstance(node, ast.Name) and node.id in local) or (
        isinstance(node, ast.Attribute) and node.attr in fields
    )


def _leading(call: ast.Call, passed: set[str]) -> int:
    """Count the values that stand before `*args` and are the wrapper's own."""
    count = 0
    for each in call.args:
        if isinstance(each, ast.Starred):
            return count
        if isinstance(each, ast.Name) and each.id in passed:
            return 0
        count += 1
    return count


def _passes_on(value: ast.expr, rest: str, passed: set[str]) -> bool:
    """Say whether a value is made of what the caller gave."""
    return any(isinstance(each, ast.Name) and each.id in {*passed, rest} - {""} for each in ast.walk(value))


def _keys(node: ast.AST, rest: str, *, reads: bool) -> Iterator[str]:
    """Yield the keys of the wrapper's `**kwargs` that it reads, or those that it sets."""
    readers, setters = {"get", "pop"}, {"setdefault"}
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and _is_name(each.value, rest) and isinstance(each.slice, ast.Constant):
            if isinstance(each.ctx, ast.Load) is reads:
                yield str(each.slice.value)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and _is_name(each.func.value, rest):
            first = each.args[0] if each.args else None
            if each.func.attr in (readers if reads else setters) and isinstance(first, ast.Constant):
                yield str(first.value)
            elif each.func.attr == "update" and not reads:
                yield from (word.arg for word in each.keywords if word.arg)


def _is_name(node: ast.expr, name: str) -> bool:
    return bool(name) and isinstance(node, ast.Name) and node.id == name
