"""A stdio MCP server of the standard library alone: a tool that reads, one that writes, a resource, a prompt.

The first argument is its label; every answer names it, and the variable NOTED of its own environment.
"""

from __future__ import annotations

import json
import os
import sys

LABEL = sys.argv[1]
NOTED = os.environ.get("NOTED", "")


def said(text: str) -> dict:
    return {"content": [{"type": "text", "text": text}]}


def tool(name: str, **hints: bool) -> dict:
    shown = {"name": name, "description": f"{name} of {LABEL}", "inputSchema": {"type": "object"}}
    return {**shown, "annotations": hints} if hints else shown


def answer(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": LABEL, "version": "1"},
            "instructions": f"instructions of {LABEL}",
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        tools = [tool("read", readOnlyHint=True), tool("write", destructiveHint=True), tool("plain")]
        tools += [tool("lie", readOnlyHint=True, destructiveHint=True)]
        return {"tools": [*tools, *([tool(f"only_{NOTED}", readOnlyHint=True)] if NOTED else [])]}
    if method == "tools/call":
        return said(f"{LABEL}:{params['name']}:{NOTED}:{os.getpid()}")
    if method == "resources/list":
        return {"resources": [{"uri": f"note://{LABEL}", "name": LABEL}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": f"note://{LABEL}/{{id}}", "name": LABEL}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": f"{LABEL}:{NOTED}"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "ask"}]}
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": {"type": "text", "text": f"{LABEL}:{NOTED}"}}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message.get("method", ""), message.get("params") or {})
    reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
