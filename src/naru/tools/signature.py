"""A function's tool schema from its signature, type hints and docstring (S2); what the host supplies never shows."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typing_extensions
from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, PydanticUndefined, to_jsonable_python

from naru.messages import JsonObject
from naru.tools import typed_dicts
from naru.tools.annotations import annotation_of_default, public_name, resolve, unwrap
from naru.tools.docstrings import read_docstring
from naru.tools.inject import Injection, injection_of
from naru.tools.json_schema import ADAPTER_CONFIG, PlainJsonSchema, simplified

EMPTY = inspect.Parameter.empty


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

    @property
    def is_required(self) -> bool:
        """Whether the model has to give it."""
        return self.default is EMPTY and self.default_factory is None and self.kind not in _VARIADIC


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """What a function says about itself as a tool."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    injected: tuple[Injection, ...]
    validator: TypeAdapter[dict[str, Any]]
    """Reads the arguments object: JSON values in, Python values out."""
    schema: JsonObject
    """JSON Schema 2020-12 of the arguments object."""


def build_tool_schema(function: Any) -> JsonObject:
    """Return a function's schema in OpenAI's form: `{"type": "function", "function": {name, description, parameters}}`.

    Raises:
        TypeError: it cannot be called, or a parameter's type cannot be read from JSON.
    """
    signature = read_signature(function)
    return openai_function(signature.name, signature.description, signature.schema)


def openai_function(name: str, description: str, parameters: JsonObject) -> JsonObject:
    """Return OpenAI's form of a tool."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def read_signature(function: Any, local_names: Mapping[str, Any] | None = None) -> ToolSignature:
    """Read what a function says about itself as a tool.

    Args:
        function: Anything callable; see `annotations.unwrap`.
        local_names: Names of the scope that it was defined in, for postponed annotations of local functions.

    Raises:
        TypeError: it cannot be called, or a parameter's type cannot be read from JSON.
    """
    signature, hints = resolve(function, local_names)
    text = read_docstring(inspect.getdoc(unwrap(function)) if not _is_builtin_doc(function) else "")
    visible: list[Parameter] = []
    injected: list[Injection] = []
    for parameter in signature.parameters.values():
        annotation = hints.get(parameter.name, EMPTY)
        has_default = parameter.default is not EMPTY
        supplied = injection_of(parameter.name, annotation, has_default=has_default, local_names=local_names)
        if supplied is not None:
            injected.append(supplied)
        else:
            visible.append(_visible(parameter, annotation, text.parameters.get(parameter.name, "")))
    validator = _validator(public_name(function), visible)
    return ToolSignature(
        name=public_name(function),
        description=text.description,
        parameters=tuple(visible),
        injected=tuple(injected),
        validator=validator,
        schema=_schema(validator, visible),
    )


def _is_builtin_doc(function: Any) -> bool:
    """Say whether the only docstring is that of `functools.partial` or of the object's own machinery."""
    return not inspect.isroutine(function) and not inspect.getdoc(unwrap(function))


def _visible(parameter: inspect.Parameter, annotation: Any, text: str) -> Parameter:
    default = parameter.default
    if annotation is EMPTY:
        annotation = annotation_of_default(default) if default is not EMPTY else Any
    text = _description(annotation, text)
    if isinstance(default, FieldInfo):
        text = "" if default.description else text
        annotation = Annotated[annotation, _without_default(default)]
        found = EMPTY if default.default in (PydanticUndefined, ...) else default.default
        factory = typing.cast(typing.Callable[[], Any] | None, default.default_factory)
        return Parameter(parameter.name, parameter.kind, annotation, text, found, factory, supplies_default=True)
    if default is EMPTY and parameter.kind not in _VARIADIC and _allows_none(annotation):
        # LESSONS, choice 4: an Optional without default is not demanded from the model; missing means None.
        return Parameter(parameter.name, parameter.kind, annotation, text, None, supplies_default=True)
    return Parameter(parameter.name, parameter.kind, annotation, text, default)


