"""What an MCP client of any Python SDK (1.2, 1.30, 2.x) sees through Naru; prints a JSON object for each cell.

    python python_client.py CELLS [MODE]
        CELLS: JSON, a list of [face, address]; face: sse, http or stdio; address: a URL, or a command as JSON

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
Seen = dict[str, Any]


async def main(cells: list[list[str]], mode: str) -> None:
    """Run one cell after the other; a cell that fails says why and does not hold up the next."""
    for face, address in cells:
        seen: Seen = {"sdk": VERSION, "progress": [], "changed": False, "elicited": False}
        try:
            async with asyncio.timeout(60):
                await (run_two(face, address, mode, seen) if MAJOR >= 2 else run_one(face, address, seen))
        except Exception as error:  # noqa: BLE001 - whatever a client library raises is what it saw
            seen["error"] = "; ".join(f"{type(each).__name__}: {each}" for each in leaves(error))
        print(json.dumps(seen), flush=True)


def leaves(error: BaseException) -> list[BaseException]:
    """Return what groups of exceptions hold, however deep."""
    held = getattr(error, "exceptions", ())
    return [leaf for each in held for leaf in leaves(each)] if held else [error]


async def run_one(face: str, address: str, seen: Seen) -> None:
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
            seen["changed"] = True

    async def on_elicit(context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        seen["elicited"] = True
        return ElicitResult(action="accept", content={"username": "ada", "email": "a@b.c"})

    more: dict[str, Any] = {}
    if MINOR >= 10:
        more = {"message_handler": on_message, "elicitation_callback": on_elicit}
    async with opened as streams, ClientSession(streams[0], streams[1], **more) as session:
        hello = await session.initialize()
        seen["version"] = hello.protocolVersion
        seen["tools"] = len((await session.list_tools()).tools)
        seen["text"] = (await session.call_tool("test_simple_text", {})).content[0].text
        if MINOR >= 10:
            await session.call_tool("test_tool_with_progress", {}, progress_callback=on_progress(seen))
            result = await session.call_tool("test_elicitation", {"message": "who?"})
            seen["answer"] = result.content[0].text
            await session.call_tool("test_trigger_tool_change", {})
            await changed(seen)


async def run_two(face: str, address: str, mode: str, seen: Seen) -> None:
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
            seen["changed"] = True

    async def on_elicit(context: Any, params: Any) -> ElicitResult:
        seen["elicited"] = True
        return ElicitResult(action="accept", content={"username": "ada", "email": "a@b.c"})

    async with Client(
        target, mode=mode, message_handler=on_message, elicitation_callback=on_elicit, read_timeout_seconds=60
    ) as client:
        seen["version"] = client.protocol_version
        seen["tools"] = len((await client.list_tools()).tools)
        seen["text"] = (await client.call_tool("test_simple_text", {})).content[0].text
        await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress(seen))
        result = await client.call_tool("test_elicitation", {"message": "who?"})
        seen["answer"] = result.content[0].text
        if client.protocol_version >= "2026":
            async with client.listen(tools_list_changed=True) as heard:
                await client.call_tool("test_trigger_tool_change", {})
                async for _ in heard:
                    seen["changed"] = True
                    break
        else:
            await client.call_tool("test_trigger_tool_change", {})
            await changed(seen)


def on_progress(seen: Seen) -> Any:
    async def hear(progress: float, total: float | None, *rest: Any) -> None:
        seen["progress"].append(progress)

    return hear


async def changed(seen: Seen) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(30):
            while not seen["changed"]:
                await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "auto"))
