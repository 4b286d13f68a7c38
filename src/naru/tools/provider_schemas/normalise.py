"""A foreign schema put in order before any provider's form: shape mended, references resolved, combinators folded."""

from __future__ import annotations

import json
import math
from typing import Any

from naru.messages import JsonObject
from naru.tools.provider_schemas.references import MAX_DEPTH, resolve_references

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_ALIASES = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
}
_LONGEST_CHOICE = 400
_LISTS = ("anyOf", "oneOf", "allOf")


def normalised(schema: Any) -> JsonObject:
    """Return the schema of an arguments object in plain shape; a schema already plain comes back equal.

    References are resolved, `properties` and `required` have their types, `type` names are JSON's, boolean schemas and
    older drafts' forms are spelled anew, `anyOf`, `oneOf`, `allOf` at the root are folded into one object.
    """
    root = _mended(schema if isinstance(schema, dict) else {}, 0)
    root = folded(resolve_references(root))
    return {"type": "object", "properties": {}, **root} | {"type": "object"}


def _mended(node: Any, depth: int) -> JsonObject:
    if node is True:
        return {}
    if node is False:
        return {"not": {}}
    if not isinstance(node, dict) or depth > MAX_DEPTH:
        return {}
    mended: JsonObject = {}
    for key, value in node.items():
        _mend(mended, str(key), value, depth + 1)
    _lift_required(mended, node.get("properties"))
    if mended.get("items") is False and not mended.get("prefixItems"):
        mended.update({"items": {}, "maxItems": 0})  # no provider's form has an array of nothing
    if node.get("nullable") is True:
        mended.pop("nullable", None)
        return _with_null(mended)
    return mended


def _lift_required(mended: JsonObject, properties: Any) -> None:
    """Name in the object's `required` the properties that say `required: true` themselves, as draft 3 had it."""
    if not isinstance(properties, dict):
        return
    said = [str(k) for k, v in properties.items() if isinstance(v, dict) and v.get("required") is True]
    if said:
        mended["required"] = list(dict.fromkeys([*mended.get("required", []), *said]))


def _mend(mended: JsonObject, key: str, value: Any, depth: int) -> None:
    match key:
        case "type":
            if (found := _type(value)) is not None:
                mended[key] = found
        case "required":
            if isinstance(value, list):
                mended[key] = [name for name in value if isinstance(name, str)]
        case "exclusiveMinimum" | "exclusiveMaximum" if isinstance(value, bool):
            _draft4_bound(mended, key, exclusive=value)
        case "description" | "title" | "pattern" | "format" | "$ref" | "$dynamicRef" if not isinstance(value, str):
            if key in ("description", "title") and value is not None:
                mended[key] = str(value)
        case "enum" if isinstance(value, list):
            # Providers refuse a choice that stands twice; to JSON, 1 and true are two.
            mended[key] = list({json.dumps(each, sort_keys=True, default=str): each for each in value}.values())
        case _ if key in _SUBSCHEMAS:
            _mend_subschemas(mended, key, value, depth)
        case _ if key in _BOUNDS:
            mended.update(_bound(key, value))
        case _:
            mended[key] = value


_SUBSCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SUBSCHEMA_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SUBSCHEMAS = (
    _SUBSCHEMA_MAPS
    | _SUBSCHEMA_LISTS
    | {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)


def _mend_subschemas(mended: JsonObject, key: str, value: Any, depth: int) -> None:
    if key in _SUBSCHEMA_MAPS:
        # PHP and JavaScript write an empty object as [].
        mended[key] = {str(k): _mended(v, depth) for k, v in value.items()} if isinstance(value, dict) else {}
    elif key in _SUBSCHEMA_LISTS:
        if isinstance(value, list) and value:
            mended[key] = [_mended(item, depth) for item in value]
    elif key == "items" and isinstance(value, list):
        if value:
            mended["prefixItems"] = [_mended(item, depth) for item in value]
    elif isinstance(value, bool) and (key == "additionalProperties" or not value):
        mended[key] = value
    else:
        mended[key] = _mended(value, depth)


def _type(value: Any) -> Any:
    if isinstance(value, str):
        name = value.strip().lower()
        return name if name in TYPES else _ALIASES.get(name)
    if isinstance(value, list):
        # Only names count: a list within the list means nothing to anyone.
        names = list(dict.fromkeys(name for item in value if isinstance(item, str) and (name := _type(item))))
        return names or None
    return None


_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_BOUNDS = _COUNTS | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}


