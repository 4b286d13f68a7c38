"""Streams that a client holds open end with the key that opened them (A-02)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from naru.persons import nobody
from naru.records import ServerRecord
from tests.gateway.by_hand import META, request
from tests.team.conftest import declared, team

pytestmark = pytest.mark.slow


async def test_a02_who_listens_with_a_revoked_key_hears_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.web.gate.held.CHECKED_SECONDS", 0.0)
    async with team(tmp_path, servers=[declared("kept")]) as made:
        key, secret = made.hub.keys.create("user")
        listens = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}})
        sent: asyncio.Queue[Any] = asyncio.Queue()
        ended, coming = asyncio.Event(), [{"type": "http.request", "body": json.dumps(listens).encode()}]

        async def receive() -> Any:
            if coming:
                return coming.pop()
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            await sent.put(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                ended.set()

        headers = {
            "host": "127.0.0.1:20006",
            "x-api-key": secret,
            "content-type": "application/json",
            "accept": "text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen",
        }
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "server": ("127.0.0.1", 20006),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        listening = asyncio.ensure_future(made.app.asgi(scope, receive, send))
        async with asyncio.timeout(60):
            while b"acknowledged" not in (await sent.get()).get("body", b""):
                pass
            made.hub.keys.revoke(key.id)
            with nobody():
                await made.hub.manager.register(ServerRecord(name="new", config={"url": "http://127.0.0.1:9/"}))
            await listening
        assert [sent.get_nowait() for _ in range(sent.qsize())] == [{"type": "http.response.body", "body": b""}]
