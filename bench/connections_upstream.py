"""The MCP server that all targets of `connections.py` talk to over HTTP: both eras, JSON answers, cheap."""

from __future__ import annotations

import asyncio
import sys

import orjson
from aiohttp import web

TOOLS = [{"name": "echo", "description": "Repeat.", "inputSchema": {"type": "object"}}]
CAPABILITIES = {"tools": {}}
INFO = {"name": "upstream", "version": "1"}
CACHE = {"ttlMs": 0, "cacheScope": "public", "resultType": "complete"}
HEADERS = {"Content-Type": "application/json"}


def result(method: str, message: dict) -> dict:
    if method == "tools/call":
        text = message["params"]["arguments"]["text"]
        return {"content": [{"type": "text", "text": text}], "resultType": "complete"}
    if method == "tools/list":
        return {"tools": TOOLS, **CACHE}
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES, **CACHE}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": INFO}
    return {}


async def handle(request: web.BaseRequest) -> web.StreamResponse:
    if request.method != "POST":
        return web.Response(status=405)
    message = orjson.loads(await request.read())
    if "id" not in message:
        return web.Response(status=202)
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message["method"], message)}
    headers = {**HEADERS, "Mcp-Session-Id": "s"} if message["method"] == "initialize" else HEADERS
    return web.Response(body=orjson.dumps(answer), headers=headers)


async def main(port: int) -> None:
    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.sleep(600)


asyncio.run(main(int(sys.argv[1])))
