"""GBNF for llama.cpp: an answer in words, or a valid call of an offered tool and nothing else (guided strategy).

llama.cpp turns a JSON Schema into a grammar itself, but only for the whole answer; "words or a call" needs its own.
What GBNF cannot express (patterns, bounds, formats) is left wide: every call is validated afterwards anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from naru.messages import JsonObject, ToolDefinition

_DEPTH = 6
_OPTIONAL_AT_MOST = 8
"""Optional properties that a rule spells out; beyond it an object may hold any key."""
_PRIMITIVES = """\
ws ::= | " " | "\\n" [ \\t]{0,20}
string ::= "\\"" ([^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
null ::= "null"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"
object ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)*)? ws "}"
value ::= object | array | string | number | boolean | null
"""


def call_grammar(tools: Sequence[ToolDefinition], *, words_allowed: bool = True, parallel: bool = False) -> str:
    """Return the grammar of an answer that is words or calls of these tools, in a ```json block each."""
    rules = _Rules()
    calls = [rules.add("call", _call(rules, tool)) for tool in tools]
    block = rules.add("block", f'"```json\\n" ({" | ".join(calls)}) "\\n```"')
    answer = rules.add("calls", f'{block} ("\\n" {block}){{0,7}}' if parallel else block)
    if words_allowed:
        # Words cannot begin as a call does; what follows in them is free.
        answer = f"{answer} | [^`{{<\\[\\x00-\\x1F] [^\\x00]*"
    return f"root ::= {answer}\n{rules.text}{_PRIMITIVES}"


def _call(rules: _Rules, tool: ToolDefinition) -> str:
    arguments = rules.schema(tool.input_schema, tool.input_schema, 0)
    name = f"{_key('name')} {_json_literal(tool.name)}"
    return f'"{{" ws {name} ws "," ws {_key("arguments")} {arguments} ws "}}"'


class _Rules:
    """The named rules of one grammar."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "".join(f"{name} ::= {body}\n" for body, name in self._names.items())

    def add(self, stem: str, body: str) -> str:
        """Name a rule; the same body is one rule."""
        return self._names.setdefault(body, f"{stem}-{len(self._names)}")

    def schema(self, schema: Any, root: Mapping[str, Any], depth: int) -> str:
        """Return an expression for the values that a schema allows, or wider."""
        schema = resolved(schema, root)
        if depth > _DEPTH or not isinstance(schema, Mapping):
            return "value"
        if "const" in schema:
            return _json_literal(schema["const"])
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return f"({' | '.join(_json_literal(value) for value in schema['enum'])})"
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return f"({' | '.join(dict.fromkeys(self.schema(option, root, depth + 1) for option in options))})"
        kind = schema.get("type")
        if isinstance(kind, list):
            return f"({' | '.join(self.schema({**schema, 'type': one}, root, depth + 1) for one in kind)})"
        if kind == "array":
            item = self.schema(schema.get("items", {}), root, depth + 1)
            return self.add("list", f'"[" ws ({item} (ws "," ws {item})*)? ws "]"')
        if kind == "object" or "properties" in schema:
            return self._object(schema, root, depth)
        return str(kind) if kind in {"string", "integer", "number", "boolean", "null"} else "value"

    def _object(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
        properties = schema.get("properties") or {}
        if not properties:
            return '"{" ws "}"' if depth == 0 else "object"
        required = [name for name in properties if name in (schema.get("required") or ())]
        optional = [name for name in properties if name not in required]
        if len(optional) > _OPTIONAL_AT_MOST:
            return "object"
        pairs = {
            name: self.add("pair", f"{_key(name)} {self.schema(value, root, depth + 1)}")
            for name, value in properties.items()
        }
        body = self._members([pairs[name] for name in required], [pairs[name] for name in optional])
        return self.add("object", f'"{{" ws {body} ws "}}"')

    def _members(self, required: list[str], optional: list[str]) -> str:
        """Required pairs in order, then any of the optional ones in order."""
        comma = ' ws "," ws '
        if required:
            return comma.join(required) + "".join(f' (ws "," ws {pair})?' for pair in optional)
        starts = [
            pair + "".join(f' (ws "," ws {later})?' for later in optional[at + 1 :]) for at, pair in enumerate(optional)
        ]
        return f"({' | '.join(starts)})?"


def without_null(schema: Any, root: Mapping[str, Any]) -> JsonObject:
    """Return the one branch of a schema that is not `null`, with what is said around it; references followed."""
    plain: JsonObject = dict(found) if isinstance(found := resolved(schema, root), Mapping) else {}
    if isinstance(kinds := plain.get("type"), list):
        rest = [one for one in kinds if one != "null"]
        plain["type"] = rest[0] if len(rest) == 1 else rest
    for key in ("anyOf", "oneOf", "allOf"):
        branches = [resolved(one, root) for one in plain.get(key) or ()]
        branches = [one for one in branches if not (isinstance(one, Mapping) and one.get("type") == "null")]
        if len(branches) == 1 and isinstance(branches[0], Mapping):
            plain = {**branches[0], **{name: value for name, value in plain.items() if name != key}}
    return plain


def resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    """Follow local references, a bounded number of times; what is said beside one holds too."""
    for _ in range(_DEPTH):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **beside} if isinstance(target, Mapping) else None
    return None


def _key(name: str) -> str:
    return f'{_json_literal(name)} ws ":" ws'


def _json_literal(value: Any) -> str:
    return _literal(json.dumps(value, ensure_ascii=False))


def _literal(text: str) -> str:
    escaped = re.sub(r'["\\]', r"\\\g<0>", text).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{escaped}"'


def call_schema(tools: Sequence[ToolDefinition], *, words_allowed: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of a call, or of `{"answer": …}`, for engines that take a schema alone."""
    options: list[dict[str, Any]] = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": portable(tool.input_schema)},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    if words_allowed:
        words = {"answer": {"type": "string"}}
        options.append({"type": "object", "properties": words, "required": ["answer"], "additionalProperties": False})
    return options[0] if len(options) == 1 else {"anyOf": options}


_KEPT = frozenset({"type", "properties", "required", "items", "enum", "const", "anyOf", "description", "prefixItems"})


def portable(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """Keep the keywords that every guided engine knows; references inlined, the rest left wide."""
    root = schema if root is None else root
    schema = resolved(schema, root or {})
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return {}
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        key = "anyOf" if key == "oneOf" else key
        if key == "properties" and isinstance(value, Mapping):
            kept[key] = {name: portable(inner, root, depth + 1) for name, inner in value.items()}
        elif key == "items":
            kept[key] = portable(value, root, depth + 1)
        elif key == "anyOf" and isinstance(value, list):
            kept[key] = [portable(inner, root, depth + 1) for inner in value]
        elif key in _KEPT:
            kept[key] = value
    return kept
