"""Changes and refusals over HTTP in the audit log (S-61)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.messages import JsonObject
from naru.models.scripted import ScriptedBackend
from naru.telemetry.audit_file import read_entries, verify
from naru.web.app import App, open_app

BASE_URL = "http://127.0.0.1:20006"
SERVER = {"name": "docs", "transportType": "HTTP", "autoConnect": False}
CONFIG = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer canary-of-a-header"}}


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[tuple[Hub, App]]:
    made = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}, **settings})
    async with open_hub(made, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        yield hub, app


async def ask(app: App, method: str, path: str, *, key: str = "", body: object = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    transport = httpx.ASGITransport(app.asgi)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=headers, timeout=60) as client:
        return await client.request(method, path, json=body)


def entries(folder: Path) -> list[JsonObject]:
    return list(read_entries(folder / "audit.jsonl"))


async def test_a_change_is_written_down_before_it_is_made_and_with_its_outcome(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, app):
        _, secret = hub.keys.create("admin", owner="Kim")
        made = await ask(app, "POST", "/api/mcp/servers", key=secret, body={**SERVER, "config": CONFIG})
        gone = await ask(app, "DELETE", "/api/mcp/servers/docs", key=secret)
        read = await ask(app, "GET", "/api/mcp/servers", key=secret)
        who = hub.keys.list()[0].id
    assert (made.status_code, gone.status_code, read.status_code) == (201, 204, 200)
    found = [(one["what"], one["who"], one["method"], one.get("status")) for one in entries(tmp_path)]
    assert found == [
        ("admin.asked", who, "POST", None),
        ("admin.done", who, "POST", 201),
        ("admin.asked", who, "DELETE", None),
        ("admin.done", who, "DELETE", 204),
    ]
    assert entries(tmp_path)[1]["server"] == "docs"
    assert "canary-of-a-header" not in (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert verify(tmp_path / "audit.jsonl").holds


async def test_a_secret_and_a_sign_in_are_written_down_too_whoever_may_store_them(tmp_path: Path) -> None:
    """A secret of a shared server's is everybody's."""
    async with opened(tmp_path) as (_, app):
        await ask(app, "POST", "/api/mcp/servers", body={**SERVER, "config": CONFIG})
        stored = await ask(app, "PUT", "/api/mcp/servers/docs/secrets/TOKEN", body={"value": "canary-of-a-secret"})
        signed_out = await ask(app, "DELETE", "/api/mcp/servers/docs/sign-in")
    assert (stored.status_code, signed_out.status_code) == (204, 404)
    found = [(one["what"], one["path"].removeprefix("/api/mcp/servers/docs/")) for one in entries(tmp_path)[2:]]
    secret, sign_in = "secrets/TOKEN", "sign-in"
    assert found == [(what, path) for path in (secret, sign_in) for what in ("admin.asked", "admin.done")]
    assert entries(tmp_path)[3]["secret"] == "TOKEN"
    assert "canary-of-a-secret" not in (tmp_path / "audit.jsonl").read_text(encoding="utf-8")


async def test_a_made_key_is_named_by_its_id_never_by_its_secret(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, app):
        answer = await ask(app, "POST", "/api/keys", body={"role": "user", "owner": "Lee"})
    done = entries(tmp_path)[-1]
    assert (done["key"], done["role"], done["owner"]) == (answer.json()["id"], "user", "Lee")
    assert answer.json()["key"] not in (tmp_path / "audit.jsonl").read_text(encoding="utf-8")


async def test_wrong_keys_and_keys_that_may_not_are_written_down(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, app):
        _, secret = hub.keys.create("read")
        await ask(app, "GET", "/api/mcp/servers", key="naru_" + "x" * 40)
        await ask(app, "POST", "/api/keys", key=secret, body={"role": "admin"})
        who = hub.keys.list()[0].id
    wrong, forbidden = entries(tmp_path)
    assert (wrong["what"], wrong["path"]) == ("refused.wrong_key", "/api/mcp/servers")
    assert (forbidden["what"], forbidden["who"], forbidden["path"]) == ("refused.forbidden", who, "/api/keys")


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/api/keys?token=x", {}), ("/api/keys", {"X-API-Key": "a", "Authorization": "Bearer b"})],
    ids=["in-the-url", "several"],
)
async def test_nobody_writes_the_log_full_without_a_key(tmp_path: Path, path: str, headers: dict[str, str]) -> None:
    async with opened(tmp_path) as (hub, app):
        hub.keys.create("admin")
        given = {"transport": httpx.ASGITransport(app.asgi), "base_url": BASE_URL, "headers": headers}
        async with httpx.AsyncClient(**given) as client:
            for _ in range(20):
                assert (await client.get(path)).status_code == 400
    assert len(entries(tmp_path)) == 5


async def test_nothing_is_changed_unseen_when_the_log_cannot_be_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, app):
        (tmp_path / "audit.jsonl").mkdir()  # what cannot be appended to
        answer = await ask(app, "POST", "/api/mcp/servers", body={**SERVER, "config": CONFIG})
        assert answer.status_code == 507
        assert answer.json()["code"] == "store_error"
        assert await hub.manager.find_server("docs") is None
