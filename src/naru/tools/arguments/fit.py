"""Fit arguments to a schema: a value is changed only where the schema forbids it as it came."""

from __future__ import annotations

import json
import math
from typing import Any

from naru.messages import Json, JsonObject
from naru.tools.arguments.misspelt import meant
from naru.tools.value_type import json_type

MAX_DEPTH = 32
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_NULL = frozenset({"null", "none", ""})
_ALL_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def fit(schema: JsonObject, arguments: JsonObject, misspelt: dict[str, str] | None = None) -> JsonObject:
    """Return the arguments with what a schema forbids changed into what it allows, where that is beyond doubt.

    Text becomes the object, array, number or truth value that it spells; null for a parameter that may be left out
    is left out; keys that a closed object does not know are dropped, and the schema's own words that small models copy
    (`"required": ["city"]`). A key that is another's with a slip in it stays, and is noted in `misspelt` with the right
    one. What stays wrong is for the validator to refuse.
    """
    fitted = _Fitter(schema, {} if misspelt is None else misspelt).value(schema, arguments, 0)
    return fitted if isinstance(fitted, dict) else arguments


class _Fitter:
    def __init__(self, root: JsonObject, misspelt: dict[str, str]) -> None:
        self._root = root
        self._misspelt = misspelt

    def value(self, schema: Any, value: Json, depth: int) -> Json:
        schema = self._resolved(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return value
        types = self.types(schema, depth)
        fitted = _converted(schema, value, types)
        for branch in self._branches(schema, fitted, depth):
            fitted = self.value(branch, fitted, depth + 1)
        if isinstance(fitted, dict):
            return self._object(schema, fitted, depth)
        if isinstance(fitted, list):
            return self._array(schema, fitted, depth)
        return fitted

    def types(self, schema: Any, depth: int) -> frozenset[str]:
        """Return the JSON types that a schema allows; all of them when it does not say."""
        schema = self._resolved(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return _ALL_TYPES
        if "type" in schema:
            named = schema["type"]
            return frozenset([named] if isinstance(named, str) else named)
        if "const" in schema:
            return frozenset({json_type(schema["const"])})
        if isinstance(schema.get("enum"), list):
            return frozenset(json_type(item) for item in schema["enum"])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return frozenset().union(*(self.types(branch, depth + 1) for branch in schema[key]))
        if isinstance(schema.get("allOf"), list):
            return _ALL_TYPES.intersection(*(self.types(branch, depth + 1) for branch in schema["allOf"]))
        return frozenset({"object"}) if "properties" in schema else _ALL_TYPES

    def _branches(self, schema: JsonObject, value: Json, depth: int) -> list[Any]:
        """Return what of a combinator a value must fit: all of `allOf`; of others, the only one of its type."""
        found = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                fitting = [branch for branch in schema[key] if _is_one_of(value, self.types(branch, depth + 1))]
                found += fitting if len(fitting) == 1 else []
        return found

    def _object(self, schema: JsonObject, value: JsonObject, depth: int) -> JsonObject:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return value
        required = schema.get("required") or ()
        others = schema.get("additionalProperties", True)
        fitted: JsonObject = {}
        for key, item in value.items():
            part = properties.get(key, others)
            if key not in properties and key in schema and schema[key] == item:
                continue
            if key not in properties and others is False:
                if not (right := meant(key, properties, value)):
                    continue
                self._misspelt[key] = right
            if item is None and key in properties and key not in required and "null" not in self.types(part, depth + 1):
                continue
            fitted[key] = self.value(part, item, depth + 1)
        return fitted

    def _array(self, schema: JsonObject, value: list[Json], depth: int) -> list[Json]:
        first = schema.get("prefixItems") if isinstance(schema.get("prefixItems"), list) else []
        rest = schema.get("items")
        return [
            self.value(first[index] if index < len(first) else rest, item, depth + 1)  # type: ignore[index,arg-type]  # a list
            for index, item in enumerate(value)
        ]

    def _resolved(self, schema: Any) -> Any:
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            target: Any = self._root
            for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
                key = step.replace("~1", "/").replace("~0", "~")
                target = target.get(key) if isinstance(target, dict) else None
            schema = target
        return None


def _is_one_of(value: Json, types: frozenset[str]) -> bool:
    found = json_type(value)
    return found in types or (found == "integer" and "number" in types)


def _converted(schema: JsonObject, value: Json, types: frozenset[str]) -> Json:
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return _chosen(choices, value)
    if _is_one_of(value, types):
        return value
    if isinstance(value, str):
        return _read_text(value, types)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1) and "boolean" in types:
        return bool(value)
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return int(value)
    if isinstance(value, int | float) and "string" in types and math.isfinite(value):
        return str(value)
    return value


def _chosen(choices: list[Json], value: Json) -> Json:
    wanted = str(value).strip().casefold()
    fitting = [choice for choice in choices if choice is not None and str(choice).casefold() == wanted]
    return fitting[0] if len(fitting) == 1 else value


def _read_text(value: str, types: frozenset[str]) -> Json:
    text = value.strip()
    if text.casefold() in _NULL and "null" in types:
        return None
    if "boolean" in types and text.casefold() in _TRUE | _FALSE:
        return text.casefold() in _TRUE
    try:
        read = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value
    if _is_one_of(read, types):
        return read
    return int(read) if isinstance(read, float) and read.is_integer() and "integer" in types else value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
