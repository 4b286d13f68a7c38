"""A tool as a small model is shown it: no references, titles, defaults or `null` that it would copy into a call."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from naru.agent.parameters import candidates, kind_of, properties, required
from naru.agent.sources import Sources
from naru.messages import JsonObject, ToolDefinition

_LEFT_OUT = frozenset(
    {"title", "default", "$schema", "$defs", "definitions", "additionalProperties", "examples", "format"}
)
_DEEPEST = 6
_DESCRIPTION_CHARACTERS = 400


def shown(tool: ToolDefinition) -> ToolDefinition:
    """Return the tool with a plain schema; the real one still judges the call."""
    needed = [name for name in required(tool) if name in properties(tool)]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: _plain(inner, 0) for name, inner in properties(tool).items()},
    }
    if needed:
        schema["required"] = needed
    return replace(tool, title="", description=tool.description[:_DESCRIPTION_CHARACTERS], input_schema=schema)


def _plain(schema: Any, depth: int) -> Any:
    if isinstance(schema, list):
        return [_plain(one, depth) for one in schema]
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    kept: JsonObject = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            kept[key] = {name: _plain(inner, depth + 1) for name, inner in value.items()}
        elif key in ("anyOf", "oneOf") and isinstance(value, list):
            branches = [one for one in value if not (isinstance(one, dict) and one.get("type") == "null")]
            if len(branches) == 1 and isinstance(branches[0], dict):
                kept |= _plain(branches[0], depth + 1)
            else:
                kept[key] = _plain(branches, depth + 1)
        elif key not in _LEFT_OUT:
            kept[key] = _plain(value, depth + 1)
    return kept


def narrowed(tool: ToolDefinition, sources: Sources, used: Set[str]) -> ToolDefinition:
    """Return a shown tool whose required parameters take only values that are known, and without other optional ones.

    An `enum` in the schema is what a grammar can hold a model to.
    """
    known, needed = properties(tool), required(tool)
    kept: JsonObject = {}
    for name, schema in known.items():
        values = candidates(name, schema, sources)
        fresh = [one for one in values if str(one) not in used] or values
        is_fixed = kind_of(name, schema) not in ("search", "text", "object", "array", "flag")
        if fresh and is_fixed:
            kept[name] = {**_only_said(schema), "enum": fresh}
        elif name in needed:
            kept[name] = schema
        elif not needed and kind_of(name, schema) in ("search", "text") and (about := sources.about()):
            kept[name] = {**_only_said(schema), "enum": about}
    return replace(tool, input_schema={"type": "object", "properties": kept, "required": needed})


def _only_said(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key in ("description", "type")}
