"""Naru's own tools (any Toolset) as an upstream: served beside other servers, or alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from naru.errors import PolicyError, ToolError, UnknownToolError
from naru.gateway.upstreams.upstream import Absence, Change, Envelope, ListKind, Relay, Upstream
from naru.gateway.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from naru.messages import AudioPart, ImagePart, JsonObject, Part, ResourcePart, TextPart, ToolDefinition, ToolResult
from naru.tools.toolset import CallContext, LogCallback, ProgressCallback, Toolset, definition_of

_BROKEN_PROMISE = "The tool ran, and did not return what it says that it returns; its log says where they differ."


class OwnTools:
    """One Toolset, which the caller opens and closes."""

    modern = True
    owner = ""

    def __init__(self, name: str, toolset: Toolset, *, instructions: str = "", timeout_seconds: float = 30.0) -> None:
        self.name = name
        self.instructions = instructions
        self.capabilities: JsonObject = {"tools": {}}
        self._toolset = toolset
        self._timeout_seconds = timeout_seconds

    async def list(self, kind: ListKind) -> Sequence[JsonObject]:
        """Return the tools; a Toolset has nothing else."""
        return [definition_json(one) for one in await self._toolset.tools()] if kind == "tools" else ()

    async def request(
        self, method: str, params: JsonObject, *, relay: Relay | None = None, envelope: Envelope | None = None
    ) -> JsonObject:
        """Answer tools/call."""
        if method != "tools/call":
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
        context = CallContext(
            caller=envelope.caller if envelope is not None else relay.caller if relay is not None else "",
            timeout_seconds=self._timeout_seconds,
            on_progress=_progress(relay) if relay is not None else None,
            on_log=_log(relay, self.name) if relay is not None else None,
            meta=params.get("_meta") or {},
        )
        try:
            result = await self._toolset.call(params["name"], params.get("arguments") or {}, context)
        except UnknownToolError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        except (ToolError, PolicyError) as error:
            # A failure that the model can act on is a result, not a protocol error (SEP-1303).
            result = ToolResult.of_text(str(error), is_error=True)
        if result.structured is None and not result.is_error and await self._promises(params["name"]):
            result = replace(result, content=(*result.content, TextPart(_BROKEN_PROMISE)), is_error=True)
        return result_json(result)

    async def _promises(self, name: str) -> bool:
        """Tell whether a tool declares structured content: clients of MCP refuse a result without it, but an error."""
        tool = await definition_of(self._toolset, name)
        return tool is not None and tool.output_schema is not None

    async def notify(self, method: str, params: JsonObject) -> None:
        """Do nothing: functions hear no notifications."""

    async def subscribe(self, uri: str) -> None:
        """Do nothing: there are no resources."""

    async def unsubscribe(self, uri: str) -> None:
        """Do nothing: there are no resources."""

    async def set_log_level(self, level: str) -> None:
        """Do nothing: each request says its level."""


class OwnUpstreams:
    """Own tools alone, without any server."""

    def __init__(self, *own: Upstream) -> None:
        self._own = {upstream.name: upstream for upstream in own}
        self.log_level = ""
        self._listeners: list[Callable[[Change], None]] = []

    def usable(self) -> Sequence[Upstream]:
        """Return all."""
        return list(self._own.values())

    def find(self, name: str) -> Upstream | None:
        """Return one."""
        return self._own.get(name)

    def of(self, name: str, owner: str) -> Upstream | None:
        """Return one: they are everybody's."""
        return self._own.get(name)

    async def awaited(self, tool: str) -> Absence:
        """Return nothing: they are always there."""
        return Absence()

    def may_sign_in(self, server: str) -> bool:
        """Return that nobody may: they want no sign-in."""
        return False

    @property
    def whose(self) -> str:
        """Return nothing: all see the same."""
        return ""

    async def arrive(self) -> None:
        """Do nothing: they are always there."""

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Have a function told of what `tell` is given; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, change: Change) -> None:
        """Tell clients of a change; only who serves the tools knows of it."""
        for listener in list(self._listeners):
            listener(change)


def _progress(relay: Relay) -> ProgressCallback:
    async def report(progress: float, total: float | None, message: str) -> None:
        params: JsonObject = {"progress": progress, "message": message}
        relay.progress(params if total is None else {**params, "total": total})

    return report


def _log(relay: Relay, name: str) -> LogCallback:
    async def log(level: str, message: str) -> None:
        relay.notify("notifications/message", {"level": level, "logger": name, "data": message})

    return log


def definition_json(definition: ToolDefinition) -> JsonObject:
    """Return a tool as tools/list shows it."""
    shown: JsonObject = {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": definition.input_schema,
    }
    for key, value in (
        ("title", definition.title),
        ("outputSchema", definition.output_schema),
        ("annotations", definition.annotations),
        ("_meta", definition.meta),
    ):
        if value:
            shown[key] = value
    return shown


def result_json(result: ToolResult) -> JsonObject:
    """Return a result as tools/call shows it."""
    shown: JsonObject = {"content": [_part(part) for part in result.content]}
    if result.structured is not None:
        shown["structuredContent"] = result.structured
    if result.is_error:
        shown["isError"] = True
    if result.meta:
        shown["_meta"] = result.meta
    return shown


def _part(part: Part) -> JsonObject:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(mime_type=mime_type, data=data, url=url):
            if not data:
                return {"type": "resource_link", "uri": url, "name": url}
            return {"type": "image", "data": data, "mimeType": mime_type}
        case AudioPart(mime_type=mime_type, data=data):
            return {"type": "audio", "data": data, "mimeType": mime_type}
        case ResourcePart(uri=uri, mime_type=mime_type, text=text, blob=blob):
            about: JsonObject = {"uri": uri, **({"mimeType": mime_type} if mime_type else {})}
            if text is None and blob is None:
                said = {"title": part.title, "description": part.description}
                link = {key: text for key, text in said.items() if text}
                return {"type": "resource_link", "name": part.name or uri, **link, **about}
            return {
                "type": "resource",
                "resource": {**about, **({"text": text} if text is not None else {"blob": blob})},
            }
