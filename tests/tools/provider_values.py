"""What a form means for values: does it take one that fits the original, and is what it lost told in words?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import jsonschema_rs
from tests.tools.provider_rules import Schema, parts

PROBES: list[Any] = [None, "", "x", 0, 7, -1, 1.5, True, [], ["x", "x"], [1], {}, {"a": 1}, {"a": "x", "b": 1}]
"""Values that are put in a parameter's place to find what a form takes and the original does not."""
_SHOWN = {
    "enum": r"one of|always", "const": r"one of|always", "uniqueItems": "no item twice", "prefixItems": "in order",
    "items": "in order|each", "oneOf": "exactly one", "anyOf": "one of|or ", "required": "one of|required|then|anyOf",
    "additionalProperties": "", "minItems": r"\d", "maxItems": r"\d", "minLength": r"\d", "maxLength": r"\d",
    "minimum": r"\d", "maximum": r"\d", "exclusiveMinimum": r"\d", "exclusiveMaximum": r"\d", "multipleOf": r"\d",
    "minProperties": r"\d", "pattern": "match|pattern", "type": "each|one of|or |in order|always|nested in the same",
}  # fmt: skip
"""Keyword → what words about it look like; a closed object's loss is not told, since its properties stand there."""


def fits(schema: Schema, value: Any) -> bool:
    """Say whether a value is valid under a schema."""
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


def schema_of(tool: Schema) -> Schema:
    """Return the arguments schema of any provider's declaration."""
    inner = tool.get("function", tool)
    return dict(inner.get("parameters") or inner.get("input_schema") or {"type": "object"})


def takes(provider: str, tool: Schema, value: Any) -> bool:
    """Say whether a form takes a value, written as the model of its provider has to."""
    return fits(read_form(provider, tool), spelled_out(schema_of(tool), value) if _is_strict(tool) else value)


def read_form(provider: str, tool: Schema) -> Schema:
    """Return a declaration's arguments schema as its provider reads it, as JSON Schema."""
    form = schema_of(tool)
    return as_json_schema(form) if provider in ("gemini", "ollama") else form


def _is_strict(tool: Schema) -> bool:
    return bool(tool.get("function", {}).get("strict"))


def as_json_schema(form: Schema) -> Schema:
    """Read Google's or Ollama's schema as JSON Schema; null, and anything, is allowed where that is told."""
    plain = {key: value for key, value in form.items() if key not in ("nullable", "default", "format")}
    if isinstance(plain.get("type"), str):
        plain["type"] = plain["type"].lower()
    if "properties" in plain:
        plain["properties"] = {name: as_json_schema(part) for name, part in plain["properties"].items()}
    if "anyOf" in plain:
        plain["anyOf"] = [as_json_schema(part) for part in plain["anyOf"]]
    if "items" in plain:
        plain["items"] = as_json_schema(plain["items"])
    told = re.search(r"\bnull\b", description := str(form.get("description", "")))
    if description == "any value":
        return {}
    return {"anyOf": [plain, {"type": "null"}]} if form.get("nullable") or told else plain


def spelled_out(form: Schema, value: Any) -> Any:
    """Write null for what a model of the strict form may leave out only so."""
    for branch in form.get("anyOf", []):
        if fits(branch, full := spelled_out(branch, value)):
            return full
    properties = form.get("properties", {})
    if isinstance(value, dict) and value.keys() <= properties.keys():
        return {name: spelled_out(part, value[name]) if name in value else None for name, part in properties.items()}
    if isinstance(value, list) and isinstance(form.get("items"), dict):
        return [spelled_out(form["items"], item) for item in value]
    return value


def untold(provider: str, tool: Schema, original: Schema, value: Schema) -> Iterator[str]:
    """Yield which of the original's keywords a parameter's form lost without a word.

    Each parameter of a value that fits is tried with every probe; where the form takes it and the original does not,
    the parameter's descriptions have to speak of the keyword that refused.
    """
    form = schema_of(tool)
    form_check = jsonschema_rs.Draft202012Validator(read_form(provider, tool))
    written = spelled_out(form, value) if _is_strict(tool) else value
    quick, check = jsonschema_rs.Draft202012Validator(original), jsonschema.Draft202012Validator(original)
    for name, part in form.get("properties", {}).items():
        words = " ".join(str(each.get("description", "")) for _, each in parts(part))
        words = f"{words} {form.get('description', '')}"
        for probe in PROBES:
            if probe is None and _is_strict(tool):
                continue  # how this form leaves a parameter out
            tried = {**value, name: probe}
            if quick.is_valid(tried) or not form_check.is_valid({**written, name: probe}):
                continue
            errors = list(check.iter_errors(tried))
            if not any(_is_told(error, words) for error in errors):
                yield f"{name}={probe!r}: {errors[0].validator} lost, told: {words!r}"


def _is_told(error: jsonschema.ValidationError, words: str) -> bool:
    looks = _SHOWN.get(str(error.validator), re.escape(str(error.validator)))
    inner = "in order|each value"  # says in a few words what each part is
    return bool(re.search(f"{looks}|{inner}", words)) or any(_is_told(each, words) for each in error.context or ())
