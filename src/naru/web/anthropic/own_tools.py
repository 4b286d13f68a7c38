"""Tools that Anthropic's models know by heart and the client runs: they are named by a type and carry no schema."""

from __future__ import annotations

from collections.abc import Mapping

from naru.messages import JsonObject


def _tool(name: str, description: str, required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}


_TEXT: JsonObject = {"type": "string"}
_OF_FILES: JsonObject = {
    "path": _TEXT,
    "file_text": _TEXT,
    "old_str": _TEXT,
    "new_str": _TEXT,
    "insert_line": {"type": "integer"},
    "insert_text": _TEXT,
    "view_range": {"type": "array", "items": {"type": "integer"}},
}
"""What the commands of both tools for files take."""
_EDITOR = _tool(
    "str_replace_based_edit_tool",
    "View, create and edit text files: `view` a file or folder, `create` a file with file_text, `str_replace` old_str "
    "(which must occur exactly once) by new_str, `insert` insert_text after insert_line.",
    ("command", "path"),
    command={"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
    **_OF_FILES,
)
_MEMORY = _tool(
    "memory",
    "Keep what is worth knowing later in text files under /memories: `view` a file or folder, `create` a file with "
    "file_text, `str_replace` old_str by new_str, `insert` insert_text after insert_line, `delete` a path, `rename` "
    "old_path to new_path.",
    ("command",),
    command={"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
    **_OF_FILES,
    old_path=_TEXT,
    new_path=_TEXT,
)
OWN_TOOLS: Mapping[str, JsonObject] = {
    "bash": _tool(
        "bash",
        "Run a command in a persistent bash session, or restart it.",
        (),
        command=_TEXT,
        restart={"type": "boolean"},
    ),
    "text_editor": _EDITOR,
    "memory": _MEMORY,
}
"""By type, without its date."""
