"""Whether a foreign schema can be validated in bounded time: counted, before any validator sees it (S-09)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from naru.messages import JsonObject
from naru.tools.provider_schemas.references import find_pointer

MAX_EVALUATIONS = 20_000
"""Subschemas that a validator may have to look at, references followed."""
MAX_DEPTH = 200
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_BELOW_MAPS = ("properties", "patternProperties")
_BELOW = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")


def is_bounded(schema: JsonObject) -> bool:
    """Say whether validating takes bounded time: no reference returns to the same place, no doubling without end."""
    try:
        return _Counter(schema).count(schema, (), 0) <= MAX_EVALUATIONS
    except _EndlessError:
        return False


class _EndlessError(Exception):
    """A schema applies itself to the same value, or is nested without reason."""


class _Counter:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._counts: dict[int, int] = {}
        self._open: set[int] = set()

    def count(self, node: Any, same_place: tuple[int, ...], depth: int) -> int:
        """Count the subschemas under a node; those that only a deeper value reaches again count once."""
        if not isinstance(node, dict):
            return 0
        key = id(node)
        if key in same_place or depth > MAX_DEPTH:
            raise _EndlessError
        if key in self._counts:
            return self._counts[key]
        if key in self._open:
            return 1  # a tree in itself: each turn needs a deeper value
        self._open.add(key)
        total = 1
        for child in _in_place(node):
            total += self.count(child, (*same_place, key), depth + 1)
        target = node.get("$ref", node.get("$dynamicRef"))
        if isinstance(target, str):
            total += self.count(find_pointer(self._root, target), (*same_place, key), depth + 1)
        for child in _below(node):
            total += self.count(child, (), depth + 1)
        self._open.discard(key)
        self._counts[key] = min(total, 2 * MAX_EVALUATIONS)
        return self._counts[key]


def _in_place(node: JsonObject) -> Iterator[Any]:
    for key in _IN_PLACE_LISTS:
        if isinstance(node.get(key), list):
            yield from node[key]
    for key in _IN_PLACE:
        yield node.get(key)
    if isinstance(node.get("dependentSchemas"), dict):
        yield from node["dependentSchemas"].values()


def _below(node: JsonObject) -> Iterator[Any]:
    for key in _BELOW_MAPS:
        if isinstance(node.get(key), dict):
            yield from node[key].values()
    for key in _BELOW:
        yield node.get(key)
    if isinstance(node.get("prefixItems"), list):
        yield from node["prefixItems"]
