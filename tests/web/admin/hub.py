"""A manager behind the gate, with policy, pins and keys: what the admin API's tests talk to."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2 as httpx
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from naru.config import Settings
from naru.connections.manager import Manager
from naru.connections.rules.pins import PinBook
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.errors import NaruError
from naru.stores.base import Store
from naru.stores.kept.spending import Spending
from naru.stores.memory import MemoryStore
from naru.stores.secrets.keys import KeyFile
from naru.web import openapi
from naru.web.admin import keys as admin_keys
from naru.web.admin import servers as admin_servers
from naru.web.gate.access import KeyRing, RateLimiter
from naru.web.gate.security import guard
from naru.web.jsonrpc import servers as rpc_servers
from naru.web.problems import problem_of
from naru.web.routes import Endpoint
from tests.connections.conftest import LATER

BASE_URL = "http://127.0.0.1:20006"


@dataclass
class AdminHub:
    """What the admin faces need of the hub."""

    settings: Settings
    manager: Manager
    key_ring: KeyRing
    spending: Spending
    may_start_programs: bool = False

    def client(self, key: str = "", **headers: str) -> httpx.AsyncClient:
        """Return a client that speaks to the application in process."""
        given = {"Authorization": f"Bearer {key}"} if key else {}
        transport = httpx.ASGITransport(application(self))
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers={**given, **headers}, timeout=60)


def rows(hub: AdminHub) -> list[Endpoint]:
    faces = [*admin_servers.endpoints(hub), *rpc_servers.endpoints(hub), *admin_keys.endpoints(hub)]
    return [*faces, *openapi.endpoints(lambda: faces)]


def application(hub: AdminHub) -> ASGIApp:
    limiter = RateLimiter(hub.settings.server.rate_limit_per_minute)
    return guard(dispatch, rows(hub), hub.settings.server, keys=hub.key_ring, limits=limiter)


async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    endpoint: Endpoint = scope["state"]["endpoint"]
    if endpoint.raw:
        await endpoint.handler(scope, receive, send)  # type: ignore[call-arg, arg-type, misc]
        return
    try:
        response = await endpoint.handler(Request(scope, receive, send))  # type: ignore[call-arg, misc]
    except NaruError as error:
        response = problem_of(error)
    await response(scope, receive, send)


@contextlib.asynccontextmanager
async def admin_hub(folder: Path, store: Store | None = None, **settings: object) -> AsyncIterator[AdminHub]:
    made = Settings.model_validate({"hub": {"data_dir": folder}, **settings})
    kept = store or MemoryStore()
    await kept.open()
    pins = PinBook(folder / "pins.json")
    pins.load()
    policy = PolicyGuard(Policy(made.mcp.security), pins, quarantines=made.mcp.security.quarantine == "on")
    calm = replace(LATER, refresh_interval_seconds=0.05)
    manager = Manager(kept, settings=calm, guard=policy)
    hub = AdminHub(made, manager, KeyRing(KeyFile(folder / "keys.json")), Spending(folder / "spending.db"))
    try:
        yield hub
    finally:
        await manager.close()
        await kept.close()
