"""A function's tool schema from its signature, type hints and docstring (S2); what the host supplies never shows."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import typing_extensions
from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticErrorMixin, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import PydanticSerializationError, SchemaValidator, to_jsonable_python

from naru.messages import JsonObject
from naru.tools.functions import typed_dicts
from naru.tools.functions.annotations import bound_names, public_name, resolve, spread, unwrap
from naru.tools.functions.dependencies import check_providers
from naru.tools.functions.docstrings import read_docstring
from naru.tools.functions.inject import Injection, injection_of
from naru.tools.functions.json_schema import ADAPTER_CONFIG, PlainJsonSchema, can_be_written, simplified
from naru.tools.functions.mended import reading_json
from naru.tools.functions.parameters import EMPTY, VARIADIC, Parameter, visible_parameter


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """What a function says about itself as a tool."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    injected: tuple[Injection, ...]
    hidden: frozenset[str]
    """Names that are supplied or settled; what a model sends under one of them is never used."""
    places: tuple[inspect.Parameter, ...]
    """All parameters in the function's own order, for those that are passed by their place."""
    validator: SchemaValidator
    """Reads the arguments object: JSON values in, Python values out."""
    schema: JsonObject
    """JSON Schema 2020-12 of the arguments object."""
    returns: Any = None
    """The resolved return annotation; None when there is none."""


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
        TypeError: it cannot be called, a parameter's type cannot be read from JSON, or one cannot be supplied as it is
            marked. The message names the parameter and says what to write instead.
    """
    try:
        return _read(function, local_names)
    except TypeError:
        raise
    except Exception as error:  # hooks of types, docstrings and signatures are foreign code
        raise TypeError(f"tool {public_name(function)!r} cannot be read: {_one_line(error)}") from error


def _read(function: Any, local_names: Mapping[str, Any] | None) -> ToolSignature:
    signature, hints = spread(*resolve(function, local_names))
    text = read_docstring(_docstring(function))
    visible: list[Parameter] = []
    injected: list[Injection] = []
    for parameter in signature.parameters.values():
        annotation = hints.get(parameter.name, EMPTY)
        supplied = injection_of(parameter, annotation, local_names=local_names)
        if supplied is not None:
            injected.append(supplied)
        else:
            visible.append(visible_parameter(parameter, annotation, text.parameters.get(parameter.name, "")))
    check_providers(injected)
    try:
        adapter = _adapter(public_name(function), visible)
        schema = _schema(adapter, visible)
    except Exception as error:
        raise _unreadable(public_name(function), visible, error) from error
    return ToolSignature(
        name=public_name(function),
        description=text.description,
        parameters=tuple(visible),
        injected=tuple(injected),
        hidden=frozenset(each.name for each in injected) | bound_names(function),
        places=tuple(signature.parameters.values()),
        validator=reading_json(adapter, as_it_is=all(map(_is_scalar, visible))),
        schema=schema,
        returns=hints.get("return"),
    )


def _docstring(function: Any) -> str:
    """Return the docstring; none where only the machinery of callable objects has one."""
    found = inspect.getdoc(unwrap(function)) or ""
    return "" if found == inspect.getdoc(type.__call__) else found


def _adapter(name: str, parameters: list[Parameter]) -> TypeAdapter[dict[str, Any]]:
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
        return TypeAdapter(shape)
    except PydanticUserError as error:
        if error.code != typed_dicts.CODE:
            raise
    for parameter in parameters:
        typed_dicts.adopt(parameter.annotation)
    return TypeAdapter(shape)


def _unreadable(name: str, parameters: list[Parameter], error: Exception) -> TypeError:
    """Say which parameters cannot be read from JSON, found by reading each alone, and what to write instead."""
    blamed: list[str] = []
    for parameter in parameters:
        alone = [replace(parameter, kind=inspect.Parameter.KEYWORD_ONLY)]
        try:
            _schema(_adapter(name, alone), alone)
        except Exception as own:  # noqa: BLE001  # see read_signature
            blamed.append(f"parameter {parameter.name!r} ({_type_text(parameter.annotation)}): {_one_line(own)}")
    kind = NotYetDefinedError if _is_undefined(error) else TypeError
    return kind(
        f"tool {name!r} cannot be read from JSON: {'; '.join(blamed) or _one_line(error)}. "
        "Annotate with a JSON type, a model or a dataclass, or have it supplied: Annotated[…, Depends(provider)]"
    )


class NotYetDefinedError(TypeError):
    """An annotation names what its module has not defined yet."""


def _is_undefined(error: Exception) -> bool:
    return isinstance(error, PydanticUndefinedAnnotation) or (
        isinstance(error, PydanticUserError) and error.code == "class-not-fully-defined"
    )


def _type_text(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def _one_line(error: Exception) -> str:
    told = error.message if isinstance(error, PydanticErrorMixin) else f"{type(error).__name__}: {error}"
    told, _, _ = told.partition(". Set `arbitrary_types_allowed")  # pydantic's advice, which helps no tool
    return " ".join(told.split("\n", 1)[0].split()).rstrip(".")


_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(adapter: TypeAdapter[dict[str, Any]], parameters: list[Parameter]) -> JsonObject:
    if all(_is_scalar(parameter) for parameter in parameters):
        # Most tools: nothing that pydantic's generator, the dearest part of reading a signature, would add.
        schema: JsonObject = {
            "properties": {parameter.name: {"type": _SCALARS[parameter.annotation]} for parameter in parameters},
            "required": [parameter.name for parameter in parameters if parameter.is_required],
        }
    else:
        schema = simplified(adapter.json_schema(schema_generator=PlainJsonSchema))
        schema.pop("title", None)
        schema.pop("description", None)
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
    properties = schema.setdefault("properties", {})
    for parameter in parameters:
        if parameter.name not in properties:
            continue
        if parameter.description:
            properties[parameter.name]["description"] = parameter.description
        if _shows_default(parameter):
            try:
                default = to_jsonable_python(parameter.default, bytes_mode="base64")
            except (PydanticSerializationError, ValueError):
                continue  # a default that only Python knows; the function applies it by itself
            if can_be_written(default):
                properties[parameter.name]["default"] = default
    ordered = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    return {**ordered, **{key: value for key, value in schema.items() if key not in ordered}}


def _is_scalar(parameter: Parameter) -> bool:
    return (
        isinstance(parameter.annotation, type) and parameter.annotation in _SCALARS and parameter.kind not in VARIADIC
    )


def _shows_default(parameter: Parameter) -> bool:
    if parameter.default is EMPTY or parameter.kind in VARIADIC:
        return False
    return parameter.default is not None or not parameter.supplies_default
