"""Keys, roles and limits over the real route table: S-03, S-04, S-19, A-02, A-03, h01, h05."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from naru.web.gate import logins
from naru.web.gate.access import FAILURES, MAX_ADDRESSES, RateLimiter
from naru.web.gate.logins import Logins
from naru.web.gate.principal import Principal
from naru.web.routes import Access
from tests.web.admin.hub import AdminHub, admin_hub, rows

PATHS = {"{name}": "none", "{id}": "none"}


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[AdminHub]:
    async with admin_hub(tmp_path, server={"auth": "on", "rate_limit_per_minute": 0}) as made:
        yield made


def concrete(path: str) -> str:
    for name, value in PATHS.items():
        path = path.replace(name, value)
    return path


@pytest.mark.parametrize("role", [None, "read", "user", "operator", "admin"])
async def test_s03_s04_every_row_asks_for_its_role(hub: AdminHub, role: str | None) -> None:
    secret = hub.key_ring.keys.create(role)[1] if role else ""
    async with hub.client(secret) as client:
        for row in rows(hub):
            if row.raw:
                continue  # streams that do not end; the gate is the same
            for method in row.methods:
                answer = await client.request(method, concrete(row.path), json={})
                allowed = role is not None and Access[role.upper()] >= row.access
                if role is None:
                    assert answer.status_code == 401, (method, row.path)
                elif allowed:
                    assert answer.status_code not in (401, 403), (method, row.path)
                else:
                    assert answer.status_code == 403, (method, row.path)


async def test_h9_with_auth_on_only_an_admin_may_register(hub: AdminHub) -> None:
    body = {"name": "a", "config": {"url": "http://127.0.0.1:9/"}, "autoConnect": False}
    for role in ("read", "user", "operator", "admin"):
        async with hub.client(hub.key_ring.keys.create(role)[1]) as client:
            made = await client.post("/api/mcp/servers", json=body)
            assert made.status_code == (201 if role == "admin" else 403)
            assert (await client.get("/api/mcp/servers")).status_code == 200


async def test_a02_a_key_is_made_shown_once_listed_and_revoked(hub: AdminHub, tmp_path: Path) -> None:
    async with hub.client(hub.key_ring.keys.create("admin")[1]) as admin:
        made = await admin.post("/api/keys", json={"role": "user", "owner": "Kim", "expiresInSeconds": 60})
        assert made.status_code == 201
        secret, key_id = made.json()["key"], made.json()["id"]
        listed = (await admin.get("/api/keys")).text
        assert secret not in listed
        assert "sha256" not in listed
        async with hub.client(secret) as user:
            who = {"id": key_id, "role": "user", "owner": "Kim", "mayStartPrograms": False}
            assert (await user.get("/api/session")).json() == who
            assert (await user.post("/api/keys", json={"role": "read"})).status_code == 403
            assert (await admin.delete(f"/api/keys/{key_id}")).status_code == 204
            assert (await user.get("/api/session")).status_code == 401
        assert (await admin.delete(f"/api/keys/{key_id}")).status_code == 404
        assert (await admin.post("/api/keys", json={"role": "root"})).status_code == 400
        assert (await admin.post("/api/keys", json={"role": "user", "id": "x"})).status_code == 422
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


async def test_a01_making_the_first_key_on_loopback_closes_the_door(tmp_path: Path) -> None:
    async with admin_hub(tmp_path) as hub, hub.client() as client:
        assert (await client.get("/api/mcp/servers")).status_code == 200
        secret = (await client.post("/api/keys", json={"role": "admin"})).json()["key"]
        assert (await client.get("/api/mcp/servers")).status_code == 401
        async with hub.client(secret) as admin:
            assert (await admin.get("/api/mcp/servers")).status_code == 200


async def test_s68_a_session_stands_for_its_key_until_it_ends(hub: AdminHub) -> None:
    key, secret = hub.key_ring.keys.create("operator")
    async with hub.client(secret) as client:
        opened = await client.post("/api/session")
    cookie = opened.headers["set-cookie"]
    assert secret not in cookie
    for trait in ("__Host-naru=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"):
        assert trait in cookie
    given = {"Cookie": cookie.split(";")[0]}
    async with hub.client(**given) as browser:
        assert (await browser.get("/api/session")).json()["role"] == "operator"
        assert (await browser.post("/api/keys", json={"role": "read"})).status_code == 403
        foreign = {"Origin": "http://evil.example.net"}
        assert (await browser.post("/api/mcp/servers/x/connect", headers=foreign)).status_code == 403
        assert (await browser.delete("/api/session")).status_code == 204
        assert (await browser.get("/api/session")).status_code == 401
    token = hub.key_ring.open_session(Principal(key.id, Access.OPERATOR))
    hub.key_ring.keys.revoke(key.id)
    assert hub.key_ring.verify(token.encode()) is None


async def test_s19_a_key_that_asks_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    async with admin_hub(tmp_path, server={"auth": "on", "rate_limit_per_minute": 5}) as hub:
        busy, quiet = hub.key_ring.keys.create("read")[1], hub.key_ring.keys.create("read")[1]
        async with hub.client(busy) as client:
            answers = [await client.get("/api/session") for _ in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        async with hub.client(quiet) as client:
            assert (await client.get("/api/session")).status_code == 200


async def test_s19_wrong_keys_are_slowed_down_and_right_ones_never(hub: AdminHub) -> None:
    right = hub.key_ring.keys.create("read")[1]
    async with hub.client("wrong-key") as guesser:
        answers = [await guesser.get("/api/session") for _ in range(FAILURES + 2)]
    assert [answer.status_code for answer in answers] == [401] * FAILURES + [429] * 2
    async with hub.client(right) as client:
        assert (await client.get("/api/session")).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True], ids=["in memory", "in a file"])
def test_s19_who_opens_sessions_without_end_ends_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    monkeypatch.setattr(logins, "MAX_SESSIONS", 20)
    monkeypatch.setattr(logins, "MOST_OF_ONE", 10)
    kept = Logins(tmp_path / "logins.json" if shared else None)
    theirs = kept.open("ada")
    opened = [kept.open("eve") for _ in range(30)]
    assert kept.find(theirs.encode()) is not None
    assert [kept.find(token.encode()) is not None for token in opened] == [False] * 20 + [True] * 10


def test_s19_the_limiter_does_not_grow_without_bound() -> None:
    limiter = RateLimiter(100)
    for number in range(100_000):
        limiter.failure(f"10.0.{number >> 8}.{number & 255}")
        limiter.request(Principal(f"key-{number}", Access.USER))
    assert len(limiter._failures) == len(limiter._buckets) == MAX_ADDRESSES


async def test_the_openapi_document_names_every_row_and_its_role(hub: AdminHub) -> None:
    async with hub.client(hub.key_ring.keys.create("read")[1]) as client:
        document = (await client.get("/openapi.json")).json()
    for row in rows(hub):
        for method in row.methods:
            operation = document["paths"][row.path][method.lower()]
            assert operation["x-role"] == row.access.name.lower()
            assert operation["summary"]
    assert document["paths"]["/api/mcp/servers"]["post"]["requestBody"]
    references = str(document)
    for name in references.split("#/components/schemas/")[1:]:
        assert name.split("'")[0] in document["components"]["schemas"]


async def test_r26_unreadable_keys_close_every_door(hub: AdminHub) -> None:
    hub.key_ring.keys.path.write_text("{", encoding="utf-8")
    async with hub.client("x" * 40) as client:
        answer = await client.get("/api/session")
    assert answer.status_code == 507
