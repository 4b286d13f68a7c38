"""All HTTP faces as one ASGI application: rows from each module, one gate before them, no middleware stack."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from naru.connections.changes import Change
from naru.errors import NaruError
from naru.gateway.gateway import Gateway, settings_of
from naru.hub import Hub
from naru.stores.files.watch import files_version, watch
from naru.stores.kept.spending import Spending
from naru.stores.secrets.file import secret_of
from naru.telemetry.figures import Figures
from naru.telemetry.recent import RecentLines, keeping_lines
from naru.telemetry.tracing import active
from naru.web import faces, hub_requests, mcp_faces, openapi
from naru.web.admin import approvals, keys, logs, overview, own_secrets, runs, sign_in
from naru.web.admin import servers as admin_servers
from naru.web.audited import Audited
from naru.web.console import pages as console
from naru.web.face.profiles import check_profiles
from naru.web.figures import health, metrics
from naru.web.figures.measured import measured
from naru.web.figures.traced import Traced
from naru.web.following import SettingsFollower, keys_are_asked
from naru.web.gate import proxy
from naru.web.gate.access import KeyRing, RateLimiter
from naru.web.gate.logins import Logins
from naru.web.gate.security import Gate, guard
from naru.web.hub_signals import exchange_signals
from naru.web.jsonrpc import host as jsonrpc
from naru.web.jsonrpc import servers as jsonrpc_servers
from naru.web.problems import ProblemResponse, in_the_apis_words, problem, problem_of
from naru.web.routes import Endpoint, Handler

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Keys:
    """What the key face needs."""

    key_ring: KeyRing
    spending: Spending
    may_start_programs: bool
    """Whether servers that start a program may be registered over HTTP (S-20)."""


@dataclass(frozen=True, slots=True)
class App:
    """The application, with what its server must tell."""

    asgi: ASGIApp
    endpoints: tuple[Endpoint, ...]
    gateway: Gateway
    hub: Hub

    def stopping(self) -> None:
        """End held streams: call it when a stop was asked for, before waiting for requests (R-29)."""
        self.gateway.end_streams()
        self.hub.manager.announce_stop()


@asynccontextmanager
async def open_app(hub: Hub) -> AsyncIterator[App]:
    """Build the application over an open hub; at the end its sessions are closed.

    Raises:
        ConfigError: this configuration would serve an open port (S-01), or names a client that nobody knows.
    """
    check_profiles(hub.settings.chat)
    with keeping_lines() as recent:
        async with _application(hub, recent) as app:
            yield app


@asynccontextmanager
async def _application(hub: Hub, recent: RecentLines) -> AsyncIterator[App]:
    oauth = hub.settings.server.oauth
    # Signatures take 0.1 s to import, so only where tokens are taken.
    access_tokens = importlib.import_module("naru.web.gate.access_tokens") if oauth.issuer else None
    tokens = access_tokens.AccessTokens(oauth, hub.settings.server.roles) if access_tokens else None
    persons = importlib.import_module("naru.web.oidc.rows") if oauth.client_id else None
    commons, folder = hub.commons, hub.settings.hub.data_dir
    logins = Logins(folder / "logins.json" if commons.me else None)
    ring = KeyRing(hub.keys, tokens, hub.settings.server.roles, logins=logins)
    seal_key = secret_of(folder / "seal.key") if commons.me else None
    gateway = Gateway(hub.manager, settings_of(hub.settings, seal_key=seal_key), commons=commons)
    server = hub.settings.server
    limiter = RateLimiter(server.rate_limit_per_minute, hub.spending)
    audited = Audited(hub.audit, limiter)
    rows = [
        *_rows_of(hub, recent),
        *(access_tokens.endpoints(tokens) if access_tokens else ()),
        *(persons.endpoints(hub, ring, tokens, audited.refused) if persons else ()),
        *mcp_faces.endpoints(gateway),
        *keys.endpoints(Keys(ring, hub.spending, hub.settings.mcp.security.allow_remote_exec)),
    ]
    rows += openapi.endpoints(lambda: rows)
    served = [_served(row, audited, hub.figures) for row in rows]
    asgi = guard(dispatch, served, server, keys=ring, limits=limiter, refused=audited.refused)
    asgi.admission.began = partial(keys_are_asked, hub)

    watching = await _watching(hub, asgi, limiter)
    try:
        async with contextlib.AsyncExitStack() as stack:
            if tokens is not None:
                await stack.enter_async_context(tokens)
            if gateway.owners is not None:
                await stack.enter_async_context(exchange_signals(hub, asgi.admission, limiter, gateway.owners))
            yield App(asgi, tuple(rows), gateway, hub)
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*(close() for close in {row.close for row in rows} if close is not None))
        gateway.end_streams()
        await gateway.close()


def _rows_of(hub: Hub, recent: RecentLines) -> list[Endpoint]:
    """Return the rows that need nothing but the hub."""
    return [
        *metrics.endpoints(hub),
        *health.endpoints(hub),
        *proxy.endpoints(hub.settings.server),
        *console.endpoints(hub),
        *faces.endpoints(hub),
        *jsonrpc.endpoints(hub),
        *runs.endpoints(hub),
        *overview.endpoints(hub),
        *logs.endpoints(hub, recent),
        *jsonrpc_servers.endpoints(hub),
        *admin_servers.endpoints(hub),
        *sign_in.endpoints(hub),
        *own_secrets.endpoints(hub),
        *hub_requests.endpoints(hub),
        *(approvals.endpoints(hub.approvals) if hub.approvals is not None else ()),
    ]


async def _watching(hub: Hub, asgi: Gate, limiter: RateLimiter) -> list[asyncio.Task[None]]:
    """Follow the files by which other processes change what this hub holds."""

    async def look() -> None:
        asgi.admission.look()
        await tell("keys")

    async def tell(what: str) -> None:
        hub.manager.announce(Change("", what))

    async def approved() -> None:
        hub.manager.look_again()

    watching = [
        await _watched(hub.keys.path, look),
        await _watched(hub.settings.hub.data_dir / "pins.json", approved),  # whoever is busy may miss a notice of it
    ]
    if hub.tables is None:
        watching.append(await _watched(hub.settings.hub.data_dir / "runs.db", partial(tell, "runs")))
    else:
        _tell_of_runs(hub)
    if hub.followed is not None:
        follow = SettingsFollower(hub, asgi, limiter)
        version = partial(files_version, [follow.path])
        following = watch(version, follow.look, seen=None)  # a first look: the hub opened from what it was before
        watching.append(asyncio.create_task(following, name="watch settings"))
    if hub.approvals is not None and (room := hub.approvals.room) is not None:
        watching.append(await _watched(room, partial(tell, "approvals")))  # calls that other processes hold
    return watching


def _tell_of_runs(hub: Hub) -> None:
    """Say when a run is kept in tables that several hubs share: there is no file to watch, so each tells the others."""

    def kept() -> None:
        hub.manager.announce(Change("", "runs"))

    def kept_here() -> None:
        kept()
        hub.commons.tell("runs", None)

    hub.runs.saved = kept_here
    hub.commons.hear("runs", lambda _: kept())


async def _watched(path: Path, act: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
    version = partial(files_version, [path])
    return asyncio.create_task(watch(version, act, seen=await version()), name=f"watch {path.name}")


def _served(row: Endpoint, audited: Audited, figures: Figures) -> Endpoint:
    """Return a row with all that goes round its application: said once, so that no request asks for it."""
    row = as_asgi(row)
    app = cast("ASGIApp", row.handler)
    if active():
        app = Traced(app)
    return replace(row, handler=audited.around(row, measured(row, app, figures)))


def as_asgi(row: Endpoint) -> Endpoint:
    """Return a row whose handler is an ASGI application."""
    return row if row.raw else replace(row, handler=partial(_respond, cast("Handler", row.handler)), raw=True)


def dispatch(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
    """Hand a request to the row that the gate has matched, which is an ASGI application."""
    if scope["type"] != "http":
        return asyncio.sleep(0)
    endpoint: Endpoint = scope["state"]["endpoint"]
    return cast("ASGIApp", endpoint.handler)(scope, receive, send)


async def _respond(handler: Handler, scope: Scope, receive: Receive, send: Send) -> None:
    """Send what a handler returns; an error that nobody caught becomes a problem document."""
    response: Response
    try:
        response = await handler(Request(scope, receive, send))
    except NaruError as error:
        response = problem_of(error)
    except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes an answer and a traceback in the log
        logger.exception("request failed: %s %s", scope["method"], scope["path"])
        response = problem(500, "Naru failed on this request; its log says more.", code="internal_error")
    if isinstance(response, ProblemResponse):
        response = in_the_apis_words(scope["path"], response)
    await response(scope, receive, send)
