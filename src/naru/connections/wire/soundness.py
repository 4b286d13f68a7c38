"""Gives what a server lists the form that the protocol demands: one slip of it must not cost a client the whole list.

SDKs check a list as a whole, so a tool whose `inputSchema` is missing makes `list_tools()` fail for every server behind
the hub. What is optional and of a wrong type is left out; unknown keys stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from naru.messages import Json, JsonObject

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
Known = Mapping[str, Callable[[Json], bool]]
"""What the optional keys of an object hold; others are not looked at."""


def _is(*kinds: type) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _is_list(of: Callable[[Json], bool]) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, list) and all(map(of, value))


_TEXT, _FLAG, _NUMBER, _OBJECT = _is(str), _is(bool), _is(int, float), _is(dict)
_ITEM: Known = {
    **dict.fromkeys(("title", "description", "mimeType"), _TEXT),
    **dict.fromkeys(("annotations", "_meta", "outputSchema", "execution"), _OBJECT),
    **dict.fromkeys(("icons", "arguments"), _is(list)),
    "size": _NUMBER,
}
_ANNOTATIONS: Known = {
    "title": _TEXT,
    **dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), _FLAG),
    "audience": _is_list(lambda value: value in ("user", "assistant")),
    "priority": lambda value: _NUMBER(value) and 0 <= value <= 1,
    "lastModified": lambda value: isinstance(value, str) and bool(_MOMENT.fullmatch(value)),
}
_ICON: Known = {"mimeType": _TEXT, "sizes": _is_list(_TEXT), "theme": lambda value: value in ("light", "dark")}
_ARGUMENT: Known = {"title": _TEXT, "description": _TEXT, "required": _FLAG}


def sound_item(kind: str, raw: JsonObject) -> JsonObject:
    """Return an item of a list as clients can read it; the very same when nothing is wrong with it."""
    item = _sound(raw, _ITEM)
    mended: JsonObject = {
        "annotations": _sound(item["annotations"], _ANNOTATIONS) if "annotations" in item else None,
        "icons": _sound_all(item["icons"], "src", _ICON) if "icons" in item else None,
    }
    if kind == "tools":
        mended["inputSchema"] = sound_schema(item.get("inputSchema"))
        mended["outputSchema"] = _sound_parts(item["outputSchema"]) if "outputSchema" in item else None
    elif kind in ("resources", "templates") and not isinstance(item.get("name"), str):
        mended["name"] = str(item.get("title") or item.get("uri") or item.get("uriTemplate") or "")
    elif kind == "prompts" and "arguments" in item:
        mended["arguments"] = _sound_all(item["arguments"], "name", _ARGUMENT)
    changed = {key: value for key, value in mended.items() if value is not None and value is not item.get(key)}
    return {**item, **changed} if changed else item


def _sound(value: JsonObject, known: Known) -> JsonObject:
    """Leave out what is of a wrong type; null is none."""
    wrong = {key for key, fits in known.items() if key in value and not fits(value[key])}
    return {key: one for key, one in value.items() if key not in wrong} if wrong else value


def _sound_all(listed: list[Json], needed: str, known: Known) -> list[Json]:
    """Leave out those without what they are nothing without, and of others what is of a wrong type."""
    kept = [_sound(one, known) for one in listed if isinstance(one, dict) and isinstance(one.get(needed), str)]
    is_same = len(kept) == len(listed) and all(new is old for new, old in zip(kept, listed, strict=True))
    return listed if is_same else kept


def sound_schema(schema: Json) -> JsonObject:
    """Return an input schema as MCP has it: an object of which `type` is "object"; what else it says stays."""
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    sound = _sound_parts(schema)
    if sound.get("type") == "object":
        return sound
    rest: dict[str, Any] = {key: value for key, value in sound.items() if key not in ("type", "items")}
    return {"type": "object", **rest}


def _sound_parts(schema: JsonObject) -> JsonObject:
    """Write `true` and `false`, which JSON Schema has for any value and for none, as objects at the first level.

    Official clients know no others there: Rust's servers write `true` for a parameter that takes anything.
    """
    schema = _sound(schema, {"properties": _OBJECT, "required": _is_list(_TEXT)})
    properties: JsonObject = schema.get("properties", {})
    if all(isinstance(part, dict) for part in properties.values()):
        return schema
    parts: JsonObject = {
        name: part if isinstance(part, dict) else {"not": {}} if part is False else {}
        for name, part in properties.items()
    }
    return {**schema, "properties": parts}


def is_sound(kind: str, raw: JsonObject) -> bool:
    """Tell whether an item has what no client can do without."""
    needed = {"resources": "uri", "templates": "uriTemplate"}.get(kind, "name")
    return isinstance(raw.get(needed), str) and bool(raw[needed])
