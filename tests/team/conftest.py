"""A hub with two servers and two models, and clients with keys of it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest, JsonObject
from naru.models.router import Route, Router
from naru.models.scripted import ScriptedBackend
from naru.persons import Bounds
from naru.web.app import App, open_app
from tests.waiting import until

NOTED = Path(__file__).with_name("noted_server.py")
BASE_URL = "http://127.0.0.1:20006"
MODERN = "2026-07-28"


@dataclass
class Team:
    """The hub, its application, and keys for it."""

    hub: Hub
    app: App

    def key(self, role: str = "user", **bounds: Any) -> str:
        """Make a key with these limits; return its secret."""
        return self.hub.keys.create(role, bounds=Bounds(**bounds))[1]

    def client(self, key: str, **headers: str) -> httpx.AsyncClient:
        """Return a client that comes with a key."""
        transport = httpx.ASGITransport(self.app.asgi)
        given = {"Authorization": f"Bearer {key}", **headers}
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=given, timeout=120)


def declared(name: str, **config: Any) -> JsonObject:
    """Return a server's entry in the settings."""
    return {"name": name, "command": sys.executable, "args": [str(NOTED), name], **config}


def models(answer: Any = None) -> Router:
    """Return two endpoints with a model each; both say their model's name."""

    def say(request: ChatRequest) -> Any:
        return answer(request) if answer is not None else f"I am {request.model}."

    return Router(
        [Route(one, ScriptedBackend(say, model=one), patterns=(one,)) for one in ("alpha", "omega")],
        {"quick": "omega"},
    )


@asynccontextmanager
async def team(
    folder: Path, *, servers: Sequence[JsonObject] = (), answer: Any = None, waits: bool = True, **settings: Any
) -> AsyncIterator[Team]:
    """Open a hub over `kept` and `zebra`, or the given servers, and wait for them."""
    given = list(servers) or [declared("kept"), declared("zebra")]
    made = Settings.model_validate(
        {
            **settings,
            "hub": {"data_dir": folder, "store": "memory:"},
            "mcp": {"servers": given, **settings.get("mcp", {})},
            "server": {"auth": "on", "rate_limit_per_minute": 0, **settings.get("server", {})},
            "approvals": {"destructive": "allow", **settings.get("approvals", {})},
        }
    )
    async with open_hub(made, backend=models(answer), asks_for_keys=True) as hub, open_app(hub) as app:
        await hub.manager.started(60)
        if waits:
            await until(lambda: all(one.is_live for one in hub.manager.connections.values()))
        yield Team(hub, app)


async def call_mcp(
    asking: httpx.AsyncClient, method: str, params: Any = None, path: str = "/mcp", *, can: JsonObject | None = None
) -> JsonObject:
    """Send one request of the stateless era, of a client with these capabilities; return the whole answer."""
    params = dict(params or {})
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": can or {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        **({"Mcp-Name": params.get("name") or params.get("uri")} if {"name", "uri"} & params.keys() else {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    answer = await asking.post(path, json=body, headers=headers)
    text = answer.text
    if "text/event-stream" in answer.headers.get("content-type", ""):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    found: JsonObject = json.loads(text) if text else {"status": answer.status_code}
    return found
