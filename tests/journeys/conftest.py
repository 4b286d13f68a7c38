"""What several journeys work with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TOOLS = [
    {"name": "draw", "title": "Draw a picture", "description": "Draws a square.", "inputSchema": {"type": "object"}},
    {
        "name": "file_paper",
        "description": "Files a paper.",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "tags": {"type": "array"}, "urgent": {"type": "boolean"}},
            "required": ["title"],
        },
    },
]


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that says which tools the server `papers` has."""
    path = tmp_path_factory.mktemp("papers") / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return path
