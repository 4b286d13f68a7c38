"""Pydantic's validators where JSON has a value that they only know in Python: enum members, literal bytes, base64.

Pydantic reads `Literal[Color.RED]` from the member alone, an enum of tuples or dates only from a tuple or a date,
`Base64Bytes` decodes again what came as base64, and the items of an `Iterable` are looked at while the function runs.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import EncodedBytes, TypeAdapter
from pydantic_core import SchemaValidator, core_schema, to_jsonable_python

_OPAQUE = frozenset({"metadata", "serialization", "cls", "function", "default", "expected", "config", "ref", "type"})
"""Keys of a core schema below which no schema stands."""


def reading_json(adapter: TypeAdapter[Any], *, as_it_is: bool = False) -> SchemaValidator:
    """Return an adapter's validator, made to read from JSON what its schema says, where it does not do so as it is."""
    plain: Any = adapter.validator
    found = adapter.core_schema if as_it_is else _mended(adapter.core_schema)
    if found is adapter.core_schema:
        return plain  # type: ignore[no-any-return]
    make: Any = SchemaValidator
    try:
        # Otherwise a model's own validator is put in the place of its schema.
        return make(found, _use_prebuilt=False)  # type: ignore[no-any-return]
    except TypeError:
        return make(found)  # type: ignore[no-any-return]


def _mended(node: Any) -> Any:
    """Return a core schema with what JSON spells otherwise mended; the same object where there is nothing."""
    if isinstance(node, list | tuple):
        items = [_mended(item) for item in node]
        return node if all(new is old for new, old in zip(items, node, strict=True)) else type(node)(items)
    if not isinstance(node, dict):
        return node
    if node.get("type") == "literal":
        return _of_literal(node)
    if node.get("type") == "enum":
        return _of_enum(node)
    changed = {key: new for key, old in node.items() if key not in _OPAQUE and (new := _below(key, old)) is not old}
    if node.get("type") == "generator":
        changed["type"] = "list"
    if node.get("type") == "tagged-union" and any(map(_is_member, node["choices"])):
        choices: dict[Any, Any] = {**node["choices"], **changed.get("choices", {})}
        changed["choices"] = {**choices, **{to_jsonable_python(tag): each for tag, each in choices.items()}}
    if node.get("type") == "function-after" and _is_encoded(node) and node["schema"].get("type") == "bytes":
        changed["schema"] = core_schema.no_info_plain_validator_function(_raw)
    return {**node, **changed} if changed else node


def _below(key: str, value: Any) -> Any:
    if key not in ("fields", "choices") or not isinstance(value, dict):
        return _mended(value)
    items = {name: _mended(each) for name, each in value.items()}  # names and tags are the user's, whatever they are
    return value if all(items[name] is value[name] for name in value) else items


def _of_literal(node: dict[str, Any]) -> Any:
    spelled = [(to_jsonable_python(each), each) for each in node["expected"]]
    return _spelled(node, [(text, each) for text, each in spelled if isinstance(each, bytes) or _is_member(each)])


def _of_enum(node: dict[str, Any]) -> Any:
    spelled = [(to_jsonable_python(each), each) for each in node["members"]]
    return _spelled(node, [(text, each) for text, each in spelled if type(text) is not type(each.value)])


def _spelled(node: dict[str, Any], other: list[tuple[Any, Any]]) -> Any:
    """Return a core schema that also reads these values by what JSON has for them; the same where there are none."""
    if not other:
        return node

    def read(value: Any) -> Any:
        return next((each for text, each in other if text == value and type(text) is type(value)), value)

    return core_schema.no_info_before_validator_function(read, node)


def _is_member(value: Any) -> bool:
    return isinstance(value, Enum) and not isinstance(value, int | str)


def _is_encoded(node: dict[str, Any]) -> bool:
    return isinstance(getattr(node["function"]["function"], "__self__", None), EncodedBytes)


def _raw(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise ValueError("Input should be base64 text")
