"""Tools as text, for the prompt of a model that knows no tools: parameters, choices, limits, what is required."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from naru.messages import JsonObject, ToolDefinition
from naru.tools.provider_schemas.normalise import normalised

MAX_DEPTH = 6


def plain_text(definitions: Sequence[ToolDefinition]) -> str:
    """Return one block a tool: `name(parameter, …)`, what it does, and a line for each parameter and nested key.

    No values are made up for examples: small models copy them into their calls.
    """
    return "\n\n".join(_tool(definition) for definition in definitions)


def _tool(definition: ToolDefinition) -> str:
    schema = normalised(definition.input_schema)
    required = schema.get("required", [])
    names = [name if name in required else f"{name}?" for name in schema["properties"]]
    lines = [f"{definition.name}({', '.join(names)})"]
    if definition.description:
        lines.append(f"  {' '.join(definition.description.split())}")
    lines += _properties(schema, 1)
    return "\n".join(lines)


def _properties(schema: JsonObject, depth: int) -> list[str]:
    lines: list[str] = []
    required = schema.get("required", [])
    for name, part in schema.get("properties", {}).items():
        need = "required" if name in required else "optional"
        text = f": {' '.join(part['description'].split())}" if part.get("description") else ""
        lines.append(f"{'  ' * depth}- {name} ({type_text(part)}, {need}){text}")
        for inner in _inner_objects(part) if depth < MAX_DEPTH else ():
            lines += _properties(inner, depth + 1)
    return lines


def _inner_objects(part: JsonObject) -> list[JsonObject]:
    found = [part] if part.get("properties") else []
    if isinstance(part.get("items"), dict):
        found += _inner_objects(part["items"])
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in part.get(key, []):
            found += _inner_objects(branch)
    return found


def type_text(part: JsonObject, depth: int = 0) -> str:
    """Return a schema's type in words: `integer 1 to 5`, `one of "a", "b"`, `list of text`."""
    if "const" in part:
        return f"always {_value(part['const'])}"
    if isinstance(part.get("enum"), list):
        return f"one of {', '.join(_value(value) for value in part['enum'][:50])}"
    for key in ("anyOf", "oneOf"):
        if part.get(key) and depth < MAX_DEPTH:
            return " or ".join(dict.fromkeys(type_text(branch, depth + 1) for branch in part[key]))
    kinds = part.get("type", "any value")
    words = [_kind(kind, part, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(words)


def _kind(kind: str, part: JsonObject, depth: int) -> str:
    match kind:
        case "string":
            return _text_kind(part)
        case "integer" | "number":
            return f"{kind}{_range(part)}"
        case "array":
            items = part.get("items")
            inner = (
                f" of {type_text(items, depth + 1)}" if isinstance(items, dict) and items and depth < MAX_DEPTH else ""
            )
            return f"list{inner}{_count(part, 'minItems', 'maxItems', 'items')}"
        case _:
            return kind


def _text_kind(part: JsonObject) -> str:
    words = part["format"] if isinstance(part.get("format"), str) else "text"
    if isinstance(part.get("pattern"), str) and len(part["pattern"]) <= 80:
        words += f" matching {part['pattern']}"
    return words + _count(part, "minLength", "maxLength", "characters")


def _range(part: JsonObject) -> str:
    low = part.get("minimum", part.get("exclusiveMinimum"))
    high = part.get("maximum", part.get("exclusiveMaximum"))
    below = "over " if "exclusiveMinimum" in part and "minimum" not in part else ""
    above = "under " if "exclusiveMaximum" in part and "maximum" not in part else ""
    step = f" in steps of {_value(part['multipleOf'])}" if "multipleOf" in part else ""
    if low is not None and high is not None:
        return f" {below}{_value(low)} to {above}{_value(high)}{step}"
    if low is not None:
        return f" {below}{_value(low)}{'' if below else ' or more'}{step}"
    return (f" {above}{_value(high)}{'' if above else ' or less'}" if high is not None else "") + step


def _count(part: JsonObject, low_key: str, high_key: str, noun: str) -> str:
    low, high = part.get(low_key), part.get(high_key)
    if low is not None and high is not None:
        return f", {low} to {high} {noun}"
    if low is not None:
        return f", {low} {noun} or more"
    return f", up to {high} {noun}" if high is not None else ""


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
