"""What a callable is and what its parameters are annotated with, resolved in the callable's own module."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

import typing_extensions

from naru.tools.functions.wrapped import supplied_by_wrappers

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
    function = _opened(function)[0]
    if inspect.isroutine(function):
        return typing.cast(AnyFunction, function)
    if callable(function):
        return typing.cast(AnyFunction, type(function).__call__.__get__(function))
    raise TypeError(f"{function!r} cannot be called; register a function, a method, a partial or a callable object")


def public_name(function: Any) -> str:
    """Return the name that a tool made of this callable has when none is given."""
    function = _opened(function)[0]
    return str(getattr(function, "__name__", "") or type(function).__name__)


def resolve(function: Any, local_names: Mapping[str, Any] | None = None) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return a callable's signature and its resolved annotations, `Annotated` kept.

    What a partial binds is settled and not part of it. An annotation that cannot be resolved costs only its own
    parameter: it becomes `Any`, with a warning.

    Raises:
        TypeError: it cannot be called, is a method without its object, or tells no signature.
    """
    inner = unwrap(function)
    signature = _signature(function)
    _refuse_unbound(inner, signature)
    local_names = {**enclosing_names(function), **(local_names or {})}
    plain = inspect.unwrap(inner.__func__ if isinstance(inner, types.MethodType) else inner)
    try:
        # The common case, and the only one that follows a chain of wrappers by itself.
        hints = typing.get_type_hints(plain, localns=local_names or None, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        hints = _resolve_one_by_one(plain, local_names)
    return signature, hints


def spread(signature: inspect.Signature, hints: dict[str, Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Put the keys of a TypedDict in the place of `**options: Unpack[Options]` (PEP 692), each with its annotation."""
    places: list[inspect.Parameter] = []
    keys: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        annotation = hints.get(parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD and typing.get_origin(annotation) in _UNPACKS:
            (options,) = typing.get_args(annotation)
            told = typing.get_type_hints(options, include_extras=True)
            keys = {name: _key(kind, name in options.__required_keys__) for name, kind in told.items()}
            places += [inspect.Parameter(name, parameter.KEYWORD_ONLY) for name in keys]
        else:
            places.append(parameter)
    return signature.replace(parameters=places), {**hints, **keys}


def _key(annotation: Any, is_required: bool) -> Any:
    """Return a key's annotation in `NotRequired` where it may be left out, without other qualifiers round it."""
    while (origin := typing.get_origin(annotation)) in _QUALIFIERS:
        if origin in (typing_extensions.Required, typing_extensions.NotRequired):
            is_required = origin is typing_extensions.Required
        (annotation,) = typing.get_args(annotation)
    return annotation if is_required else typing_extensions.NotRequired[annotation]


def is_resolvable(function: Any, local_names: Mapping[str, Any]) -> bool:
    """Say whether all annotations can be resolved now: one may name what its module defines later."""
    inner = unwrap(function)
    plain = inspect.unwrap(inner.__func__ if isinstance(inner, types.MethodType) else inner)
    try:
        typing.get_type_hints(plain, localns=dict(local_names) or None, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return False
    return True


def resolve_class(provider: type) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return what a class is called with, and the annotations of it; nothing where it does not say."""
    try:
        signature = inspect.signature(provider)
    except (TypeError, ValueError):
        return inspect.Signature(), {}
    hints: dict[str, Any] = {}
    for holder in (provider, vars(provider).get("__init__", provider)):
        try:
            hints |= typing.get_type_hints(holder, include_extras=True)
        except (NameError, TypeError, AttributeError, SyntaxError):
            continue
    return signature, hints


def bound_names(function: Any) -> frozenset[str]:
    """Return the names of parameters that a partial has given a value by name, or a decorator supplies."""
    inner, _, named = _opened(function)
    try:
        return supplied_by_wrappers(inner) | named.keys()
    except (TypeError, ValueError):
        return frozenset(named)


def _signature(function: Any) -> inspect.Signature:
    settled = bound_names(function)
    function, positional, named = _opened(function)
    if positional or named:
        # Made anew: after `update_wrapper` the partial itself shows what it binds as still open.
        function = functools.partial(function, *positional, **named)
    try:
        signature = inspect.signature(function)
    except ValueError as error:
        raise TypeError(
            f"{public_name(function)} tells no signature, as some builtins do not; register a function of your own "
            "that calls it"
        ) from error
    return signature.replace(parameters=[each for each in signature.parameters.values() if each.name not in settled])


def _opened(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return what partials and static methods are made of: the function, values by place, values by name."""
    positional: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    while isinstance(function, functools.partial | staticmethod):
        if isinstance(function, functools.partial):
            positional, named = (*function.args, *positional), {**function.keywords, **named}
            function = function.func
        else:
            function = function.__func__
    return function, positional, named


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


_ALIASES = tuple({typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType)})
_UNIONS = (typing.Union, types.UnionType)
_QUALIFIERS = (typing_extensions.Required, typing_extensions.NotRequired, typing.Final, typing_extensions.ReadOnly)
_UNPACKS = (typing.Unpack, typing_extensions.Unpack)
_MAX_DEPTH = 32
"""Aliases of aliases; more is one that names itself."""


def bare(annotation: Any) -> tuple[Any, list[Any]]:
    """Return an annotation below `type X = …`, `Annotated` and qualifiers, and the marks that stood round it."""
    marks: list[Any] = []
    for _ in range(_MAX_DEPTH):
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation, *inner = typing.get_args(annotation)
            marks = [*inner, *marks]
        elif origin in _QUALIFIERS:
            annotation = typing.get_args(annotation)[0]
        elif isinstance(annotation, _ALIASES) or isinstance(origin, _ALIASES):
            annotation = _aliased(annotation)
        else:
            break
    return annotation, marks


def members(annotation: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each type that an annotation allows, unions within unions opened, with the marks that stand round it."""
    waiting: list[tuple[Any, list[Any]]] = [(annotation, [])]
    seen = 0
    while waiting and (seen := seen + 1) <= _MAX_DEPTH**2:
        each, outer = waiting.pop(0)
        inner, marks = bare(each)
        marks = [*marks, *outer]
        if typing.get_origin(inner) in _UNIONS:
            waiting = [*((one, marks) for one in typing.get_args(inner)), *waiting]
        else:
            yield inner, marks


def _aliased(alias: Any) -> Any:
    """Return what `type X = …` or `X[int]` stands for; any value where its own names cannot be resolved."""
    origin = typing.get_origin(alias)
    try:
        if not isinstance(origin, _ALIASES):
            return alias.__value__
        value = origin.__value__
        given = dict(zip(origin.__type_params__, typing.get_args(alias), strict=False))
        wanted = getattr(value, "__parameters__", ())
        return value[tuple(given.get(each, Any) for each in wanted)] if wanted else value
    except (NameError, TypeError, AttributeError):
        return Any


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
