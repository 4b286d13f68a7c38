"""A raw MCP server for benchmarks: answers from bytes, so that what stands before it shows itself.

gateway_echo.py [--stdio [--noise MB]] [--legacy] [--tools N] [--port P]        prints its port when it serves HTTP
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading

import orjson

OPTIONS = argparse.Namespace(tools=1, legacy=False, port=0)
COUNTS: dict[str, int] = {}


def answer(message: dict) -> dict | None:
    method, request_id = message.get("method"), message.get("id")
    COUNTS[method] = COUNTS.get(method, 0) + 1
    if request_id is None:
        return None
    if method == "tools/call":
        params = message["params"]
        size = params.get("arguments", {}).get("size", 0)
        text = "x" * size if size else params.get("arguments", {}).get("text", "")
        result = {"content": [{"type": "text", "text": text}], "resultType": "complete"}
    elif method == "initialize":
        version = message["params"]["protocolVersion"]
        result = {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "e", "version": "1"},
        }
    elif method == "server/discover" and not OPTIONS.legacy:
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        result |= {"ttlMs": 60000, "cacheScope": "public"}
    elif method == "tools/list":
        schema = {
            "type": "object",
            "properties": {f"p{n}": {"type": "string", "description": "a value"} for n in range(6)},
        }
        tools = [
            {"name": f"echo{n or ''}", "description": "Echo " * 12, "inputSchema": schema} for n in range(OPTIONS.tools)
        ]
        result = {"tools": tools, "resultType": "complete", "ttlMs": 60000, "cacheScope": "public"}
    elif method == "counts":
        result = COUNTS
    elif method in ("ping", "logging/setLevel"):
        result = {}
    elif method in ("prompts/list", "resources/list"):
        result = {method.split("/")[0]: []}
    else:
        return {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32601, "message": "Method not found"}}
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


class Http(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            self.reply(head, body)

    def reply(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"post"):
            self.transport.write(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
            return
        message = orjson.loads(body)
        found = answer(message)
        delay = ((message.get("params") or {}).get("arguments") or {}).get("delay", 0)
        if delay:
            asyncio.get_running_loop().call_later(delay, self.write, body, found)
        else:
            self.write(body, found)

    def write(self, body: bytes, found: dict | None) -> None:
        if self.transport.is_closing():
            return
        if found is None:
            self.transport.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
            return
        data = orjson.dumps(found)
        session = b"mcp-session-id: s\r\n" if b'"initialize"' in body else b""
        lines = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n%bcontent-length: %d\r\n\r\n"
        self.transport.write(lines % (session, len(data)) + data)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Http, "127.0.0.1", OPTIONS.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def shout() -> None:
    """Write to stderr until there are so many megabytes of it (R-40)."""
    line = b"x" * 1023 + b"\n"
    for _ in range(OPTIONS.noise * 1024):
        os.write(2, line)


def stdio() -> None:
    if OPTIONS.noise:
        threading.Thread(target=shout, daemon=True).start()
    for line in sys.stdin.buffer:
        found = answer(orjson.loads(line))
        if found is not None:
            sys.stdout.buffer.write(orjson.dumps(found) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--noise", type=int, default=0)
    parser.add_argument("--legacy", action="store_true")
    parser.add_argument("--tools", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    OPTIONS = parser.parse_args()
    if OPTIONS.stdio:
        stdio()
    else:
        import uvloop

        uvloop.run(serve())
