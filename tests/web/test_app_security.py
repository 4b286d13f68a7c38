"""The gate over the product's whole route table: S-02, S-03, S-34, h05, h06, f21."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord
from naru.stores.secrets.redact import REDACTOR, RedactingFilter
from naru.web.app import App, open_app
from naru.web.console.pages import FILES
from naru.web.routes import Access

BASE_URL = "http://127.0.0.1:20006"
BACK = "/oauth/callback"
"""A person's browser comes back to it from an authorization server; it takes what that browser began (issue 21)."""
PUBLIC = {"/healthz", "/readyz", "/", BACK} | {f"/console/{name}" for name in FILES}  # the files of the login page


@asynccontextmanager
async def opened(folder: Path, **server: object) -> AsyncIterator[tuple[Hub, App]]:
    settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}, "server": server})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        yield hub, app


def client(app: App, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app.asgi), base_url=BASE_URL, headers=headers, timeout=120)


def rows(app: App) -> list[tuple[str, str, Access]]:
    found = []
    for row in app.endpoints:
        path = row.path.replace("{name}", "x").replace("{id}", "x")
        while "{" in path:
            path = path[: path.index("{")] + "x" + path[path.index("}") + 1 :]
        found += [(method, path, row.access) for method in row.methods]
    return found


async def test_s03_h05_only_health_is_open_on_the_whole_table(tmp_path: Path) -> None:
    async with opened(tmp_path, auth="on") as (_, app):
        assert {row.path for row in app.endpoints if row.access is Access.PUBLIC} <= PUBLIC
        table = rows(app)
        assert len(table) > 30
        for method, path, access in table:
            if access is Access.PUBLIC:
                continue
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}):
                async with client(app, **headers) as asking:
                    answer = await asking.request(method, path, json={} if method != "GET" else None)
                assert answer.status_code in (401, 429), (method, path)
                if answer.status_code == 401:
                    assert answer.headers["www-authenticate"].startswith("Bearer")
        async with client(app) as asking:
            health = await asking.get("/healthz")
            ready = await asking.get("/readyz")
        assert health.status_code == 200
        assert "naru" not in health.text.lower()
        assert (ready.status_code, set(ready.json())) == (200, {"status"}), "what is not ready needs a key"


async def test_s02_h06_no_face_answers_a_foreign_host_or_page(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, app), client(app) as asking:
        for method, path, _ in rows(app):
            body = {} if method != "GET" else None
            for headers, status in (
                ({"Host": "evil.example.net"}, 421),
                ({"Host": "localhost:evil.com"}, 421),
                ({"Origin": "http://evil.example.net"}, 403),
                ({"Origin": "null"}, 403),
                ({"Origin": "http://localhost:3000"}, 403),
            ):
                answer = await asking.request(method, path, json=body, headers=headers)
                assert answer.status_code == status, (method, path, headers)
                assert "access-control-allow-origin" not in answer.headers
            if method == "POST":
                plain = await asking.post(path, content=b"{}", headers={"Content-Type": "text/plain"})
                assert plain.status_code == 415, path


async def test_every_face_takes_a_trailing_slash_without_redirect(tmp_path: Path) -> None:
    """a17"""
    async with opened(tmp_path) as (_, app), client(app) as asking:
        for path in ("/mcp", "/v1/models", "/api/mcp/servers", "/mcp/list"):
            for method in ("DELETE", "OPTIONS", "GET"):
                if path == "/mcp" and method == "GET":
                    continue  # a stream that stays open
                plain = await asking.request(method, path)
                slashed = await asking.request(method, path + "/")
                assert plain.status_code == slashed.status_code, (method, path)
                assert plain.status_code not in (307, 308, 404) or path == "/mcp"


