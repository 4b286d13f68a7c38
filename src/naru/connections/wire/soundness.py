"""Gives what a server lists the form that the protocol demands: one slip of it must not cost a client the whole list.

SDKs check a list as a whole, so a tool whose `inputSchema` is missing makes `list_tools()` fail for every server behind
the hub. What is optional and of a wrong type is left out; unknown keys stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.messages import Json, JsonObject

_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "title": str,
    "description": str,
    "mimeType": str,
    "annotations": dict,
    "_meta": dict,
    "icons": list,
    "outputSchema": dict,
    "execution": dict,
    "arguments": list,
    "size": (int, float),
}


def sound_item(kind: str, raw: JsonObject) -> JsonObject:
    """Return an item of a list as clients can read it; the very same when nothing is wrong with it."""
    wrong = {key for key, wanted in _OPTIONAL.items() if key in raw and not isinstance(raw[key], wanted)}
    mended: JsonObject = {}
    if kind == "tools":
        schema = sound_schema(raw.get("inputSchema"))
        if schema is not raw.get("inputSchema"):
            mended["inputSchema"] = schema
    elif kind in ("resources", "templates") and not isinstance(raw.get("name"), str):
        mended["name"] = str(raw.get("title") or raw.get("uri") or raw.get("uriTemplate") or "")
    elif kind == "prompts" and isinstance(raw.get("arguments"), list):
        arguments = [one for one in raw["arguments"] if isinstance(one, dict) and isinstance(one.get("name"), str)]
        if len(arguments) < len(raw["arguments"]):
            mended["arguments"] = arguments
    if not wrong and not mended:
        return raw
    return {**{key: value for key, value in raw.items() if key not in wrong}, **mended}


def sound_schema(schema: Json) -> JsonObject:
    """Return an input schema as MCP has it: an object of which `type` is "object"; what else it says stays."""
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    if schema.get("type") == "object" and isinstance(schema.get("properties", {}), dict):
        return schema
    rest: dict[str, Any] = {key: value for key, value in schema.items() if key not in ("type", "items")}
    if not isinstance(rest.get("properties", {}), dict):
        del rest["properties"]
    return {"type": "object", **rest}


def is_sound(kind: str, raw: JsonObject) -> bool:
    """Tell whether an item has what no client can do without."""
    needed = {"resources": "uri", "templates": "uriTemplate"}.get(kind, "name")
    return isinstance(raw.get(needed), str) and bool(raw[needed])
