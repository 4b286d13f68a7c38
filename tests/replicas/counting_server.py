"""A stdio MCP server of the standard library alone: says, counts with progress, fails, and grows a tool."""

from __future__ import annotations

import json
import sys

NAMES = ["say", "count", "fail", "grow"]


def write(message: dict) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def called(params: dict) -> dict:
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "fail":
        raise RuntimeError("refused on purpose")
    if name == "count":
        token = params.get("_meta", {}).get("progressToken")
        for number in (1, 2) if token is not None else ():
            write({"method": "notifications/progress", "params": {"progressToken": token, "progress": number}})
    if name == "grow" and "grown" not in NAMES:
        NAMES.append("grown")
        write({"method": "notifications/tools/list_changed"})
    said = {"say": arguments.get("text", ""), "count": "counted"}.get(name, "done")
    return {"content": [{"type": "text", "text": said}]}


def answer(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "counting", "version": "1"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        hints = {"readOnlyHint": True}
        schema = {"type": "object"}
        return {"tools": [{"name": one, "inputSchema": schema, "annotations": hints} for one in NAMES]}
    return called(params) if method == "tools/call" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    try:
        result = answer(message.get("method", ""), message.get("params") or {})
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    except RuntimeError as error:
        reply = {"error": {"code": -32000, "message": str(error)}}
    write({"id": message["id"], **reply})
