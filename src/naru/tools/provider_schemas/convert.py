"""One recursive converter of schemas for every provider, guided by a dialect's row; it never raises.

What a provider cannot express is told in the description and is still enforced by the tool's own schema.
"""

from __future__ import annotations

import math
from typing import Any

from typing_extensions import TypeIs

from naru.messages import Json, JsonObject
from naru.tools.provider_schemas.dialect import SchemaDialect
from naru.tools.provider_schemas.normalise import folded, noted, within
from naru.tools.provider_schemas.patterns import compiles
from naru.tools.provider_schemas.references import MAX_DEPTH
from naru.tools.provider_schemas.words import LONGEST_NOTE, WORDS, brief, shown
from naru.tools.value_type import json_type

_ALL_TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
_SILENT = frozenset(
    {"$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "examples", "example", "title", "deprecated"}
    | {"readOnly", "writeOnly", "discriminator", "xml", "externalDocs", "nullable", "additionalProperties"}
)
"""Keywords whose loss no caller notices."""
_LARGEST_INTEGER = 2**53


def convert(schema: JsonObject, row: SchemaDialect) -> JsonObject:
    """Return a normalised schema in a provider's form: equal or wider, never narrower."""
    return _Converter(row).node(schema, 0)


class _Converter:
    def __init__(self, row: SchemaDialect) -> None:
        self._row = row

    def node(self, schema: Any, depth: int) -> JsonObject:
        node: JsonObject = dict(schema) if isinstance(schema, dict) else {}
        notes: list[str] = []
        if depth > MAX_DEPTH:
            node = {}
        if self._row.fold_one_of:
            node = self._combined(node, notes)
        if self._row.null != "keep":
            node = self._without_null(node, notes)
        if self._row.const_as_enum and "const" in node:
            node["enum"] = [node.pop("const")]
        self._enum(node, notes)
        self._bounds(node, notes)
        self._text(node, notes)
        self._repeats(node, notes)
        self._children(node, notes, depth)
        self._keywords(node, notes)
        self._type(node, notes)
        if self._row.keywords is not None:
            self._belongings(node)
        if notes:
            node["description"] = noted(node.get("description"), "; ".join(dict.fromkeys(notes)))
        if node.get("nullable") is False:
            del node["nullable"]
        return node

    def _combined(self, node: JsonObject, notes: list[str]) -> JsonObject:
        """Merge `allOf`, read `oneOf` as `anyOf`, and put the only branch of a union in its place."""
        for branch in node.pop("allOf", []):
            node = within(node, self._combined(dict(branch), notes))
        if node.get("type") == "object" and {"anyOf", "oneOf"} & node.keys():
            own = node.pop("description", None)
            whole = folded(node)
            notes += filter(None, [whole.pop("description", None)])
            return whole if own is None else {**whole, "description": own}
        if "oneOf" in node:
            branches = node.pop("oneOf")
            if "anyOf" in node:
                notes.append(f"exactly one of: {shown(branches)}")
            elif _may_overlap(branches) and "discriminator" not in node:
                notes.append("exactly one of these")
            node.setdefault("anyOf", branches)
        branches = node.get("anyOf", [])
        if len(branches) == 1:
            del node["anyOf"]
            return self._combined(within(node, self._combined(dict(branches[0]), notes)), notes)
        if branches and "type" in node:
            if all(branch.keys() & {"type", "enum", "const", "anyOf", "oneOf"} for branch in branches):
                del node["type"]  # the branches say it, and most providers take no sibling beside them
            else:
                notes.append(f"one of: {shown(branches)}")
                del node["anyOf"]
        return node

    def _without_null(self, node: JsonObject, notes: list[str]) -> JsonObject:
        """Take null out of types, unions and enums, and say it in the provider's way."""
        allowed = False
        if isinstance(node.get("type"), list):
            allowed = "null" in node["type"]
            rest = [kind for kind in node["type"] if kind != "null"]
            node["type"] = rest[0] if len(rest) == 1 else rest or "string"
        elif node.get("type") == "null":
            allowed, node["type"] = True, "string"
            notes.append("always null")
        if allowed and node["type"] == "string" and "anyOf" in node:
            del node["type"]  # null was all that was said of it beside its branches
        if isinstance(node.get("anyOf"), list):
            rest = [branch for branch in node["anyOf"] if not _is_null(branch)]
            if len(rest) < len(node["anyOf"]):
                allowed = True
                node["anyOf"] = rest
                if len(rest) <= 1:
                    del node["anyOf"]
                    only = self._combined(dict(rest[0]), notes) if rest else {"type": "null"}
                    node = self._combined(within(node, self._without_null(only, notes)), notes)
        allowed = _takes_null_from_choices(node, notes) or allowed
        if allowed and self._row.null == "nullable":
            node["nullable"] = True
        elif allowed:
            notes.append("or null")
        return node

    def _enum(self, node: JsonObject, notes: list[str]) -> None:
        if "const" in node and "type" not in node and self._row.keywords is not None:
            node["type"] = json_type(node["const"])
        choices = node.get("enum")
        if choices is None:
            return
        if not isinstance(choices, list) or not choices:
            del node["enum"]
            return
        types = list(dict.fromkeys(json_type(choice) for choice in choices))
        if "type" not in node and "anyOf" not in node and self._row.keywords is not None:
            node["type"] = types[0] if len(types) == 1 else types
        if self._row.enum_of == "strings" and (types != ["string"] or "" in choices or node.get("type") != "string"):
            del node["enum"]
            notes.append(f"one of: {shown(choices)[1:-1]}" if len(choices) > 1 else f"always {shown(choices[0])}")

    def _bounds(self, node: JsonObject, notes: list[str]) -> None:
        """Keep bounds that are numbers and do not contradict each other, in the form the provider has for them."""
        if self._row.keywords is None:
            return
        for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            value = node.get(exclusive)
            if self._row.bounds == "inclusive" and _is_number(value):
                del node[exclusive]
                if node.get("type") == "integer":
                    value = (math.floor(value) if step == 1 else math.ceil(value)) + step
                else:
                    notes.append(WORDS[exclusive].format(shown(value)))
                held = node.get(inclusive)
                wider = max if step == 1 else min
                node[inclusive] = wider(held, value) if _is_number(held) else value
            for key in (exclusive, inclusive):
                if key in node and not (_is_number(node[key]) and abs(node[key]) <= _LARGEST_INTEGER):
                    notes.append(WORDS[key].format(shown(node.pop(key))))
                elif key in node and node.get("type") == "integer" and isinstance(node[key], float):
                    # Above 0.5 is above 0 for whole numbers, at least 0.5 is at least 1.
                    node[key] = math.ceil(node[key]) if (step == 1) is (key == inclusive) else math.floor(node[key])
        low = node.get("minimum", node.get("exclusiveMinimum"))
        high = node.get("maximum", node.get("exclusiveMaximum"))
        strict = "exclusiveMinimum" in node or "exclusiveMaximum" in node
        if low is not None and high is not None and (low > high or (strict and high - low <= 1)):
            for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                self._tell(node, key, notes)

    def _tell(self, node: JsonObject, key: str, notes: list[str]) -> None:
        if key in node:
            notes.append(WORDS[key].format(shown(node.pop(key))))

    def _text(self, node: JsonObject, notes: list[str]) -> None:
        if self._row.formats is not None and "format" in node:
            kind = node.get("type")
            allowed = self._row.formats.get(kind, frozenset()) if isinstance(kind, str) else frozenset()
            if node["format"] not in allowed:
                notes.append(WORDS["format"].format(node.pop("format")))
        if "pattern" in node and self._row.keywords is not None:
            pattern = node["pattern"]
            usable = isinstance(pattern, str) and node.get("type") == "string" and "enum" not in node
            written = self._row.patterns(pattern) if usable and self._row.patterns is not None else pattern
            if not usable or written is None or not compiles(pattern):
                del node["pattern"]
                if isinstance(pattern, str) and len(pattern) <= LONGEST_NOTE:
                    notes.append(WORDS["pattern"].format(pattern))
            elif self._row.patterns is not None:
                node["pattern"] = written
                for key in ("minLength", "maxLength", "format"):  # together they may leave nothing to write
                    self._tell(node, key, notes)

    def _repeats(self, node: JsonObject, notes: list[str]) -> None:
        if self._row.keywords is None:
            return
        for low, high in (("minItems", "maxItems"), ("minLength", "maxLength"), ("minProperties", "maxProperties")):
            limit = self._row.largest_repeat
            for key in (low, high):
                value = node.get(key)
                if key in node and (
                    not _is_number(value) or value < 0 or value != int(value) or (limit is not None and value > limit)
                ):
                    del node[key]
                    if key in WORDS and _is_number(value):
                        notes.append(WORDS[key].format(shown(value)))
                elif key in node:
                    node[key] = int(node[key])
            if low in node and high in node and node[low] > node[high]:
                del node[low], node[high]

    def _children(self, node: JsonObject, notes: list[str], depth: int) -> None:
        if isinstance(node.get("properties"), dict):
            node["properties"] = {name: self.node(part, depth + 1) for name, part in node["properties"].items()}
            if isinstance(node.get("required"), list) and self._row.keywords is not None:
                node["required"] = [name for name in node["required"] if name in node["properties"]]
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if isinstance(parts := node.get(key), list):
                node[key] = [self.node(part, depth + 1) for part in parts]
                if key == "prefixItems" and self._lacks(key):
                    whole = [self._combined(dict(part), []) for part in parts]
                    told = map(brief, whole, (part.get("description", "") for part in node[key]))
                    notes.append(f"in order: {', '.join(told)}")
        if isinstance(extra := node.get("additionalProperties"), dict):
            node["additionalProperties"] = self.node(extra, depth + 1)
            if extra and self._lacks("additionalProperties"):
                told = node.pop("additionalProperties").get("description", "")
                notes.append(f"each value: {brief(self._combined(dict(extra), []), told)}")
        if isinstance(node.get("items"), dict):
            node["items"] = self.node(node["items"], depth + 1)
        if _may_be(node, "array"):
            self._array(node)

    def _array(self, node: JsonObject) -> None:
        if node.get("items") is False and self._row.keywords is not None:
            del node["items"]  # none beyond those that are named
            node["maxItems"] = min(node.get("maxItems", math.inf), len(node.get("prefixItems", [])))
        if self._lacks("prefixItems") and isinstance(node.get("prefixItems"), list):
            parts = list(node.pop("prefixItems"))
            if isinstance(node.get("items"), dict):
                parts.append(node["items"])
            unique = [part for index, part in enumerate(parts) if part not in parts[:index]]
            node["items"] = unique[0] if len(unique) == 1 else {"anyOf": unique}
        if "items" not in node or (node["items"] == {} and self._row.empty_items):
            # An array of anything is written as one of text where the provider wants a type.
            node["items"] = dict(self._row.empty_items)

    def _lacks(self, keyword: str) -> bool:
        return self._row.keywords is not None and keyword not in self._row.keywords

    def _keywords(self, node: JsonObject, notes: list[str]) -> None:
        allowed = self._row.keywords
        if allowed is None:
            return
        for key in [key for key in node if key not in allowed and key != "nullable"]:
            value = node.pop(key)
            if key in _SILENT or key.startswith("x-") or value in ({}, [], None):
                continue
            if key == "uniqueItems":
                notes.append("no item twice")
                continue
            notes.append(WORDS[key].format(shown(value)) if key in WORDS else f"{key}: {shown(value)}")

    def _type(self, node: JsonObject, notes: list[str]) -> None:
        row = self._row
        if "type" not in node and "anyOf" not in node:
            if "properties" in node:
                node["type"] = "object"
            elif "items" in node or "prefixItems" in node:
                node["type"] = "array"
            elif row.untyped == "any_type" and not {"enum", "const", "oneOf", "allOf"} & node.keys():
                node["type"] = list(_ALL_TYPES)
                node.setdefault("items", {})
            elif row.untyped == "union":
                self._union(node, ["string", "number", "boolean", "object", "array"])
                if row.null == "nullable":
                    node["nullable"] = True
                elif row.null == "tell":
                    notes.append("or null")
        if isinstance(node.get("type"), list) and row.type_lists == "any_of":
            kinds = node.pop("type")
            if "integer" in kinds and "number" in kinds:
                kinds = [kind for kind in kinds if kind != "integer"]
            self._union(node, kinds)
        if row.upper_case_types and isinstance(node.get("type"), str):
            node["type"] = node["type"].upper()

    def _belongings(self, node: JsonObject) -> None:
        """Keep a keyword only beside a type that it means something to: providers refuse `items` on a text.

        Beside a union it goes into the branches of that type. An empty `required` says nothing, and the same holds for
        an inner object's empty `properties` where a provider refuses those.
        """
        branches = node.get("anyOf")
        kinds = _kinds(node)
        for key in _MEANT_KEYS & node.keys():
            if isinstance(branches, list):
                value = node.pop(key)
                for branch in branches:
                    if any(key in _MEANT_FOR.get(kind, ()) for kind in _kinds(branch)):
                        branch.setdefault(key, value)
            elif kinds and not any(key in _MEANT_FOR.get(kind, ()) for kind in kinds):
                del node[key]
        for each in (node, *(branches or ())):
            if "required" in each:
                each["required"] = [name for name in each["required"] if name in each.get("properties", {})]
            for key in ("required", "properties") if self._row.omit_empty_parameters else ("required",):
                if key in each and not each[key]:
                    del each[key]

    def _union(self, node: JsonObject, kinds: list[str]) -> None:
        """Give each type a branch of its own, with the keywords that mean something to it."""
        if len(kinds) == 1:
            node["type"] = kinds[0]
            return
        branches: list[JsonObject] = []
        choices = node.pop("enum", None)
        for kind in kinds:
            branch: JsonObject = {"type": kind.upper() if self._row.upper_case_types else kind}
            if choices is not None:
                branch["enum"] = [each for each in choices if _is_of(each, kind)]
                if not branch["enum"]:
                    continue
            branch |= {key: node[key] for key in _MEANT_FOR.get(kind, ()) if key in node}
            if kind == "array":
                branch.setdefault("items", dict(self._row.empty_items))
            branches.append(branch)
        for key in {key for kind in kinds for key in _MEANT_FOR.get(kind, ())}:
            node.pop(key, None)
        if len(branches) > 1:
            node["anyOf"] = branches
        else:  # of a choice that contradicts its types, nothing is left but a type
            node |= branches[0] if branches else {"type": kinds[0].upper() if self._row.upper_case_types else kinds[0]}


_MEANT_FOR = {
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
}


_MEANT_KEYS = {key for keys in _MEANT_FOR.values() for key in keys} - {"format"}
"""Those that are looked at elsewhere, type by type, are left out."""


def _kinds(node: JsonObject) -> list[str]:
    kinds = node.get("type", [])
    return [kind.lower() for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def _is_of(value: Json, kind: str) -> bool:
    return json_type(value) == kind or (kind == "number" and json_type(value) == "integer")


def _may_be(node: JsonObject, kind: str) -> bool:
    types = node.get("type")
    return types == kind or (isinstance(types, list) and kind in types) or (types is None and "prefixItems" in node)


def _takes_null_from_choices(node: JsonObject, notes: list[str]) -> bool:
    """Take null out of `const` and `enum`; returns whether it was there."""
    allowed = False
    if "const" in node and node["const"] is None:
        del node["const"]
        allowed = True
        if "anyOf" not in node:
            node.setdefault("type", "string")
            notes.append("always null")
    if isinstance(node.get("enum"), list) and None in node["enum"]:
        allowed = True
        node["enum"] = [value for value in node["enum"] if value is not None]
        if not node["enum"]:
            del node["enum"]
            notes.append("always null")
    return allowed


def _is_null(branch: Any) -> bool:
    """Say whether a branch allows nothing but null, whatever it says beside."""
    return isinstance(branch, dict) and (
        branch.get("type") in ("null", ["null"])
        or ("const" in branch and branch["const"] is None)
        or branch.get("enum") == [None]
    )


def _may_overlap(branches: list[JsonObject]) -> bool:
    """Say whether a value may fit several branches: neither types nor a key with a fixed value keep them apart."""
    kinds = [kind for branch in branches for kind in _kinds(branch) or ["any"]]
    if "any" not in kinds and len(set(kinds)) == len(kinds) and not {"integer", "number"} <= set(kinds):
        return False
    tags = [{name: part["const"] for name, part in _parts(branch) if "const" in part} for branch in branches]
    return not any(len({repr(tag.get(name)) for tag in tags}) == len(tags) for name in tags[0]) if tags else False


def _parts(branch: JsonObject) -> list[tuple[str, JsonObject]]:
    return [(name, part) for name, part in branch.get("properties", {}).items() if isinstance(part, dict)]


def _is_number(value: Any) -> TypeIs[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
