"""A server without a process: the connections' `Transport` seam over Python, one turn of the loop for each hop."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.base import Counters, Inbox, LogRing, Outgoing
from naru.connections.transports.choose import MakeTransport
from naru.connections.transports.pending import PendingAnswers
from naru.connections.wire import messages as wire
from naru.records import TransportType
from naru.stores.secrets.values import SecretValues

Json = dict[str, Any]


class InMemoryServer:
    """A server of sessions: lists tools and prompts, answers each tool with its name; can be killed and changed."""

    def __init__(self, *tools: str, prompts: Sequence[str] = (), pause_seconds: float = 0.0) -> None:
        self.pause_seconds = pause_seconds
        """How long it takes to answer; infinity never answers."""
        self.tools = list(tools) or ["echo"]
        self.prompts = list(prompts)
        self.links: list[InMemoryTransport] = []
        self.opened = 0
        self.called = 0

    def answer(self, method: str, params: Json) -> Json:
        """Return what a response holds beside its id."""
        match method:
            case "initialize":
                capabilities = {kind: {"listChanged": True} for kind in ("tools", "prompts")}
                info = {"name": "in memory", "version": "1"}
                version = params["protocolVersion"]
                return {"result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}}
            case "tools/list":
                return {"result": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in self.tools]}}
            case "prompts/list":
                return {"result": {"prompts": [{"name": name} for name in self.prompts]}}
            case "tools/call" if params["name"] in self.tools:
                self.called += 1
                return {"result": {"content": [{"type": "text", "text": params["name"]}]}}
            case "ping" | "logging/setLevel":
                return {"result": {}}
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}}

    def link(self) -> InMemoryTransport:
        """Return a link to it that is not open yet."""
        return InMemoryTransport(self)

    def kill(self) -> None:
        """Break every link at once; a new one may be opened."""
        for link in list(self.links):
            link.die()

    def offer(self, *tools: str) -> None:
        """Offer other tools and say so."""
        self.tools = list(tools)
        for link in self.links:
            link.say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


class InMemoryTransport:
    """One link to it."""

    def __init__(self, server: InMemoryServer) -> None:
        self.counters = Counters()
        self.secrets = SecretValues()
        self.logs = LogRing(1000, self.secrets)
        self.unfinished_bytes = 0
        self._server = server
        self._pending = PendingAnswers(self.counters)
        self._inbox: Inbox | None = None
        self._failure: Failure | None = None
        self._loop = asyncio.get_running_loop()

    async def open(self, inbox: Inbox) -> None:
        await asyncio.sleep(0)
        self._inbox = inbox
        self._server.links.append(self)
        self._server.opened += 1

    async def exchange(self, call: Outgoing) -> Json:
        if self._failure is not None:
            error = LinkError(self._failure)
            error.breaks_link = True
            raise error
        future = self._pending.expect(call)
        message = wire.decode(call.body)
        given = (call.id, message["method"], message.get("params") or {})
        if self._server.pause_seconds == 0:
            self._loop.call_soon(self._arrive, *given)
        elif self._server.pause_seconds < math.inf:
            self._loop.call_later(self._server.pause_seconds, self._arrive, *given)
        return await self._pending.wait(call, future)

    def _arrive(self, request_id: int, method: str, params: Json) -> None:
        """Have the server answer now, and the answer arrive in a turn of its own."""
        if self._failure is None:
            self.say({"jsonrpc": "2.0", "id": request_id, **self._server.answer(method, params)})

    def say(self, message: Json) -> None:
        """Send a message, which arrives in a turn of its own."""
        self._loop.call_soon(self._deliver, message)

    def _deliver(self, message: Json) -> None:
        if self._failure is None and self._inbox is not None:
            self._pending.dispatch(message, self._inbox)

    def die(self) -> None:
        """Break, as a killed child's pipes do."""
        self._end(Failure("stream", "killed", "the process was ended by SIGKILL."))
        if self._inbox is not None:
            self._inbox.lost(self._failure)  # type: ignore[arg-type]

    async def send(self, body: bytes, *, version: str = "") -> None:
        await asyncio.sleep(0)

    def abandon(self, call: Outgoing, reason: str) -> None:
        pass

    def listen(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._end(Failure("close", "closed", "it was closed."))
        await asyncio.sleep(0)

    def _end(self, failure: Failure) -> None:
        if self in self._server.links:
            self._server.links.remove(self)
        if self._failure is None:
            self._failure = failure
            self._pending.fail_all(failure)


def reaching(servers: Mapping[str, InMemoryServer]) -> Any:
    """Return what stands in for `opening.candidates`: a record's command names the server that it reaches."""

    def candidates(kind: object, config: Mapping[str, Any], *rest: object) -> list[tuple[TransportType, MakeTransport]]:
        return [(TransportType.STDIO, servers[config["command"]].link)]

    return candidates
