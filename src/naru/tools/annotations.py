"""What a callable is and what its parameters are annotated with, resolved in the callable's own module."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

logger = logging.getLogger(__name__)

AnyFunction = Callable[..., Any]


def unwrap(function: Any) -> AnyFunction:
    """Return the plain function or method below partials, static methods and callable objects.

    Raises:
        TypeError: it is a class, an unbound method, or cannot be called.
    """
    if isinstance(function, type):
        raise TypeError(f"{function.__name__} is a class; register a function, or an instance that has __call__")
    if isinstance(function, classmethod):
        raise TypeError(
            f"{function.__func__.__name__} is a classmethod that has no class yet; "
            "register it after the class is made: register_tool(TheClass.the_method)"
        )
    while isinstance(function, functools.partial | staticmethod):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if inspect.isroutine(function):
        return typing.cast(AnyFunction, function)
    if callable(function):
        return typing.cast(AnyFunction, type(function).__call__.__get__(function))
    raise TypeError(f"{function!r} cannot be called; register a function, a method, a partial or a callable object")


def public_name(function: Any) -> str:
    """Return the name that a tool made of this callable has when none is given."""
    while isinstance(function, functools.partial | staticmethod):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return str(getattr(function, "__name__", "") or type(function).__name__)


def resolve(function: Any, local_names: Mapping[str, Any] | None = None) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return a callable's signature and its resolved annotations, `Annotated` kept.

    An annotation that cannot be resolved costs only its own parameter: it becomes `Any`, with a warning.

    Raises:
        TypeError: it cannot be called, or is a method without its object.
    """
    inner = unwrap(function)
    target = function.__func__ if isinstance(function, staticmethod) else function
    signature = inspect.signature(target)
    _refuse_unbound(inner, signature)
    local_names = {**enclosing_names(function), **(local_names or {})}
    plain = inspect.unwrap(inner.__func__ if isinstance(inner, types.MethodType) else inner)
    try:
        # The common case, and the only one that follows a chain of wrappers by itself.
        hints = typing.get_type_hints(plain, localns=local_names or None, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        hints = _resolve_one_by_one(plain, local_names)
    return signature, hints


def enclosing_names(function: Any) -> dict[str, Any]:
    """Return the names of the running functions that this one was defined in, for its postponed annotations."""
    inner = unwrap(function)
    qualname: str = getattr(inner, "__qualname__", "")
    if "<locals>" not in qualname or not any(isinstance(each, str) for each in _annotations(inner).values()):
        return {}
    parts = qualname.split(".<locals>.")
    wanted = {".<locals>.".join(parts[: index + 1]) for index in range(len(parts) - 1)}
    scopes: list[Mapping[str, Any]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and wanted:
        if frame.f_code.co_qualname in wanted and frame.f_globals is getattr(inner, "__globals__", None):
            wanted.discard(frame.f_code.co_qualname)
            scopes.append(frame.f_locals)
        frame = frame.f_back
    return {name: value for scope in reversed(scopes) for name, value in scope.items()}


def _annotations(inner: Any) -> Mapping[str, Any]:
    return getattr(inner, "__annotations__", None) or {}


def _refuse_unbound(inner: Any, signature: inspect.Signature) -> None:
    first = next(iter(signature.parameters.values()), None)
    if first is not None and first.name in ("self", "cls") and first.annotation is inspect.Parameter.empty:
        raise TypeError(
            f"{getattr(inner, '__qualname__', inner)} is a method without its object: "
            "register the bound one, as in register_tool(instance.method)"
        )


def _resolve_one_by_one(function: Any, local_names: Mapping[str, Any]) -> dict[str, Any]:
    module = sys.modules.get(getattr(function, "__module__", "") or "")
    namespace: dict[str, Any] = dict(vars(typing))
    namespace.update(getattr(function, "__globals__", None) or vars(module or types))
    namespace.update(_closure(function))
    namespace.update(local_names)
    hints: dict[str, Any] = {}
    for name, annotation in _annotations(function).items():
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints[name] = typing.get_type_hints(holder, globalns=namespace, include_extras=True)[name]
        except (NameError, TypeError, AttributeError, SyntaxError) as error:
            logger.warning(
                "%s.%s: the annotation of %r cannot be resolved (%s); any value is accepted for it",
                getattr(function, "__module__", "?"),
                getattr(function, "__qualname__", "?"),
                name,
                error,
            )
            hints[name] = Any
    return hints


def _closure(function: Any) -> dict[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet: a name defined after the function
            continue
    return found


def annotation_of_default(default: Any) -> Any:
    """Return the annotation that a default stands for, for a parameter that has none."""
    match default:
        case bool() | int() | float() | str() | bytes() | Enum():
            return type(default)
        case list() | tuple() | set() | frozenset():
            return list[Any]
        case dict():
            return dict[str, Any]
        case _:
            return Any
