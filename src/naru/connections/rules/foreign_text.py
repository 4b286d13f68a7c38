"""Text that a server wrote and a model or a person will read: cut whole, made visible, cleaned of what hides (S-52)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any

import orjson

from naru.encoding import encode
from naru.messages import JsonObject, ToolDefinition

MAX_DESCRIPTION = 4 * 1024
"""Characters of a tool's description (S-54)."""
_JOINING = frozenset({0x200D, *range(0xFE00, 0xFE10), *range(0x1160, 0x1200), *range(0x1F3FB, 0x1F400)})
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufe00-\ufe0e\U000e0000-\U000e0fff]"
)
_ANSI = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]|[@-_])")


def cut_notice(limit: int, total: int) -> str:
    """Say at the end of a text that it was cut; never longer than the limit that it counts in."""
    return f"\n[cut: {limit} of {total} characters shown; the limit is max-tool-output-length]"[:limit]


def whole_character(text: str, position: int) -> int:
    """Return the last place at or before `position` that splits no letter from its marks, joiners and jamo."""
    while 0 < position < len(text) and (
        unicodedata.combining(text[position])
        or unicodedata.category(text[position]) in ("Mn", "Mc", "Me")
        or ord(text[position]) in _JOINING
        or ord(text[position - 1]) == 0x200D
    ):
        position -= 1
    return position


def clean_definition(tool: ToolDefinition) -> ToolDefinition:
    """Return a tool's definition fit to be shown to a model (S-52, S-54, h16).

    Invisible, control and direction characters and escape sequences go from its texts; long descriptions are cut.
    """
    title, description = _clean(tool.title), _clean(tool.description)
    schema = _clean_schema(tool.input_schema)
    if title == tool.title and description == tool.description and schema == tool.input_schema:
        return tool
    return replace(tool, title=title, description=description, input_schema=schema)


def as_offered(raw: JsonObject, tool: ToolDefinition) -> JsonObject:
    """Return a tool as the server sent it, unknown keys kept, with the texts of its cleaned definition.

    Whether it runs as a task is between the server and the hub, which waits for it: clients would refuse to call it.
    """
    if "execution" in raw:
        raw = {key: value for key, value in raw.items() if key != "execution"}
    given = {"title": tool.title, "description": tool.description, "inputSchema": tool.input_schema}
    changed = {key: value for key, value in given.items() if key in raw and raw[key] != value}
    return {**raw, **changed} if changed else raw


def _clean(text: str) -> str:
    shown = visible_text(text)
    if len(shown) > MAX_DESCRIPTION:
        return shown[: whole_character(shown, MAX_DESCRIPTION - 1)] + "…"
    return shown


def _clean_schema(node: Any) -> Any:
    """Clean descriptions and titles at any depth; values that a call must match stay as they are."""
    if isinstance(node, dict):
        return {
            key: _clean(value) if key in ("description", "title") and isinstance(value, str) else _clean_schema(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_clean_schema(item) for item in node]
    return node


def schema_size(tool: ToolDefinition) -> int | None:
    """Return the bytes of a tool's schemas and annotations; None when they are nested deeper than anyone needs."""
    said = [tool.input_schema, tool.output_schema, tool.annotations]
    try:
        return len(orjson.dumps(said))
    except orjson.JSONEncodeError as error:  # or an integer beyond 64 bits, which harms nobody
        return None if "Recursion" in str(error) else len(encode(said))


def visible_text(text: str) -> str:
    """Remove what nobody sees but a model reads: escapes, controls, zero-width, tags, direction marks (S-52)."""
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", text)
    return unicodedata.normalize("NFC", _INVISIBLE.sub(_kept_joiner, text))


def _kept_joiner(match: re.Match[str]) -> str:
    """Keep a zero-width joiner between two emoji, where it is part of what is seen."""
    if match[0] != "\u200d":
        return ""
    text, start = match.string, match.start()
    before, after = text[max(0, start - 2) : start], text[start + 1 : start + 2]
    seen = after and ord(after) >= 0x2190 and any(ord(char) >= 0x2190 for char in before)
    return match[0] if seen else ""


def show_every_character(text: str) -> str:
    r"""Write control, invisible and direction characters as `\uXXXX`."""
    pattern = re.compile(rf"{_INVISIBLE.pattern}|[\n\r\t]")
    return pattern.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
