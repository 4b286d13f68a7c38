"""JSON Schema 2020-12 of Python types (S3), by pydantic, in the plainest shape: no titles, definitions inlined."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticOmit, core_schema

from naru.messages import JsonObject
from naru.tools.functions import typed_dicts

ADAPTER_CONFIG = ConfigDict(arbitrary_types_allowed=False, val_json_bytes="base64", ser_json_bytes="base64")
"""Bytes travel as base64 text."""


_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _with_items(found: JsonSchemaValue) -> JsonSchemaValue:
    """Tell the kind of all items, where the values are lists: some go by that alone."""
    values = found.get("enum", [found.get("const")])
    if found.get("type") != "array" or not all(isinstance(value, list) for value in values):
        return found
    kinds = {_KINDS.get(type(item), "") for value in values for item in value}
    return {**found, "items": {"type": kinds.pop()}} if len(kinds) == 1 and "" not in kinds else found


class PlainJsonSchema(GenerateJsonSchema):
    """Pydantic's generator without the titles it makes up, and with bytes as base64.

    What JSON can never say, such as a function or a class, is left out where it may be, and else cannot be described.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave out titles made from names: they say nothing new to a model."""
        return False

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Say that bytes are base64 text, but for a model whose own settings read them as they come."""
        found = super().bytes_schema(schema)
        found.pop("format", None)
        return {**found, "contentEncoding": "base64"} if self._config.val_json_bytes == "base64" else found

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Say of what kind the items of lists are, as members that are tuples are told."""
        return _with_items(super().enum_schema(schema))

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """As of an enum: its members may stand in a `Literal`."""
        return _with_items(super().literal_schema(schema))

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        """Say so in words for whoever wrote the annotation."""
        raise PydanticInvalidForJsonSchema("there is no such value in JSON")

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        """As of a function: JSON has no classes."""
        return self.handle_invalid_for_json_schema(schema, "")

    def typed_dict_field_schema(self, schema: core_schema.TypedDictField) -> JsonSchemaValue:
        """Leave out what may be left out and JSON has no word for."""
        try:
            return super().typed_dict_field_schema(schema)
        except PydanticInvalidForJsonSchema:
            if schema.get("required", True):
                raise
            raise PydanticOmit from None

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out a default that JSON has no word for, and what has no other value."""
        try:
            found = super().default_schema(schema)
        except PydanticInvalidForJsonSchema:
            raise PydanticOmit from None
        if not can_be_written(found.get("default")):
            del found["default"]
        return found

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Leave out where each tag leads: to definitions that are inlined, whose `const` says the same."""
        found = super().tagged_union_schema(schema)
        found.get("discriminator", {}).pop("mapping", None)
        return found


def can_be_written(value: Any) -> bool:
    """Say whether JSON can say a value; it has no word for infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def type_to_json_schema(annotation: Any, *, mode: Literal["validation", "serialization"] = "validation") -> JsonObject:
    """Return the JSON Schema of a type that a person would annotate with, as it is read or as it is written.

    Raises:
        TypeError: pydantic knows no way to read such a value from JSON.
    """
    try:
        adapter: TypeAdapter[Any] = _adapter(annotation)
        schema = adapter.json_schema(schema_generator=PlainJsonSchema, mode=mode)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise TypeError(f"no JSON Schema for {annotation!r}: {error.message}") from error
    return simplified(schema)


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation, config=ADAPTER_CONFIG)
    except PydanticUserError as error:
        # Models, dataclasses and typed dicts bring their own configuration; pydantic refuses a second one.
        if error.code == typed_dicts.CODE:
            typed_dicts.adopt(annotation)
            return _adapter(annotation)
        if error.code != "type-adapter-config-unused":
            raise
    try:
        return TypeAdapter(annotation)
    except PydanticUserError as error:
        if error.code != typed_dicts.CODE:
            raise
        typed_dicts.adopt(annotation)
        return TypeAdapter(annotation)


def simplified(schema: JsonObject) -> JsonObject:
    """Inline every definition that does not contain itself and drop the titles that only repeat its name."""
    definitions: dict[str, JsonObject] = schema.get("$defs", {})
    if not definitions:
        return schema
    for name, definition in definitions.items():
        if definition.get("title") == name.rsplit("__", 1)[-1]:
            del definition["title"]
    cyclic = {name for name in definitions if _reaches_itself(name, definitions)}
    inlined = _inline({key: value for key, value in schema.items() if key != "$defs"}, definitions, cyclic)
    kept = {name: _inline(definitions[name], definitions, cyclic) for name in definitions if name in cyclic}
    return {**inlined, "$defs": kept} if kept else inlined


def _inline(node: Any, definitions: dict[str, JsonObject], cyclic: set[str]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, cyclic) for item in node]
    if not isinstance(node, dict):
        return node
    name = _definition_name(node)
    if name in definitions and name not in cyclic:
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**copy.deepcopy(definitions[name]), **siblings}, definitions, cyclic)
    return {key: _inline(value, definitions, cyclic) for key, value in node.items()}


def _definition_name(node: JsonObject) -> str:
    reference = node.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""


def _reaches_itself(name: str, definitions: dict[str, JsonObject]) -> bool:
    seen: set[str] = set()
    waiting = list(_references(definitions[name]))
    while waiting:
        found = waiting.pop()
        if found == name:
            return True
        if found not in seen and found in definitions:
            seen.add(found)
            waiting.extend(_references(definitions[found]))
    return False


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    elif isinstance(node, dict):
        if name := _definition_name(node):
            yield name
        for value in node.values():
            yield from _references(value)