def _bound(key: str, value: Any) -> JsonObject:
    """Read a bound as JSON Schema has it, also one written as text; empty for what bounds nothing."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return {}
    if key in _COUNTS:
        return {key: int(value)} if value >= 0 and value == int(value) else {}
    return {} if key == "multipleOf" and value <= 0 else {key: value}


def _draft4_bound(mended: JsonObject, key: str, *, exclusive: bool) -> None:
    plain = "minimum" if key == "exclusiveMinimum" else "maximum"
    if exclusive and plain in mended:
        mended[key] = mended.pop(plain)


def _with_null(node: JsonObject) -> JsonObject:
    kind = node.get("type")
    if isinstance(kind, str):
        node["type"] = [kind, "null"]
        if isinstance(node.get("enum"), list) and None not in node["enum"]:
            node["enum"] = [*node["enum"], None]
        return node
    for key in ("anyOf", "oneOf"):
        if key in node:
            node[key] = [*node[key], {"type": "null"}]
    return node


def folded(schema: JsonObject) -> JsonObject:
    """Fold the combinators of an object's schema into one object, never narrower; what is lost is told in words."""
    if not any(key in schema for key in _LISTS):
        return schema
    whole = {key: value for key, value in schema.items() if key not in _LISTS}
    for branch in schema.get("allOf", []):
        whole = within(whole, folded(branch))
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key, [])
        objects = [branch for branch in map(folded, branches) if branch.get("type", "object") == "object"]
        if objects:
            whole = within(whole, _alternatives(objects))
        if len(branches) > 1 and (told := choice_in_words(branches, exactly=key == "oneOf")):
            whole["description"] = noted(whole.get("description"), told)
    return whole


def noted(description: Any, told: str) -> str:
    """Return a description with a note behind it."""
    return f"{description} ({told})" if description else told


def within(outer: JsonObject, inner: JsonObject) -> JsonObject:
    """Return what an outer schema and one that stands in its combinator allow together; the outer's own words stay."""
    both = merged(outer, inner)
    for key in ("description", "title", "default"):
        if key in outer:
            both[key] = outer[key]
    return both


def choice_in_words(branches: list[JsonObject], *, exactly: bool) -> str:
    """Say which branches of an object there are to choose from; empty where they cannot be told apart in short."""
    told = list(dict.fromkeys(filter(None, map(_branch_in_words, branches))))
    if len(told) < 2:
        return ""
    text = f"{'exactly' if exactly else 'at least'} one of: {'; or '.join(told)}"
    return text if len(text) <= _LONGEST_CHOICE else f"{text[: _LONGEST_CHOICE - 1]}…"


def _branch_in_words(branch: JsonObject) -> str:
    properties: JsonObject = branch.get("properties") or {}
    fixed = {name: part["const"] for name, part in properties.items() if isinstance(part, dict) and "const" in part}
    tags = [f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in fixed.items()]
    wanted = [name for name in branch.get("required") or properties if name not in fixed]
    return " with ".join(filter(None, (", ".join(tags), " and ".join(wanted))))


def _alternatives(objects: list[JsonObject]) -> JsonObject:
    """Return one object schema that every alternative fits: required is what all of them require."""
    properties: JsonObject = {}
    for branch in objects:
        for name, schema in branch.get("properties", {}).items():
            held = properties.get(name)
            properties[name] = schema if held in (None, schema) else _either(held, schema)
    first, *others = (branch.get("required", []) for branch in objects)
    return {"properties": properties, "required": [name for name in first if all(name in each for each in others)]}


def _either(first: JsonObject, second: JsonObject) -> JsonObject:
    branches = first["anyOf"] if first.keys() == {"anyOf"} else [first]
    return {"anyOf": branches if second in branches else [*branches, second]}


def merged(first: JsonObject, second: JsonObject) -> JsonObject:
    """Return a schema that allows at least what both allow together (`allOf`); where they differ, the second's word."""
    both = {**first, **second}
    if isinstance(first.get("properties"), dict) and isinstance(second.get("properties"), dict):
        both["properties"] = dict(first["properties"])
        for name, schema in second["properties"].items():
            held = both["properties"].get(name)
            both["properties"][name] = schema if held is None or held == schema else merged(held, schema)
    if "required" in first and "required" in second:
        both["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    if isinstance(first.get("enum"), list) and isinstance(second.get("enum"), list):
        both["enum"] = [value for value in first["enum"] if value in second["enum"]] or second["enum"]
    if "description" in first and "description" in second:
        both["description"] = first["description"]
    for key, wider in (
        ("minimum", min),
        ("minLength", min),
        ("minItems", min),
        ("maximum", max),
        ("maxLength", max),
        ("maxItems", max),
    ):
        if isinstance(first.get(key), int | float) and isinstance(second.get(key), int | float):
            both[key] = wider(first[key], second[key])
    return both
