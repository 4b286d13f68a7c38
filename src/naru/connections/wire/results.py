"""A raw `tools/call` result to typed parts (H6)."""

from __future__ import annotations

import json

from naru.connections.wire.protocol import META_RELATED_TASK
from naru.messages import AudioPart, ImagePart, Json, JsonObject, Part, ResourcePart, TextPart, ToolResult
from naru.records import flag

_KNOWN_KEYS = ("content", "structuredContent", "isError", "_meta", "resultType")


def to_result(raw: JsonObject) -> ToolResult:
    """Return what a call gave as typed parts; content of a kind that is not known stays readable as JSON text."""
    meta = raw.get("_meta")
    return ToolResult(
        content=tuple(_part(block) for block in _blocks(raw)),
        structured=raw.get("structuredContent"),
        is_error=flag(raw.get("isError"), default=False),
        meta=meta if isinstance(meta, dict) else {},
    )


def _blocks(raw: JsonObject) -> list[Json]:
    """Return the content; what sloppy servers put in its place is not lost (a bare text, one block, other keys)."""
    content: Json = raw.get("content")
    if isinstance(content, list):
        return content
    if content is not None:
        return [content]
    if raw.get("structuredContent") is not None:
        return []
    rest = {key: value for key, value in raw.items() if key not in _KNOWN_KEYS}
    return [rest["toolResult"] if list(rest) == ["toolResult"] else rest] if rest else []


def is_well_formed(result: JsonObject) -> bool:
    """Tell whether the content of a `tools/call` result is a list of blocks; cheap, since nearly all are."""
    content = result.get("content")
    return type(content) is list and all(map(_is_block, content))


def well_formed(result: JsonObject) -> JsonObject:
    """Return a `tools/call` result with content that clients can read: null, a text, one block, other keys are not.

    What another era makes of it (a question, a task) stays as it is.
    """
    if is_well_formed(result) or result.get("resultType", "complete") != "complete":
        return result
    blocks = _blocks(result)
    if blocks == [] and result.get("structuredContent") is not None:
        blocks = [{"type": "text", "text": json.dumps(result["structuredContent"], ensure_ascii=False)}]
    return {**result, **sloppy_content(blocks)}


def without_task(said: JsonObject) -> JsonObject:
    """Return a result or a question as one that belongs to no task: who called knows of none."""
    meta = said.get("_meta")
    if not isinstance(meta, dict) or META_RELATED_TASK not in meta:
        return said
    return {**said, "_meta": {name: value for name, value in meta.items() if name != META_RELATED_TASK}}


def sloppy_content(result: Json) -> JsonObject:
    """Return a `tools/call` result that is no object as one: blocks stay blocks, all else becomes text."""
    if result is None:
        return {"content": []}
    blocks = result if isinstance(result, list) else [result]
    return {"content": [block if _is_block(block) else {"type": "text", "text": _plain(block)} for block in blocks]}


def _is_block(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _part(block: Json) -> Part:
    if not isinstance(block, dict):
        return TextPart(_plain(block))
    match block.get("type"):
        case "text":
            return TextPart(str(block.get("text", "")))
        case "image":
            return ImagePart(str(block.get("mimeType", "")), str(block.get("data", "")))
        case "audio":
            return AudioPart(str(block.get("mimeType", "")), str(block.get("data", "")))
        case "resource":
            return _resource(block.get("resource"))
        case "resource_link":
            said: JsonObject = {key: str(block.get(key) or "") for key in ("name", "title", "description")}
            return ResourcePart(str(block.get("uri", "")), str(block.get("mimeType") or ""), **said)
        case _:
            return TextPart(json.dumps(block, ensure_ascii=False))


def _resource(resource: Json) -> ResourcePart:
    resource = resource if isinstance(resource, dict) else {}
    text, blob = resource.get("text"), resource.get("blob")
    return ResourcePart(
        str(resource.get("uri", "")),
        str(resource.get("mimeType") or ""),
        text if isinstance(text, str) else None,
        blob if isinstance(blob, str) else None,
    )