def _without_default(field: FieldInfo) -> FieldInfo:
    bare = FieldInfo.merge_field_infos(field)
    bare.default, bare.default_factory = PydanticUndefined, None
    bare._attributes_set = {k: v for k, v in field._attributes_set.items() if k not in ("default", "default_factory")}
    return bare


def _description(annotation: Any, text: str) -> str:
    """Return the text to describe a parameter with; empty when its annotation brings a `Field` description."""
    if typing.get_origin(annotation) is not Annotated:
        return text
    _, *metadata = typing.get_args(annotation)
    if any(isinstance(mark, FieldInfo) and mark.description for mark in metadata):
        return ""
    notes = [mark for mark in metadata if isinstance(mark, str)]
    notes += [mark.documentation for mark in metadata if isinstance(mark, typing_extensions.Doc)]
    return " ".join(notes) or text


def _allows_none(annotation: Any) -> bool:
    if typing.get_origin(annotation) is Annotated:
        return _allows_none(typing.get_args(annotation)[0])
    return annotation is None or type(None) in typing.get_args(annotation)


def _validator(name: str, parameters: list[Parameter]) -> TypeAdapter[dict[str, Any]]:
    fields: dict[str, Any] = {}
    extra_items: Any = None
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra_items = parameter.annotation
            continue
        annotation = parameter.annotation
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            annotation = types.GenericAlias(list, (annotation,))
        wrap = typing_extensions.Required if parameter.is_required else typing_extensions.NotRequired
        fields[parameter.name] = wrap[annotation]
    config = ConfigDict(**ADAPTER_CONFIG, extra="allow" if extra_items is not None else "ignore")
    keywords = {} if extra_items is None else {"extra_items": extra_items}
    make_shape: Any = typing_extensions.TypedDict  # made at run time, which type checkers do not follow
    shape = make_shape(name, fields, **keywords)
    shape.__pydantic_config__ = config
    try:
        try:
            return TypeAdapter(shape)
        except PydanticUserError as error:
            if error.code != typed_dicts.CODE:
                raise
            for parameter in parameters:
                typed_dicts.adopt(parameter.annotation)
            return TypeAdapter(shape)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise TypeError(
            f"tool {name!r}: a parameter's type cannot be read from JSON: {error.message.splitlines()[0]} "
            "Annotate it with a JSON type, a model or a dataclass, or have it supplied with Depends."
        ) from error


_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(validator: TypeAdapter[dict[str, Any]], parameters: list[Parameter]) -> JsonObject:
    if all(_is_scalar(parameter) for parameter in parameters):
        # Most tools: nothing that pydantic's generator, the dearest part of reading a signature, would add.
        schema: JsonObject = {
            "properties": {parameter.name: {"type": _SCALARS[parameter.annotation]} for parameter in parameters},
            "required": [parameter.name for parameter in parameters if parameter.is_required],
        }
    else:
        schema = simplified(validator.json_schema(schema_generator=PlainJsonSchema))
        schema.pop("title", None)
        schema.pop("description", None)
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
    properties = schema.setdefault("properties", {})
    for parameter in parameters:
        if parameter.description and parameter.name in properties:
            properties[parameter.name]["description"] = parameter.description
        if _shows_default(parameter):
            try:
                properties[parameter.name]["default"] = to_jsonable_python(parameter.default, bytes_mode="base64")
            except (PydanticSerializationError, ValueError):
                continue  # a default that only Python knows; the function applies it by itself
    ordered = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    return {**ordered, **{key: value for key, value in schema.items() if key not in ordered}}


def _is_scalar(parameter: Parameter) -> bool:
    return (
        isinstance(parameter.annotation, type) and parameter.annotation in _SCALARS and parameter.kind not in _VARIADIC
    )


def _shows_default(parameter: Parameter) -> bool:
    if parameter.default is EMPTY or parameter.kind in _VARIADIC:
        return False
    return parameter.default is not None or not parameter.supplies_default
