"""References of a schema resolved in place: pointers too, siblings win, circles cut; nothing is ever fetched (S-09)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from naru.messages import JsonObject

MAX_DEPTH = 40
MAX_NODES = 5_000
"""Nodes after resolving; what lies beyond is cut to "any value", so that no schema can blow up."""
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_DEFINITIONS = ("$defs", "definitions")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
"""A place in a list, as a pointer names it (RFC 6901)."""
_CUT_HINT = "nested in the same form"


def resolve_references(schema: JsonObject) -> JsonObject:
    """Return the schema without `$ref` and definitions; unchanged where there are none.

    A circle is cut at its first return to a wide type; a pointer that leads nowhere becomes "any value".
    """
    if not _has_reference(schema, 0):
        return schema
    resolver = _Resolver(schema)
    found = resolver.node(schema, "#", ())
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if key not in _DEFINITIONS}


def _has_reference(node: Any, depth: int) -> bool:
    if depth > MAX_DEPTH:
        return True
    if isinstance(node, list):
        return any(_has_reference(item, depth + 1) for item in node)
    if not isinstance(node, dict):
        return False
    if isinstance(node.get("$ref") or node.get("$dynamicRef"), str):
        return True
    return any(_has_reference(value, depth + 1) for value in node.values())


class _Resolver:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._anchors = _anchors(root, 0)
        self._nodes = 0

    def node(self, node: Any, pointer: str, inside: tuple[str, ...]) -> Any:
        """Resolve one schema; `inside` are the pointers of the schemas around it, to see a circle."""
        self._nodes += 1
        if not isinstance(node, dict):
            return node
        if self._nodes > MAX_NODES or len(inside) > MAX_DEPTH:
            return _cut(node)
        reference = node.get("$ref", node.get("$dynamicRef"))
        if isinstance(reference, str):
            return self._referenced(node, reference, (*inside, pointer))
        return {key: self._value(key, value, pointer, (*inside, pointer)) for key, value in node.items()}

    def _referenced(self, node: JsonObject, reference: str, inside: tuple[str, ...]) -> Any:
        siblings = {key: value for key, value in node.items() if key not in ("$ref", "$dynamicRef")}
        target, pointer = self._find(reference)
        if not isinstance(target, dict):
            return self.node(siblings, inside[-1] + "/$ref", inside)
        if pointer in inside:
            return {**_cut(target), **{key: siblings[key] for key in siblings if key == "description"}}
        found = self.node({**target, **siblings} if "$ref" not in target else target, pointer, inside)
        return {**found, **siblings} if isinstance(found, dict) and "$ref" in target else found

    def _value(self, key: str, value: Any, pointer: str, inside: tuple[str, ...]) -> Any:
        if key in _MAPS and isinstance(value, dict):
            return {name: self.node(item, f"{pointer}/{key}/{_escaped(name)}", inside) for name, item in value.items()}
        if isinstance(value, list) and (key in _LISTS or key == "items"):
            return [self.node(item, f"{pointer}/{key}/{index}", inside) for index, item in enumerate(value)]
        if key in _SINGLE:
            return self.node(value, f"{pointer}/{key}", inside)
        return value

    def _find(self, reference: str) -> tuple[Any, str]:
        if not reference.startswith("#"):
            return None, reference  # another document: never fetched
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, (None, reference))
        return find_pointer(self._root, reference), "#" + fragment


def find_pointer(root: Any, reference: str) -> Any:
    """Return what a JSON pointer such as `#/$defs/Node` leads to within a document; None when nothing is there."""
    if not reference.startswith("#"):
        return None
    target = root
    for step in unquote(reference[1:]).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and _INDEX.fullmatch(name) and int(name) < len(target):
            target = target[int(name)]
        elif isinstance(target, dict):
            target = target.get(name)
        else:
            return None
    return target


def _anchors(node: Any, depth: int, pointer: str = "#") -> dict[str, tuple[JsonObject, str]]:
    if depth > MAX_DEPTH or not isinstance(node, dict | list):
        return {}
    found: dict[str, tuple[JsonObject, str]] = {}
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        found.update(_anchors(value, depth + 1, f"{pointer}/{_escaped(str(key))}"))
    if isinstance(node, dict):
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(key), str):
                found[node[key]] = (node, pointer)
    return found


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _cut(target: JsonObject) -> JsonObject:
    """Return the widest schema that still says what a value of the target is."""
    kind = target.get("type", "object" if "properties" in target else None)
    cut: JsonObject = {} if kind is None else {"type": kind}
    cut["description"] = str(target.get("description") or _CUT_HINT)
    return cut
