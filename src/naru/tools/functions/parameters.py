"""A parameter that the model fills: its annotation, its text, what stands for it when it is left out."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import Annotated, Any

import typing_extensions
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from naru.tools.functions.annotations import annotation_of_default, bare, members

EMPTY = inspect.Parameter.empty
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the model fills."""

    name: str
    kind: inspect._ParameterKind
    annotation: Any
    """Resolved; carries its limits as pydantic metadata."""
    description: str = ""
    """From the docstring or a note; empty when the annotation brings its own."""
    default: Any = EMPTY
    default_factory: typing.Callable[[], Any] | None = None
    supplies_default: bool = False
    """The default is not the signature's own (a `Field`, or None for an optional without one): we pass it."""
    may_be_missing: bool = False
    """Left out, it is not passed at all: a key of `**options: Unpack[Options]`."""

    @property
    def is_required(self) -> bool:
        """Whether the model has to give it."""
        has_default = self.default is not EMPTY or self.default_factory is not None
        return not (has_default or self.may_be_missing or self.kind in VARIADIC)


def visible_parameter(parameter: inspect.Parameter, annotation: Any, text: str) -> Parameter:
    """Read one parameter; `text` is what the docstring says of it."""
    default = parameter.default
    if annotation is EMPTY:
        annotation = annotation_of_default(default) if default is not EMPTY else Any
    if typing.get_origin(annotation) is typing_extensions.NotRequired:
        (annotation,) = typing.get_args(annotation)
        text = _description(annotation, text)
        return Parameter(parameter.name, parameter.kind, annotation, text, may_be_missing=True)
    text = _description(annotation, text)
    if isinstance(default, FieldInfo):
        text = "" if default.description else text
        annotation = Annotated[annotation, _without_default(default)]
        found = EMPTY if default.default in (PydanticUndefined, ...) else default.default
        factory = typing.cast(typing.Callable[[], Any] | None, default.default_factory)
        return Parameter(parameter.name, parameter.kind, annotation, text, found, factory, supplies_default=True)
    if default is EMPTY and parameter.kind not in VARIADIC and _allows_none(annotation):
        # An Optional without default is not demanded from the model; missing means None.
        return Parameter(parameter.name, parameter.kind, annotation, text, None, supplies_default=True)
    return Parameter(parameter.name, parameter.kind, annotation, text, default)


def _without_default(field: FieldInfo) -> FieldInfo:
    bare = FieldInfo.merge_field_infos(field)
    bare.default, bare.default_factory = PydanticUndefined, None
    bare._attributes_set = {k: v for k, v in field._attributes_set.items() if k not in ("default", "default_factory")}
    return bare


def _description(annotation: Any, text: str) -> str:
    """Return the text to describe a parameter with; empty when its annotation brings a `Field` description."""
    _, marks = bare(annotation)
    if any(isinstance(mark, FieldInfo) and mark.description for mark in marks):
        return ""
    notes = [mark for mark in marks if isinstance(mark, str)]
    notes += [mark.documentation for mark in marks if isinstance(mark, typing_extensions.Doc)]
    return " ".join(notes) or text


def _allows_none(annotation: Any) -> bool:
    return any(kind in (None, type(None)) for kind, _ in members(annotation))
