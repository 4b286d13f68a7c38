"""What each provider's documentation allows in a tool, as checks of a declaration that is sent.

Written from the providers' own pages (function calling and structured outputs of OpenAI, `Schema` of Gemini's API,
tools of Anthropic, `api/types.go` of Ollama) and from the 400s that reports quote; llama.cpp's are llguidance's, which
its engine holds us to. Nothing here is taken from the code that is checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import llguidance
import orjson
import xllamacpp

Schema = dict[str, Any]

STRICT_KEYWORDS = frozenset(
    "type description title items enum const properties required additionalProperties anyOf minItems maxItems minimum "
    "maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format".split()
)
STRICT_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
STRICT_DEPTH, STRICT_PROPERTIES, STRICT_CHOICES, STRICT_CHARACTERS = 10, 5_000, 1_000, 120_000
STRICT_LONG_CHOICES, STRICT_LONG_CHOICES_CHARACTERS = 250, 15_000
GEMINI_FIELDS = frozenset(
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties "
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split()
)
GEMINI_FORMATS = {"STRING": {"enum", "date-time"}, "INTEGER": {"int32", "int64"}, "NUMBER": {"float", "double"}}
GEMINI_BELONGS = {
    **dict.fromkeys(("properties", "required", "minProperties", "maxProperties"), ("OBJECT",)),
    **dict.fromkeys(("items", "minItems", "maxItems"), ("ARRAY",)),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "enum"), ("STRING",)),
    **dict.fromkeys(("minimum", "maximum"), ("INTEGER", "NUMBER")),
}
"""Google refuses these beside any other type ("only allowed for OBJECT type")."""
OLLAMA_FIELDS = frozenset("type description items enum properties required anyOf".split())
COMBINATORS = frozenset({"anyOf", "oneOf", "allOf", "enum", "not"})


def breaches(provider: str, tool: Schema) -> list[str]:
    """Return what of a declaration a provider's rules refuse, each with where it stands."""
    return list(_RULES[provider](tool))


def parts(schema: Schema, path: str = "$") -> Iterator[tuple[str, Schema]]:
    """Yield all subschemas of a form with their paths, itself first."""
    yield path, schema
    inner = {f"{path}.{name}": part for name, part in (schema.get("properties") or {}).items()}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        inner |= {f"{path}/{key}[{index}]": part for index, part in enumerate(schema.get(key, []))}
    inner |= {f"{path}/{key}": schema[key] for key in ("items", "additionalProperties", "not") if key in schema}
    for where, part in inner.items():
        if isinstance(part, dict):
            yield from parts(part, where)


def _kinds(part: Schema) -> set[str]:
    kinds = part.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _named(name: Any, description: Any, longest: int) -> Iterator[str]:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        yield f"name {name!r}"
    if not isinstance(description, str) or len(description) > longest:
        yield "description"


def _json_schema(schema: Schema) -> Iterator[str]:
    """What any reader of JSON Schema refuses, and a root that is no plain object."""
    json.dumps(schema, allow_nan=False)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        yield f"{error.json_path}: {error.message}"
    if schema.get("type") != "object" or COMBINATORS & schema.keys():
        yield "$: the root is an object without combinators"


def _openai(tool: Schema) -> Iterator[str]:
    function = tool["function"]
    yield from _named(function["name"], function["description"], 1024)
    yield from _json_schema(function["parameters"])
    for path, part in parts(function["parameters"]):
        if "array" in _kinds(part) and "items" not in part:
            yield f"{path}: array schema missing items"


def _openai_strict(tool: Schema) -> Iterator[str]:
    yield from _openai(tool)
    if not tool["function"]["strict"]:
        return
    schema = tool["function"]["parameters"]
    properties, choices, characters = 0, 0, 0
    for path, part in parts(schema):
        if unknown := part.keys() - STRICT_KEYWORDS:
            yield f"{path}: {sorted(unknown)} is not permitted"
        if "type" not in part and "anyOf" not in part:
            yield f"{path}: schema must have a 'type' key"
        if "object" in _kinds(part) and (
            part.get("additionalProperties") is not False or part.get("required") != list(part.get("properties", {}))
        ):
            yield f"{path}: an object is closed and requires all its properties"
        if part.get("format", "date") not in STRICT_FORMATS:
            yield f"{path}: format {part['format']}"
        texts = [each for each in [*part.get("enum", []), part.get("const")] if isinstance(each, str)]
        properties += len(part.get("properties", {}))
        choices += len(part.get("enum", []))
        characters += sum(map(len, [*part.get("properties", {}), *texts]))
        if len(part.get("enum", [])) > STRICT_LONG_CHOICES and sum(map(len, texts)) > STRICT_LONG_CHOICES_CHARACTERS:
            yield f"{path}: more than {STRICT_LONG_CHOICES} choices of too many characters"
    if properties > STRICT_PROPERTIES or choices > STRICT_CHOICES or characters > STRICT_CHARACTERS:
        yield f"$: {properties} properties, {choices} choices, {characters} characters"
    if _depth(schema) > STRICT_DEPTH:
        yield f"$: more than {STRICT_DEPTH} levels"


