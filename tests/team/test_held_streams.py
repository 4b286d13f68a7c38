"""Streams that a client holds open end with the key that opened them (A-02)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from naru.persons import nobody
from naru.records import ServerRecord
from tests.gateway.by_hand import META, request
from tests.team.conftest import declared, team
from tests.web.held_request import HeldRequest

pytestmark = pytest.mark.slow


async def test_a02_who_listens_with_a_revoked_key_hears_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.web.gate.held.CHECKED_SECONDS", 0.0)
    async with team(tmp_path, servers=[declared("kept")]) as made:
        key, secret = made.hub.keys.create("user")
        listens = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}})
        listening = HeldRequest(
            "/mcp",
            body=json.dumps(listens).encode(),
            headers={
                "x-api-key": secret,
                "content-type": "application/json",
                "accept": "text/event-stream",
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "subscriptions/listen",
            },
        )
        task = asyncio.ensure_future(listening(made.app.asgi))
        await listening.hears(b"acknowledged")
        made.hub.keys.revoke(key.id)
        with nobody():
            await made.hub.manager.register(ServerRecord(name="new", config={"url": "http://127.0.0.1:9/"}))
        await asyncio.wait_for(task, 60)
        assert listening.rest() == [{"type": "http.response.body", "body": b""}]
