"""A hub in memory and a served application, for the tests of the faces."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from naru.agent.hooks import BeforeModel, Hooks
from naru.agent.limits import Limits
from naru.agent.trace import Journal
from naru.config import Settings
from naru.connections.guests import Guest
from naru.errors import NaruError, NotFoundError, UnknownToolError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.models.backend import Backend
from naru.stores.shared.commons import ALONE, Commons
from naru.tools.toolset import CallContext, Toolset
from naru.web import faces
from naru.web.gate.security import guard
from naru.web.one_write import OneWriteProtocol
from naru.web.problems import problem_of


@dataclass
class EchoTools:
    """Two tools that answer at once, and remember how they were called."""

    called: list[tuple[str, JsonObject]] = field(default_factory=list)
    delay_seconds: float = 0.0
    description: str = "Say it again."
    cancelled: int = 0

    async def open(self) -> None: ...

    async def tools(self) -> Sequence[ToolDefinition]:
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return (ToolDefinition("hub__echo", self.description, schema, server="hub"),)

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        if name != "hub__echo":
            raise UnknownToolError(f"There is no tool {name}.")
        self.called.append((name, arguments))
        try:
            await asyncio.sleep(self.delay_seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolResult.of_text(f"echo: {arguments.get('text')}")

    async def close(self) -> None: ...


@dataclass
class MemoryHub:
    """What the chat face needs of a hub."""

    backend: Backend
    toolset: EchoTools = field(default_factory=EchoTools)
    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    journal: Journal | None = None
    before_model: Sequence[BeforeModel] = ()
    tables: None = None
    commons: Commons = ALONE

    @property
    def hooks(self) -> Hooks:
        return Hooks(before_model=self.before_model, journal=self.journal)

    def tools(self, servers: Sequence[str] | None) -> Toolset:
        for name in servers or ():
            if name != "hub":
                raise NotFoundError(f"There is no MCP server {name!r}.")
        return self.toolset

    @contextlib.asynccontextmanager
    async def with_guests(self, servers: Sequence[str] | None, guests: Sequence[Guest]) -> AsyncIterator[Toolset]:
        yield self.tools(servers)


async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand a request to its row, as the product does."""
    endpoint = scope["state"]["endpoint"]
    if endpoint.raw:
        await endpoint.handler(scope, receive, send)
        return
    try:
        response = await endpoint.handler(Request(scope, receive, send))
    except NaruError as error:
        response = problem_of(error)
    await response(scope, receive, send)


def application(hub: MemoryHub) -> ASGIApp:
    """Mount the chat face's rows behind the product's own gate and dispatcher."""
    settings = hub.settings.server.model_copy(update={"allowed_hosts": ["127.0.0.1:*"]})
    return guard(dispatch, faces.endpoints(hub), settings)


@contextlib.asynccontextmanager
async def served(app: object, http: Any = OneWriteProtocol) -> AsyncIterator[str]:
    """Serve an ASGI application on a free port with our protocol, or one of uvicorn's; gives its base URL."""
    config = uvicorn.Config(app, http=http, log_config=None, log_level="error", lifespan="off")  # type: ignore[arg-type]
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: config.http_protocol_class(config=config, server_state=state, app_state={}),  # type: ignore[call-arg]
        "127.0.0.1",
        0,
    )
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for connection in list(state.connections):
            connection.shutdown()
        if state.tasks:
            await asyncio.wait(state.tasks, timeout=30)


@pytest.fixture
def serve() -> Callable[[object], contextlib.AbstractAsyncContextManager[str]]:
    return served