def _depth(schema: Schema) -> int:
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema["items"]] if isinstance(schema.get("items"), dict) else []
    return ("object" in _kinds(schema)) + max(map(_depth, inner), default=0)


def _anthropic(tool: Schema) -> Iterator[str]:
    yield from _named(tool["name"], tool["description"], 1_000_000)
    yield from _json_schema(tool["input_schema"])
    for path, part in parts(tool["input_schema"]):
        for name in part.get("properties", {}):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
                yield f"{path}: property key {name!r}"


def _gemini(tool: Schema) -> Iterator[str]:
    if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", tool["name"]) or not tool["description"]:
        yield "name or description"
    from google.genai import types as genai  # a second of CPU, which only the worker that comes here need spend

    genai.FunctionDeclaration.model_validate(tool)
    schema = tool.get("parameters")
    if schema is None:
        return
    if schema.get("type") != "OBJECT" or not schema.get("properties"):
        yield "$: parameters are an OBJECT with properties"
    for path, part in parts(schema):
        yield from (f"{path}: {told}" for told in _gemini_part(part, is_root=part is schema))


def _gemini_part(part: Schema, *, is_root: bool) -> Iterator[str]:
    kind = part.get("type")
    if unknown := part.keys() - GEMINI_FIELDS:
        yield f"unknown name {sorted(unknown)}"
    if ("anyOf" in part) == (kind is not None):
        yield "type must be specified when not using any_of, and only then"
    if kind is not None and kind not in {"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN"}:
        yield f"type {kind!r}"
    if misplaced := {key for key in part.keys() & GEMINI_BELONGS.keys() if kind not in GEMINI_BELONGS[key]}:
        yield f"{sorted(misplaced)} beside {kind}"
    if kind == "ARRAY" and "items" not in part:
        yield "items: missing field"
    if "properties" in part and not part["properties"] and not is_root:
        yield "properties: should be non-empty for OBJECT type"
    if "required" in part and (not part["required"] or set(part["required"]) - part.get("properties", {}).keys()):
        yield "required: property is not defined"
    if "enum" in part and not (part["enum"] and all(isinstance(each, str) and each for each in part["enum"])):
        yield "enum: cannot be empty"
    if "format" in part and part["format"] not in GEMINI_FORMATS.get(str(kind), set()):
        yield f"format {part['format']}"
    for key in ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"):
        if key in part and not (type(part[key]) is int and part[key] >= 0):
            yield f"{key} is an int64"


def _ollama(tool: Schema) -> Iterator[str]:
    function = tool["function"]
    yield from _named(function["name"], function["description"], 1_000_000)
    yield from _json_schema(function["parameters"])
    for path, part in parts(function["parameters"]):
        if unread := part.keys() - OLLAMA_FIELDS:
            yield f"{path}: {sorted(unread)} is not read"
        if not isinstance(part.get("description", ""), str) or not isinstance(part.get("enum", []), list):
            yield f"{path}: description is text and enum a list"


def _llama_cpp(tool: Schema) -> Iterator[str]:
    function = tool["function"]
    yield from _named(function["name"], function["description"], 1_000_000)
    yield from _json_schema(function["parameters"])
    if not xllamacpp.json_schema_to_grammar(function["parameters"]):  # what llguidance, built into it, is given
        yield "llama.cpp: no grammar"
    text = llguidance.LLMatcher.grammar_from_json_schema(orjson.dumps(function["parameters"]).decode())
    if told := llguidance.LLMatcher.validate_grammar(text):
        yield f"llguidance: {told}"


_RULES = {
    "openai": _openai,
    "openai-strict": _openai_strict,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
    "llama.cpp": _llama_cpp,
}
