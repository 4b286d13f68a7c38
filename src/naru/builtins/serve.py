"""A Toolset as an MCP server of its own over stdio, on the official SDK's low-level server."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from naru import __version__
from naru.errors import NaruError
from naru.messages import AudioPart, ImagePart, Part, ResourcePart, TextPart, ToolDefinition, ToolResult
from naru.tools.toolset import CallContext, Toolset


def build_server(toolset: Toolset, *, name: str, instructions: str = "") -> Server[Any]:
    """Return an MCP server that lists and calls the tools of a Toolset, which the caller opens and closes."""

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(definition) for definition in await toolset.tools()])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            result = await toolset.call(params.name, params.arguments or {}, CallContext())
        except NaruError as error:  # told to the model, as MCP asks for
            result = ToolResult.of_text(str(error), is_error=True)
        return _result(result)

    return Server(
        name,
        version=__version__,
        instructions=instructions or None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def run_stdio(toolset: Toolset, *, name: str, instructions: str = "") -> None:
    """Serve a Toolset on standard input and output until the client closes them, Ctrl-C or SIGTERM."""

    async def serve() -> None:
        server = build_server(toolset, name=name, instructions=instructions)
        await toolset.open()
        try:
            async with anyio.create_task_group() as group:
                if sys.platform != "win32":
                    group.start_soon(_leave_on_signal, toolset)
                async with stdio_server() as (incoming, outgoing):
                    await server.run(incoming, outgoing, server.create_initialization_options())
                group.cancel_scope.cancel()
        finally:
            await toolset.close()

    anyio.run(serve)


async def _leave_on_signal(toolset: Toolset) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            await toolset.close()
            os._exit(128 + number)  # the SDK's thread waits in stdin, and nothing else ends that wait


def _tool(definition: ToolDefinition) -> Tool:
    return Tool(
        name=definition.name,
        title=definition.title or None,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=ToolAnnotations.model_validate(definition.annotations) if definition.annotations else None,
    )


def _result(result: ToolResult) -> CallToolResult:
    return CallToolResult(
        content=[_content(part) for part in result.content],
        structured_content=result.structured,
        is_error=result.is_error,
    )


def _content(part: Part) -> ContentBlock:
    match part:
        case TextPart(text=text):
            return TextContent(text=text)
        case ImagePart(mime_type=mime_type, data=data, url=url):
            if not data:
                return ResourceLink(uri=url, name=url, mime_type=mime_type or None)
            return ImageContent(data=data, mime_type=mime_type)
        case AudioPart(mime_type=mime_type, data=data):
            return AudioContent(data=data, mime_type=mime_type)
        case ResourcePart(uri=uri, mime_type=mime_type, text=text, blob=blob):
            if text is not None:
                return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type or None, text=text))
            if blob is not None:
                return EmbeddedResource(resource=BlobResourceContents(uri=uri, mime_type=mime_type or None, blob=blob))
            return ResourceLink(uri=uri, name=uri, mime_type=mime_type or None)
