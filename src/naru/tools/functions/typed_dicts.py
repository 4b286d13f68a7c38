"""`typing.TypedDict` on Python 3.11, which pydantic refuses there: it is told how to read the class.

From Python 3.12 on nothing of this is used.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

import typing_extensions

CODE = "typed-dict-version"
"""Pydantic's error code for it."""
_HOOK = "__get_pydantic_core_schema__"


def adopt(annotation: Any) -> None:
    """Teach pydantic every `typing.TypedDict` that an annotation reaches, through containers and fields."""
    seen: set[int] = set()
    waiting = [annotation]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        waiting.extend(_inner(found))
        if typing.is_typeddict(found) and type(found).__module__ == "typing" and _HOOK not in vars(found):
            setattr(found, _HOOK, _Modern(found))


def _inner(annotation: Any) -> Iterator[Any]:
    yield from (each for each in typing.get_args(annotation) if not isinstance(each, str | int | bytes))
    has_fields = (
        typing.is_typeddict(annotation) or dataclasses.is_dataclass(annotation) or hasattr(annotation, "_fields")
    )
    if isinstance(annotation, type) and has_fields:
        try:
            yield from typing.get_type_hints(annotation, include_extras=True).values()
        except (NameError, TypeError):
            return  # pydantic says what it cannot resolve


class _Modern:
    """Reads a class by the twin that pydantic takes, made at the first use."""

    def __init__(self, shape: Any) -> None:
        self._shape = shape
        self._twin: Any = None

    def __call__(self, source: Any, handler: Any) -> Any:
        if self._twin is None:
            hints = typing.get_type_hints(self._shape, include_extras=True)
            make: Any = typing_extensions.TypedDict  # made at run time, which type checkers do not follow
            self._twin = make(self._shape.__name__, {name: self._field(name, hint) for name, hint in hints.items()})
            self._twin.__doc__ = self._shape.__doc__
            self._twin.__module__ = self._shape.__module__
        return handler.generate_schema(self._twin)

    def _field(self, name: str, hint: Any) -> Any:
        """Return a field with its own qualifier, which postponed annotations hide from the class, or the class's."""
        if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
            return hint
        is_required = name in self._shape.__required_keys__
        return typing_extensions.Required[hint] if is_required else typing_extensions.NotRequired[hint]