async def test_s34_f21_h13_no_secret_reaches_a_log_line_or_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = RedactingFilter(REDACTOR)
    caplog.handler.addFilter(chosen)
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NARU_TEST_SECRET", "SENTINEL1-environment")
    config = {
        "url": "http://user:SENTINEL5-user@127.0.0.1:9/mcp?api_key=SENTINEL4-query",
        "headers": {
            "Authorization": "Bearer SENTINEL2-bearer",
            "X-Api-Key": "SENTINEL3-key",
            "X-E": "${NARU_TEST_SECRET}",
        },
    }
    paths = ("/api/mcp/servers", "/api/mcp/servers/s", "/api/mcp/servers/s/logs", "/mcp/list", "/readyz")
    answers: list[httpx.Response] = []
    try:
        async with opened(tmp_path, auth="on", rate_limit_per_minute=0) as (hub, app):
            key, secret = hub.keys.create("admin")
            async with client(app, Authorization="Bearer sess_SENTINEL9-wrong") as asking:
                answers.append(await asking.get("/api/mcp/servers"))
            async with client(app, Authorization=f"Bearer {secret}") as asking:
                answers.append(await asking.post("/api/mcp/servers", json={"name": "s", "config": config}))
                answers += [await asking.get(path) for path in paths]
                answers.append(await asking.post("/api/mcp/servers/s/connect"))
            with pytest.raises(Exception, match="s") as failed:
                await hub.manager.call_tool("s", "x", {})
            logging.getLogger("naru.test").debug("sending with %s and %s", config, secret)
    finally:
        caplog.handler.removeFilter(chosen)
    assert answers[1].status_code == 201
    shown = caplog.text + str(failed.value) + "".join(answer.text for answer in answers)
    assert "SENTINEL" not in shown
    assert secret not in shown
    assert key.id not in secret
    for kept in tmp_path.rglob("*"):
        if kept.is_file():
            assert secret.encode() not in kept.read_bytes()
            assert kept.stat().st_mode & 0o077 == 0, kept


async def test_s30_what_comes_in_is_never_sent_to_a_server(tmp_path: Path) -> None:
    """Inbound credentials stay here; each upstream sees its own headers only."""
    from tests.connections.conftest import free_port  # the recorder below needs a port of its own
    from tests.web.recorder import Recorder

    async with Recorder(free_port()) as one, Recorder(free_port()) as two:
        async with opened(tmp_path, auth="on", rate_limit_per_minute=0) as (hub, app):
            _, secret = hub.keys.create("admin")
            for name, recorder in (("one", one), ("two", two)):
                headers = {"Authorization": f"Bearer canary-{name}"}
                config = {"url": f"http://127.0.0.1:{recorder.port}/mcp", "headers": headers}
                await hub.manager.register(ServerRecord(name=name, transport_type="HTTP", config=config))
            given = {"Authorization": f"Bearer {secret}", "X-Other": "inbound-canary"}
            async with client(app, **given, Cookie="session=inbound-canary") as asking:
                for name in ("one", "two"):
                    await asking.post(f"/api/mcp/servers/{name}/connect")
        for name, other, recorder in (("one", "two", one), ("two", "one", two)):
            assert recorder.seen
            text = str(recorder.seen)
            assert f"canary-{name}" in text
            assert f"canary-{other}" not in text
            assert secret not in text
            assert "inbound-canary" not in text


async def test_h03_no_request_of_a_client_starts_a_program(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = {"command": "sh", "args": ["-c", f"touch {marker}"]}
    async with opened(tmp_path, auth="on", rate_limit_per_minute=0) as (hub, app):
        _, secret = hub.keys.create("user")
        async with client(app, Authorization=f"Bearer {secret}") as asking:
            chat = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
            rpc = {"jsonrpc": "2.0", "method": "generate_content", "id": 1}
            for given in ({"mcp": program}, {"mcp_servers": [program]}, {"mcpServers": {"x": program}}):
                await asking.post("/v1/chat/completions", json={**chat, **given})
                await asking.post("/generate_with_mcp", json={**rpc, "params": {**chat, **given}, **given})
            for method, path in (("POST", "/api/mcp/servers"), ("PUT", "/api/mcp/servers/x"), ("POST", "/mcp/add")):
                answer = await asking.request(method, path, json={"name": "x", "url": "http://h/", "config": program})
                assert answer.status_code == 403
        assert dict(hub.manager.connections) == {}
    assert not marker.exists()


@pytest.mark.slow
def test_s01_h01_serve_beyond_loopback_without_keys_ends_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "NARU_SERVER__AUTH": "off", "NARU_HUB__DATA_DIR": str(tmp_path)}  # noqa: TID251
    done = subprocess.run(
        [sys.executable, "-m", "naru.cli.main", "serve", "--host", "0.0.0.0", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 2
    assert "reachable from other machines" in done.stderr
    assert "Traceback" not in done.stderr
