"""An MCP server on stdio whose tools are what a file says now: one draws a picture, one may be changed by a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgCAIAAADbtmxLAAAAMUlEQVR42u3OQQ0AAAgEoItkBKMbzRbO"
    "BxsByHS9EiEhISEhISEhISEhISEhISGhSws7FyBqv6nEywAAAABJRU5ErkJggg=="
)
"""A red square, as PNG."""
MARKUP = "<img src=x onerror=window.hit=1><script>window.hit=2</script>"
EVERYTHING = [
    {"type": "text", "text": MARKUP},
    {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9IndpbmRvdy5oaXQ9MyIvPg=="},
    {"type": "image", "mimeType": "image/png", "data": PICTURE},
    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRiQAAABXQVZFZm10IBAAAAABAAEA"},
    {"type": "resource_link", "uri": "javascript:window.hit=4", "name": MARKUP},
    {"type": "resource", "resource": {"uri": "file:///a.html", "mimeType": "text/html", "text": MARKUP}},
    {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAA"}},
    {"type": "hologram", "text": MARKUP},
    {"type": "text", "text": f"{'길고 긴 글 ' * 60_000}the end"},
]
"""A result with each kind of content, some of them hostile; the long text is last, since the hub cuts after it."""


def answer(method: str, params: dict[str, Any], tools: Path) -> dict[str, Any]:
    """Return the result of one request."""
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "papers", "version": "1"},
            }
        case "tools/list":
            return {"tools": json.loads(tools.read_text(encoding="utf-8"))}
        case "tools/call" if params["name"] == "draw":
            return {"content": [{"type": "image", "mimeType": "image/png", "data": PICTURE}]}
        case "tools/call" if params["name"] == "everything":
            return {"content": EVERYTHING}
        case "tools/call" if params["name"] == "count":
            return {"content": [], "structuredContent": {"id": 12345678901234567890, "rows": list(range(20))}}
        case "tools/call" if params["name"] == "nothing":
            return {"content": []}
        case "tools/call":
            return {"content": [{"type": "text", "text": json.dumps(params["arguments"], ensure_ascii=False)}]}
    return {}


def main() -> None:
    """Serve until stdin ends."""
    tools = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params") or {}, tools)
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
