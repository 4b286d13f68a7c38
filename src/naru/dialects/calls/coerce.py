"""Arguments against the tool's JSON Schema: change a value only where the schema forbids what came.

Only evident readings are taken (text of a number, a boolean, null or an object where text is not allowed); what
does not fit otherwise is left as it came. Nothing is validated here: the tool's own schema does that later.
"""

from __future__ import annotations

import json
import math

from naru.dialects.texts.literal import parse_literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Schema = Mapping[str, Any]

_EVERY = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})
ONE_TYPE = {name: frozenset({name}) for name in _EVERY}
_DEPTH = 24
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}
_NULLS = frozenset({"null", "None", "NULL", "nil"})


def resolve(schema: Any, root: Schema) -> Schema:
    """Follow local `$ref`s; a reference that leads nowhere, or in a circle, says nothing."""
    if type(schema) is dict and "$ref" not in schema:
        return schema
    for _ in range(_DEPTH):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = _target(reference, root)
    return {}


def _target(reference: str, root: Schema) -> Any:
    found: Any = root if reference.startswith("#") else {}
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part and isinstance(found, dict):
            found = found.get(part.replace("~1", "/").replace("~0", "~"), {})
    return found


def types_of(schema: Any, root: Schema, depth: int = 0) -> frozenset[str]:
    """Return the JSON types that the schema lets through; all of them when it does not say."""
    schema = resolve(schema, root)
    if depth > _DEPTH:
        return _EVERY
    kind = schema.get("type")
    if isinstance(kind, str) and kind in ONE_TYPE:
        found = ONE_TYPE[kind]
    elif isinstance(kind, list):
        found = frozenset(name for name in kind if name in _EVERY) or _EVERY
    elif isinstance(schema.get("enum"), list):
        found = frozenset(_type_name(value) for value in schema["enum"])
    elif "const" in schema:
        found = frozenset({_type_name(schema["const"])})
    else:
        found = _types_of_parts(schema, root, depth)
    if schema.get("nullable") is True:
        found |= {"null"}
    return found


def _types_of_parts(schema: Schema, root: Schema, depth: int) -> frozenset[str]:
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            return frozenset().union(*(types_of(part, root, depth + 1) for part in schema[word])) or _EVERY
    found = _EVERY
    for part in schema.get("allOf") or ():
        found &= types_of(part, root, depth + 1)
    if found is _EVERY and isinstance(schema.get("properties"), dict):
        return frozenset({"object"})
    return found or _EVERY


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "string")


def _fits(value: Any, types: frozenset[str]) -> bool:
    name = _type_name(value)
    if name in types or (name == "integer" and "number" in types):
        return True
    return name == "number" and "integer" in types and float(value).is_integer()


def property_schema(schema: Any, key: str, root: Schema) -> Schema | None:
    """Return what the schema says about one property; None when it does not name it."""
    schema = resolve(schema, root)
    properties = schema.get("properties")
    if isinstance(properties, dict) and key in properties:
        return resolve(properties[key], root)
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word) or ():
            found = property_schema(part, key, root) if isinstance(part, dict) and "$ref" not in part else None
            if found is not None:
                return found
    extra = schema.get("additionalProperties")
    return resolve(extra, root) if isinstance(extra, dict) else None


def coerce(value: Any, schema: Any, root: Schema, depth: int = 0) -> Any:
    """Return `value` in the only reading that the schema allows, or unchanged."""
    schema = resolve(schema, root)
    if not schema or depth > _DEPTH:
        return value
    types = types_of(schema, root)
    if isinstance(value, str) and "string" not in types:
        value = from_text(value, types)
    elif not _fits(value, types):
        value = _other_reading(value, types)
    if isinstance(value, dict):
        return _coerce_object(value, schema, root, depth)
    if isinstance(value, list):
        items = _items(schema, root)
        return [coerce(item, items, root, depth + 1) for item in value] if items else value
    return value


def _coerce_object(value: dict[str, Any], schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, item in value.items():
        inner = property_schema(schema, key, root)
        changed[key] = coerce(item, inner, root, depth + 1) if inner else item
    return changed


def _items(schema: Schema, root: Schema) -> Schema:
    found = schema.get("items")
    if isinstance(found, dict):
        return resolve(found, root)
    for word in ("anyOf", "oneOf"):
        arrays = [part for part in schema.get(word) or () if "array" in types_of(part, root)]
        if len(arrays) == 1:
            return _items(resolve(arrays[0], root), root)
    return {}


def _other_reading(value: Any, types: frozenset[str]) -> Any:
    """Read a value that is no text: a number as text, a single item as a list of one."""
    if types == {"string"} and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if types == {"string"} and isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if types == {"boolean"} and value in (0, 1):
        return bool(value)
    return value


def from_text(text: str, types: frozenset[str]) -> Any:
    """Read text as the first of the allowed types that it is evidently written in, else leave it as text.

    Used for JSON strings where text is forbidden and for XML values, which have no types of their own.
    """
    bare = text.strip()
    if "null" in types and bare in _NULLS:
        return None
    if "boolean" in types and bare in _BOOLEANS:
        return _BOOLEANS[bare]
    if "integer" in types or "number" in types:
        number = _number(bare, whole="number" not in types, strict="string" in types)
        if number is not None:
            return number
    if ("object" in types and bare[:1] == "{") or ("array" in types and bare[:1] == "["):
        value = _structure(bare)
        if _type_name(value) in types and not isinstance(value, str):
            return value
    return text


def _number(text: str, *, whole: bool, strict: bool) -> int | float | None:
    if len(text) > 400 or text[:1] not in "-+.0123456789" or not text:
        return None
    try:
        value = json.loads(text.lstrip("+"))
    except ValueError:
        try:
            value = float(text) if not strict and "_" not in text and text.lstrip("-+")[:1] in ".0123456789" else None
        except ValueError:
            return None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if whole:
            return int(value) if value.is_integer() else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _structure(text: str) -> Any:
    try:
        return parse_literal(text)
    except ValueError:
        return text
