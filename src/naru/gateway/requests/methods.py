"""The methods of both eras: a table each, and the handlers that need no server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from naru.errors import NaruError
from naru.gateway.requests import calls
from naru.gateway.requests.core import Core
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.subscriptions import MAX_URIS
from naru.gateway.upstreams.upstream import ListKind, Upstream
from naru.gateway.view import FRESHNESS, View
from naru.gateway.wire.protocol import (
    INVALID_PARAMS,
    LOG_LEVELS,
    META_SERVER,
    MODERN_VERSIONS,
    OVERLOADED,
    TASKS_EXTENSION,
    RpcError,
    negotiate,
)
from naru.messages import JsonObject

logger = logging.getLogger(__name__)
Handler = Callable[[Core, Exchange, JsonObject], Awaitable[Any]]


async def initialize(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer the handshake of a legacy client."""
    session = exchange.session
    assert session is not None
    if session.version:
        raise RpcError(-32600, "The session is initialized already.")
    capabilities, client = params.get("capabilities"), params.get("clientInfo")
    view = await core.catalog.view(session.view, ())
    if session.version:
        raise RpcError(-32600, "The session is initialized already.")
    session.version = negotiate(params.get("protocolVersion"))
    session.capabilities = capabilities if isinstance(capabilities, dict) else {}
    session.client = client if isinstance(client, dict) else {}
    result: JsonObject = {
        "protocolVersion": session.version,
        "capabilities": _capabilities(core, view, modern=False),
        "serverInfo": core.server_info,
    }
    if instructions := _instructions(view):
        result["instructions"] = instructions
    return result


async def discover(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer server/discover."""
    view = await core.catalog.view(exchange.view)
    result: JsonObject = {
        "resultType": "complete",
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": _capabilities(core, view, modern=True),
        **FRESHNESS,
        "_meta": {META_SERVER: core.server_info},
    }
    if instructions := _instructions(view):
        result["instructions"] = instructions
    return result


def _capabilities(core: Core, view: View, *, modern: bool) -> JsonObject:
    """Return what the face can do: fixed for what it itself does, so that it is true also for later servers."""
    offered = {**core.settings.offered}
    extensions: JsonObject = {}
    for upstream in view.upstreams.values():
        declared = upstream.capabilities.get("extensions")
        if isinstance(declared, dict):
            extensions.update(declared)
    if not modern:
        extensions.pop(TASKS_EXTENSION, None)
    if extensions:
        offered["extensions"] = extensions
    return offered


def _instructions(view: View) -> str:
    texts = {name: upstream.instructions for name, upstream in view.upstreams.items() if upstream.instructions}
    if len(view.upstreams) == 1:
        return "".join(texts.values())
    return "\n\n".join(f"# {name}\n{text}" for name, text in texts.items())


async def ping(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer ping, for the face itself."""
    return {}


def _lister(kind: ListKind) -> Handler:
    async def list_items(core: Core, exchange: Exchange, params: JsonObject) -> orjson.Fragment:
        view = await core.catalog.view(exchange.view, (kind,), to_list=True)
        if kind == "tools" and core.meta_tools is not None and view.tool_list is None:
            view.tool_list = core.meta_tools.definitions
        return view.page(kind, params.get("cursor"), modern=exchange.modern)

    return list_items


async def set_level(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer logging/setLevel: kept per session; servers are asked for the most that any session wants."""
    level = params.get("level")
    if level not in LOG_LEVELS:
        raise RpcError(INVALID_PARAMS, f"Unknown log level; one of {', '.join(LOG_LEVELS)}.")
    session = exchange.session
    assert session is not None
    session.log_level = level
    wanted = {other.log_level for other in core.sessions.values() if other.log_level} | {level}
    least = min(wanted, key=LOG_LEVELS.index)
    if not exchange.view:
        core.upstreams.log_level = least
    view = await core.catalog.view(exchange.view, ())
    await asyncio.gather(*(_set_level(upstream, least) for upstream in view.upstreams.values()))
    return {}


async def _set_level(upstream: Upstream, level: str) -> None:
    """Ask one server; what it says costs a client nothing, who gets from it what it sends."""
    try:
        await upstream.set_log_level(level)
    except (NaruError, RpcError) as error:
        logger.info("server %s did not take the log level %s: %s", upstream.name, level, error)


async def subscribe(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer resources/subscribe."""
    session, uri = exchange.session, params.get("uri")
    assert session is not None
    view = await core.catalog.view(exchange.view, calls.RESOURCES)
    route = view.resource(uri) if isinstance(uri, str) else None
    if route is None:
        raise calls.not_found(exchange, uri)
    key = route.watched
    if key in (session.subscriptions or ()):
        return {}
    if len(session.subscriptions or ()) >= MAX_URIS:
        raise RpcError(OVERLOADED, f"A session watches at most {MAX_URIS} resources. Unsubscribe from some first.")
    session.subscriptions = {**(session.subscriptions or {}), key: ""}  # before the wait: it counts once
    try:
        await core.subscriptions.want(route.upstream, route.name)
    except BaseException:
        session.unsubscribed(key)
        raise
    if session.subscriptions is None or key not in session.subscriptions:  # given up meanwhile
        await core.subscriptions.drop(route.upstream, key)
    else:
        session.subscriptions[key] = str(uri)
    return {}


async def unsubscribe(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer resources/unsubscribe; the server need not be there, nor be reached as it was."""
    session, uri = exchange.session, params.get("uri")
    assert session is not None
    key = next((key for key, asked in (session.subscriptions or {}).items() if asked and asked == uri), None)
    if key is None:
        view = await core.catalog.view(exchange.view, calls.RESOURCES)
        route = view.resource(uri) if isinstance(uri, str) else None
        key = route.watched if route is not None else None
    if key is not None and session.unsubscribed(key):
        await core.subscriptions.drop(core.upstreams.of(*key[:2]), key)
    return {}


def _task_handler(method: str) -> Handler:
    async def handle(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
        return await calls.handle_task(core, exchange, method, params)

    return handle


BOTH: dict[str, Handler] = {
    "tools/list": _lister("tools"),
    "tools/call": calls.call_tool,
    "prompts/list": _lister("prompts"),
    "prompts/get": calls.get_prompt,
    "resources/list": _lister("resources"),
    "resources/templates/list": _lister("templates"),
    "resources/read": calls.read_resource,
    "completion/complete": calls.complete,
}
LEGACY: dict[str, Handler] = {
    **BOTH,
    "initialize": initialize,
    "ping": ping,
    "logging/setLevel": set_level,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
}
MODERN: dict[str, Handler] = {
    **BOTH,
    "server/discover": discover,
    **{method: _task_handler(method) for method in ("tasks/get", "tasks/update", "tasks/cancel")},
}
