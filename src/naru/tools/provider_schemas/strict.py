"""OpenAI's strict form: every object closed, every key required, what was optional nullable.

A null for a parameter that may be left out means that it was left out; `tools.arguments.fit` reads it back so.
"""

from __future__ import annotations

from typing import Any

from naru.messages import JsonObject
from naru.tools.provider_schemas.convert import convert
from naru.tools.provider_schemas.dialect import OPENAI_STRICT

MAX_PROPERTIES = 5_000
MAX_DEPTH = 10
MAX_ENUM_VALUES = 1_000
MANY_ENUM_VALUES = 250
"""More than these in one list may have `MAX_ENUM_CHARACTERS` together."""
MAX_ENUM_CHARACTERS = 15_000


class _NotStrictError(Exception):
    """The schema says something that the strict form cannot."""


def strict_form(schema: JsonObject) -> JsonObject | None:
    """Return a normalised schema in the strict form, or None when it cannot be made strict."""
    try:
        return _Strict().node(convert(schema, OPENAI_STRICT), 0)
    except _NotStrictError:
        return None


class _Strict:
    def __init__(self) -> None:
        self._properties = 0
        self._enum_values = 0

    def node(self, schema: Any, depth: int) -> JsonObject:
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            raise _NotStrictError
        node: JsonObject = dict(schema)
        if isinstance(node.get("enum"), list):
            self._enum_values += len(node["enum"])
            characters = sum(len(value) for value in node["enum"] if isinstance(value, str))
            if len(node["enum"]) > MANY_ENUM_VALUES and characters > MAX_ENUM_CHARACTERS:
                raise _NotStrictError
        if self._enum_values > MAX_ENUM_VALUES:
            raise _NotStrictError
        if "anyOf" in node:
            node["anyOf"] = [self.node(branch, depth) for branch in node["anyOf"]]
            return node
        kinds = node.get("type")
        if kinds is None and not {"enum", "const"} & node.keys():
            raise _NotStrictError  # any value: strict has no such type
        if kinds == "object" or (isinstance(kinds, list) and "object" in kinds):
            self._object(node, depth)
        if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
            node["items"] = self.node(node.get("items"), depth + 1)
        return node

    def _object(self, node: JsonObject, depth: int) -> None:
        properties = node.get("properties")
        if node.get("additionalProperties", False) is not False or not isinstance(properties, dict):
            raise _NotStrictError  # an open object
        if not properties and "additionalProperties" not in node and depth:
            raise _NotStrictError  # a free one
        self._properties += len(properties)
        if self._properties > MAX_PROPERTIES:
            raise _NotStrictError
        required = node.get("required", [])
        node["properties"] = {
            name: self.node(part, depth + 1) if name in required else _nullable(self.node(part, depth + 1))
            for name, part in properties.items()
        }
        node["required"] = list(properties)
        node["additionalProperties"] = False


def _nullable(node: JsonObject) -> JsonObject:
    if "anyOf" in node:
        branches = node["anyOf"]
        has_null = any("null" in _kinds(branch) for branch in branches)
        return node if has_null else {**node, "anyOf": [*branches, {"type": "null"}]}
    kinds = _kinds(node)
    if "null" in kinds:
        return node
    if "const" in node or ("enum" in node and not kinds):
        return {"anyOf": [node, {"type": "null"}]}
    nullable = {**node, "type": [*kinds, "null"]}
    if "enum" in node:
        nullable["enum"] = [*node["enum"], None]
    return nullable


def _kinds(node: JsonObject) -> list[str]:
    kinds = node.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)
