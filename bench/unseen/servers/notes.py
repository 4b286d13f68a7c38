"""Notes and to-dos of one person: numbers as ids, optional filters, tools that write."""

from __future__ import annotations

from typing import Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("notes")

NOTES = {
    1: {"id": 1, "title": "Wifi", "body": "The guest network is Heron, password blue-lamp-88", "tags": ["home"]},
    2: {"id": 2, "title": "Gift ideas", "body": "Scarf for Ada, teapot for Tom", "tags": ["family"]},
    3: {"id": 3, "title": "Trip to Oslo", "body": "Ferry at 7:40, hotel near the opera", "tags": ["travel"]},
}
TODOS = {
    11: {"id": 11, "task": "Renew passport", "priority": "high", "done": False, "due": "2026-12-10"},
    12: {"id": 12, "task": "Water the plants", "priority": "low", "done": True, "due": "2026-11-20"},
    13: {"id": 13, "task": "Call the plumber", "priority": "high", "done": False, "due": "2026-12-01"},
    14: {"id": 14, "task": "Book a dentist", "priority": "medium", "done": False, "due": "2027-01-15"},
}


@mcp.tool()
def search_notes(query: str) -> list[dict]:
    """Search notes by title or content."""
    words = query.lower()
    return [
        {"id": one["id"], "title": one["title"]}
        for one in NOTES.values()
        if words in f"{one['title']} {one['body']}".lower()
    ]


@mcp.tool()
def read_note(note_id: int) -> dict:
    """Read a note."""
    if note_id not in NOTES:
        raise ToolError(f"Note {note_id} not found")
    return NOTES[note_id]


@mcp.tool()
def list_todos(
    priority: Literal["low", "medium", "high"] | None = None, include_done: bool = False, limit: int = 20
) -> list[dict]:
    """List to-do items, open ones only unless include_done is set."""
    return [
        one
        for one in TODOS.values()
        if (priority is None or one["priority"] == priority) and (include_done or not one["done"])
    ][:limit]


@mcp.tool()
def add_todo(task: str, priority: Literal["low", "medium", "high"] = "medium", due: str = "") -> str:
    """Add a to-do item."""
    return f"Added to-do 15: {task} ({priority})"


@mcp.tool()
def complete_todo(todo_id: int) -> str:
    """Mark a to-do item as done."""
    if todo_id not in TODOS:
        raise ToolError(f"To-do {todo_id} not found")
    return f"To-do {todo_id} is done: {TODOS[todo_id]['task']}"


if __name__ == "__main__":
    mcp.run()
