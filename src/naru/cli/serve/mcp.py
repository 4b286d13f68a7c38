"""`naru serve` for MCP clients alone: the hub's servers over stdio, or one of Naru's own tool sets over anything."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from starlette.types import Receive, Scope, Send

from naru.cli.options import Transport
from naru.cli.serve.hub import keys_are_asked, tell
from naru.cli.serve.listening import address_of, listen, serve, tls_of
from naru.cli.terminal.output import print_note
from naru.cli.tool.sources import BUILTINS, builtin_toolset
from naru.config import Settings
from naru.errors import ConfigError
from naru.gateway.engine import Engine
from naru.gateway.faces.stdio import StdioFace, take_stdin, take_stdout
from naru.gateway.faces.table import http_faces
from naru.gateway.gateway import Gateway, settings_of
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.upstreams.own_tools import OwnTools, OwnUpstreams
from naru.hub import key_file, open_approvals, open_servers
from naru.stores.kept.spending import Spending
from naru.telemetry.audit import open_audit
from naru.tools.supervised import SupervisedToolset
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import Toolset
from naru.web.gate.access import KeyRing, RateLimiter
from naru.web.gate.admission import auth_is_on, who_may_come
from naru.web.gate.security import check_bind, guard
from naru.web.routes import Access, Endpoint


async def serve_servers_on_stdio(settings: Settings, settings_file: Path | None) -> None:
    """Serve all connected servers to the client on stdin and stdout, until it closes them."""
    out = take_stdout()
    async with open_servers(settings, settings_file=settings_file) as manager:
        await manager.started(5.0)
        gateway = Gateway(manager, settings_of(settings))
        try:
            await StdioFace(gateway.engine, _stdin(), out).serve()
        finally:
            await gateway.close()


async def serve_own_tools(name: str, settings: Settings, transport: Transport) -> None:
    """Serve one of Naru's own tool sets, under its tools' own names.

    Raises:
        ConfigError: there is no such tool set, or this configuration would serve an open port.
    """
    if name not in BUILTINS:
        raise ConfigError(f"There are no tools called {name!r}.", remedy=f"There are: {', '.join(BUILTINS)}.")
    await serve_toolset(builtin_toolset(name), name, settings, transport)


async def serve_toolset(
    tools: Toolset,
    name: str,
    settings: Settings,
    transport: Transport,
    announce: Callable[[int], None] = lambda _: None,
) -> None:
    """Serve a Toolset under its tools' own names, each call with a person's yes where one is needed, and audited.

    `announce` is told the port once it is bound; 0 over stdio, which has none.

    Raises:
        ConfigError: this configuration would serve an open port.
    """
    out = take_stdout() if transport is Transport.STDIO else None
    audit = open_audit(settings)
    keys_asked = transport is not Transport.STDIO and _asks_for_keys(settings)
    approvals = open_approvals(settings, asks_for_keys=keys_asked)
    toolset = SupervisedToolset(tools, name, Supervision(audit, approvals))
    await toolset.open()
    engine = Engine(
        OwnUpstreams(OwnTools(name, toolset, timeout_seconds=settings.agent.tool_timeout_seconds)),
        replace(GatewaySettings.alone(name), body_bytes=lambda: settings.server.max_body_bytes),
    )

    def began_to_ask() -> None:
        approvals.asks_for_destructive = settings.approvals.destructive != "allow"

    try:
        if out is not None:
            announce(0)
            await StdioFace(engine, _stdin(), out).serve()
        else:
            await _serve_http(engine, settings, name, transport, announce, began_to_ask)
    finally:
        await engine.close()
        await toolset.close()
        await audit.close()


def _stdin() -> BinaryIO:
    if os.isatty(0):
        print_note("Speaks MCP on stdin and stdout, for a client that starts it. For people and HTTP: naru serve")
    return take_stdin()


def _asks_for_keys(settings: Settings) -> bool:
    return auth_is_on(settings.server, were_made=key_file(settings).were_made())


async def _serve_http(
    engine: Engine,
    settings: Settings,
    name: str,
    transport: Transport,
    announce: Callable[[int], None],
    began_to_ask: Callable[[], None],
) -> None:
    check_bind(settings.server)
    tls = tls_of(settings.server)
    keys = key_file(settings)
    spending = Spending(settings.hub.data_dir / "spending.db")
    # Before a key is made: it may not come to that.
    with listen(settings.server.host, settings.server.port) as bound, contextlib.closing(spending):
        were_made = keys.were_made()
        keys_are_asked(settings, keys, were_made=were_made)
        rows = [Endpoint(face.path, face.methods, face.app, Access.USER, raw=True) for face in http_faces(engine)]
        limits = RateLimiter(settings.server.rate_limit_per_minute, spending)
        app = guard(_dispatch, rows, settings.server, keys=KeyRing(keys, roles=settings.server.roles), limits=limits)
        app.admission.began = began_to_ask
        announce(bound.getsockname()[1])
        place = "sse" if transport is Transport.SSE else "mcp"
        tell(settings, f"Naru serves {name} on {address_of(bound, settings.server)}/{place}")
        tell(settings, who_may_come(settings.server, were_made=were_made))
        await serve(app, bound, engine.end_streams, tls=tls)


async def _dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await scope["state"]["endpoint"].handler(scope, receive, send)
