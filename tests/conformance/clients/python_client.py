"""What an MCP client of any Python SDK (1.2, 1.30, 2.x) sees through Naru; prints one JSON object.

    python python_client.py FACE ADDRESS [MODE]     FACE: sse, http or stdio; ADDRESS: a URL, or a command as JSON

Runs in a virtual environment with that SDK alone, so it imports nothing of Naru.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import sys
from typing import Any

VERSION = importlib.metadata.version("mcp")
MAJOR, MINOR = (int(part) for part in VERSION.split(".")[:2])
SEEN: dict[str, Any] = {"sdk": VERSION, "progress": [], "changed": False, "elicited": False}


async def main(face: str, address: str, mode: str) -> None:
    async with asyncio.timeout(150):
        await (run_two(face, address, mode) if MAJOR >= 2 else run_one(face, address))


async def run_one(face: str, address: str) -> None:
    from mcp import ClientSession
    from mcp.client.sse import sse_client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    if face == "stdio":
        command = json.loads(address)
        opened = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    elif face == "sse":
        opened = sse_client(address)
    else:
        from mcp.client.streamable_http import streamablehttp_client

        opened = streamablehttp_client(address)

    async def on_message(message: Any) -> None:
        if "list_changed" in str(message):
            SEEN["changed"] = True

    async def on_elicit(context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        SEEN["elicited"] = True
        return ElicitResult(action="accept", content={"username": "ada", "email": "a@b.c"})

    more: dict[str, Any] = {}
    if MINOR >= 10:
        more = {"message_handler": on_message, "elicitation_callback": on_elicit}
    async with opened as streams, ClientSession(streams[0], streams[1], **more) as session:
        hello = await session.initialize()
        SEEN["version"] = hello.protocolVersion
        SEEN["tools"] = len((await session.list_tools()).tools)
        SEEN["text"] = (await session.call_tool("test_simple_text", {})).content[0].text
        if MINOR >= 10:
            await session.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)
            result = await session.call_tool("test_elicitation", {"message": "who?"})
            SEEN["answer"] = result.content[0].text
            await session.call_tool("test_trigger_tool_change", {})
            await changed()


async def run_two(face: str, address: str, mode: str) -> None:
    from mcp import Client
    from mcp.client.sse import sse_client
    from mcp.client.stdio import StdioServerParameters
    from mcp_types import ElicitResult

    target: Any = address
    if face == "stdio":
        command = json.loads(address)
        target = StdioServerParameters(command=command[0], args=command[1:])
    elif face == "sse":
        target = sse_client(address)

    async def on_message(message: Any) -> None:
        if "list_changed" in str(message):
            SEEN["changed"] = True

    async def on_elicit(context: Any, params: Any) -> ElicitResult:
        SEEN["elicited"] = True
        return ElicitResult(action="accept", content={"username": "ada", "email": "a@b.c"})

    async with Client(
        target, mode=mode, message_handler=on_message, elicitation_callback=on_elicit, read_timeout_seconds=60
    ) as client:
        SEEN["version"] = client.protocol_version
        SEEN["tools"] = len((await client.list_tools()).tools)
        SEEN["text"] = (await client.call_tool("test_simple_text", {})).content[0].text
        await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)
        result = await client.call_tool("test_elicitation", {"message": "who?"})
        SEEN["answer"] = result.content[0].text
        if client.protocol_version >= "2026":
            async with client.listen(tools_list_changed=True) as heard:
                await client.call_tool("test_trigger_tool_change", {})
                async for _ in heard:
                    SEEN["changed"] = True
                    break
        else:
            await client.call_tool("test_trigger_tool_change", {})
            await changed()


async def on_progress(progress: float, total: float | None, *rest: Any) -> None:
    SEEN["progress"].append(progress)


async def changed() -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5):
            while not SEEN["changed"]:
                await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "auto"))
    print(json.dumps(SEEN))
