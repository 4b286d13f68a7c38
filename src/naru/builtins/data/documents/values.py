"""JSON and YAML as plain values, of which nothing is lost: keys that come twice, scalars as they stand in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from naru.builtins.data.documents.document import UnreadableError

MAX_THINGS = 1_000_000
"""In one YAML document, counted as often as an anchor repeats them."""
_BLANK = re.compile(r"\s*")
_MERGE = "<<"


def _mapping(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """Keep what stands under a key that comes again, as `key (2)`."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    found, times = {}, dict[Any, int]()
    for key, value in pairs:
        times[key] = times.get(key, 0) + 1
        name = key if times[key] == 1 else f"{key} ({times[key]})"
        while name in found:
            name = f"{name}'"
        found[name] = value
    return found


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # longer than Python reads
        return digits


_DECODER = json.JSONDecoder(object_pairs_hook=_mapping, parse_int=_integer)


def json_value(text: str) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: it is none.
    """
    return _DECODER.decode(text)


def json_values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield JSON values one after another, each with the line that it begins in; an exception for one that is none."""
    at, line = 0, 1
    while True:
        blank = _BLANK.match(text, at)
        assert blank is not None, "it matches nothing, too"
        line += text.count("\n", at, blank.end())
        at = blank.end()
        if at == len(text):
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            value, end = error, text.find("\n", at)
            end = len(text) if end < 0 else end
        yield line, value
        line += text.count("\n", at, end)
        at = end


def yaml_values(text: str) -> list[Any]:
    """Read the documents of a YAML file.

    Raises:
        UnreadableError: its anchors unfold to more than can be read.
        yaml.YAMLError: it is no YAML.
    """
    return list(yaml.load_all(text, _Yaml))  # noqa: S506  # of BaseLoader's kind: it makes text, lists and mappings


class _Yaml(yaml.BaseLoader):
    """Text as it stands (`no`, `12:30`, `007`), whatever its tag says; `<<` merges."""

    def construct_document(self, node: yaml.Node) -> Any:
        if _things(node, {}) > MAX_THINGS:
            raise UnreadableError(f"its anchors unfold to more than {MAX_THINGS} things")
        return super().construct_document(node)

    def construct_scalar(self, node: yaml.Node) -> Any:
        text = super().construct_scalar(node)  # type: ignore[arg-type]  # it tells other nodes by an error
        return None if text in ("", "~", "null") and getattr(node, "style", None) is None else text

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        read = [(self._key(key), self.construct_object(value, deep=True)) for key, value in node.value]
        own = [(key, value) for key, value in read if key != _MERGE]
        merged: dict[Any, Any] = {}
        for value in (value for key, value in read if key == _MERGE):
            for one in reversed(value if isinstance(value, list) else [value]):
                merged |= one if isinstance(one, dict) else {_MERGE: one}
        return merged | _mapping(own)

    def construct_sequence(self, node: yaml.SequenceNode, deep: bool = False) -> list[Any]:  # noqa: FBT001, FBT002
        return super().construct_sequence(node, deep=True)

    def _key(self, node: yaml.Node) -> Any:
        key = self.construct_object(node, deep=True)
        return json.dumps(key, ensure_ascii=False) if isinstance(key, dict | list) else key


def _things(node: yaml.Node, known: dict[int, int]) -> int:
    """Count nodes as often as they are reached; without end where an anchor holds itself."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = MAX_THINGS  # seen again before it is counted: it holds itself
        parts = node.value if isinstance(node, yaml.SequenceNode) else [one for pair in node.value for one in pair]
        known[id(node)] = 1 + sum(_things(part, known) for part in parts)
    return known[id(node)]
