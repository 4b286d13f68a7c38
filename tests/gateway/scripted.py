"""A server in memory that answers from Python functions; the gateway's Upstream seam, so no mock of our own classes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.gateway.upstreams.upstream import Absence, Change, Envelope, ListKind, Relay, Upstream
from naru.gateway.wire.protocol import RpcError

Json = dict[str, Any]
Answer = Callable[[Json, Relay | None], Awaitable[Json]]


async def echo(params: Json, relay: Relay | None) -> Json:
    """Answer with what came."""
    return {"content": [{"type": "text", "text": str(params.get("arguments", {}).get("text", ""))}]}


@dataclass(eq=False)
class ScriptedUpstream:
    """One server."""

    name: str
    owner = ""
    tools: dict[str, Answer] = field(default_factory=lambda: {"echo": echo})
    modern: bool = True
    capabilities: Json = field(default_factory=lambda: {"tools": {"listChanged": True}, "resources": {}, "prompts": {}})
    instructions: str = ""
    items: dict[str, list[Json]] = field(default_factory=dict)
    seen: list[tuple[str, Json, Envelope | None]] = field(default_factory=list)
    held: asyncio.Event | None = None
    """Lists wait for it."""

    async def list(self, kind: ListKind) -> Sequence[Json]:
        if self.held is not None:
            await self.held.wait()
        if kind == "tools" and "tools" not in self.items:
            return [{"name": name, "inputSchema": {"type": "object"}} for name in self.tools]
        return self.items.get(kind, [])

    async def request(
        self, method: str, params: Json, *, relay: Relay | None = None, envelope: Envelope | None = None
    ) -> Json:
        self.seen.append((method, params, envelope))
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"{self.name} {params['uri']}"}]}
        if method not in ("tools/call", "prompts/get"):
            return {"resultType": "complete"}
        if params["name"] not in self.tools:
            raise RpcError(-32602, f"Unknown tool: {params['name']}")
        return await self.tools[params["name"]](params, relay)

    async def notify(self, method: str, params: Json) -> None:
        self.seen.append((method, params, None))

    async def subscribe(self, uri: str) -> None:
        self.seen.append(("subscribe", {"uri": uri}, None))

    async def unsubscribe(self, uri: str) -> None:
        self.seen.append(("unsubscribe", {"uri": uri}, None))

    async def set_log_level(self, level: str) -> None:
        self.seen.append(("level", {"level": level}, None))


class ScriptedUpstreams:
    """Several servers, and a way to say that something changed."""

    def __init__(self, *servers: ScriptedUpstream) -> None:
        self.servers = {server.name: server for server in servers}
        self._listeners: list[Callable[[Change], None]] = []

    def usable(self) -> Sequence[Upstream]:
        return list(self.servers.values())

    def find(self, name: str) -> Upstream | None:
        return self.servers.get(name)

    def of(self, name: str, owner: str) -> Upstream | None:
        return self.servers.get(name)

    whose = log_level = ""

    async def arrive(self) -> None: ...

    async def awaited(self, tool: str) -> Absence:
        return Absence()

    def may_sign_in(self, server: str) -> bool:
        return False

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)
