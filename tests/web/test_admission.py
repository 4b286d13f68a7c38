"""Open to one person at one machine, to nobody by accident (issue 23, line 4; S-01, A-01)."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from naru.config import ApprovalSettings, ServerSettings
from naru.connections.changes import Change
from naru.stores.files.atomic import file_lock
from naru.stores.secrets.keys import KeyFile
from naru.tools.supervision.approvals import Approvals, Decision
from naru.tools.supervision.calls import Call
from naru.web.gate.access import KeyRing
from naru.web.gate.admission import auth_is_on, who_may_come
from naru.web.gate.hosts import host_name
from naru.web.gate.security import Gate, guard
from tests.waiting import until
from tests.web.test_app_security import opened
from tests.web.test_security import TABLE, ask, echo

OPEN = ("GET", "/api/mcp/servers")
HELD = ("POST", "/api/mcp/servers")
JSON = ("Content-Type", "application/json")


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "keys.json")


def gate(keys: KeyFile, **settings: object) -> Gate:
    return guard(echo, TABLE, ServerSettings.model_validate(settings), keys=KeyRing(keys))


async def status(app: Gate, what: tuple[str, str] = HELD, **given: object) -> int:
    method, path = what
    headers = [JSON, *given.pop("headers", [])]  # type: ignore[misc]
    return (await ask(app, path, method, headers, **given))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["naru.example.com", "naru.example.com:443", "10.0.0.5:*", "[2001:db8::1]:8080"])
async def test_a_name_beyond_loopback_asks_for_a_key(keys: KeyFile, host: str) -> None:
    app = gate(keys, allowed_hosts=[host])
    assert await status(app) == 401
    assert "allowed_hosts" in app.admission.reason
    assert not auth_is_on(ServerSettings(allowed_hosts=["localhost:*", "127.0.0.1:80", "[::1]:5"]), were_made=False)


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "x-forwarded-host", "Via", "X-Real-IP"]
)
async def test_a_request_through_a_proxy_asks_for_a_key_for_good(
    keys: KeyFile, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = gate(keys)
    assert await status(app) == 200
    with caplog.at_level(logging.WARNING):
        assert await status(app, headers=[(header, "192.0.2.7")]) == 401
    assert f"From now on a key is asked for: a request came through a proxy (it has the header {header.lower()})" in (
        caplog.text
    )
    assert await status(app) == 401, "the next request may not show it"
    assert await status(gate(keys)) == 401, "nor may the next start"


async def test_a_first_key_that_waits_for_its_file_holds_up_nobody_and_lets_nobody_in(keys: KeyFile) -> None:
    """Another process may hold the file for a minute."""
    app = gate(keys)
    with file_lock(keys.path):
        first = asyncio.create_task(status(app, headers=[("Via", "1.1 proxy")]))
        await until(lambda: app.admission.reason)
        assert await status(app) == 401
        assert not first.done()
    assert await first == 401
    assert keys.were_made()


async def test_a_plain_proxy_pass_is_seen_by_its_http_1_0(keys: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nginx without further lines: the upstream's own Host, no header, HTTP/1.0."""
    app = gate(keys)

    async def older(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        await app({**scope, "http_version": "1.0"}, receive, send)

    assert await status(older) == 401  # type: ignore[arg-type]
    assert await status(app) == 401


async def test_who_is_asked_for_a_key_by_a_proxy_is_told_where_to_find_one(
    keys: KeyFile, caplog: pytest.LogCaptureFixture
) -> None:
    app = gate(keys)
    await status(app, headers=[("Via", "1.1 proxy")])
    place = keys.path.with_name("admin.key")
    assert str(place) in caplog.text
    bearer = ("Authorization", f"Bearer {place.read_text(encoding='utf-8').strip()}")
    assert await status(app, headers=[bearer, ("Via", "1.1 proxy")]) == 200


async def test_a_foreign_page_cannot_shut_the_door(keys: KeyFile) -> None:
    app = gate(keys)
    headers = [("Origin", "https://evil.example.net"), ("X-Forwarded-For", "192.0.2.7")]
    assert await status(app, headers=headers) == 403
    assert await status(app, OPEN) == 200


async def test_revoking_the_last_key_opens_nothing(keys: KeyFile) -> None:
    key, _ = keys.create("admin")
    app = gate(keys)
    keys.revoke(key.id)
    assert await status(app) == 401
    assert await status(gate(KeyFile(keys.path))) == 401, "nor does a new start"


async def test_a_key_that_another_process_makes_is_told(
    keys: KeyFile, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.stores.secrets.keys.RELOAD_SECONDS", 0.0)
    app = gate(keys)
    assert await status(app, OPEN) == 200
    KeyFile(keys.path).ensure_admin()
    app.admission.look()
    assert "From now on a key is asked for: a key was made" in caplog.text
    assert await status(app, OPEN) == 401


async def test_what_was_switched_off_by_hand_stays_off(keys: KeyFile) -> None:
    app = gate(keys, auth="off")
    assert await status(app, headers=[("Via", "1.1 proxy")]) == 200
    assert not keys.path.exists()


@pytest.mark.parametrize(
    ("settings", "were_made", "said"),
    [
        ({}, False, "Everybody on this machine may come, without a key, until"),
        ({}, True, "Whoever has a key may come: keys were made here."),
        ({"auth": "off"}, True, "Everybody on this machine may come, without a key: server.auth is off."),
        ({"auth": "on"}, False, "Whoever has a key may come: server.auth is on."),
        ({"host": "0.0.0.0"}, False, "Whoever has a key may come: server.host '0.0.0.0' is reachable"),
        ({"allowed_hosts": ["naru.example.com"]}, False, "Whoever has a key may come: server.allowed_hosts names naru"),
        (
            {"host": "0.0.0.0", "auth": "off", "dangerously_allow_open_bind": True},
            False,
            "EVERYBODY who reaches 0.0.0.0 may come",
        ),
        ({"auth": "off", "allowed_hosts": ["a.example.com:*"]}, False, "EVERYBODY who reaches a.example.com:* may"),
    ],
)
def test_the_start_says_in_one_line_who_may_come(settings: dict[str, object], were_made: bool, said: str) -> None:
    line = who_may_come(ServerSettings.model_validate(settings), were_made=were_made)
    assert line.startswith(said)
    assert "\n" not in line


@pytest.mark.parametrize(
    ("authority", "host"),
    [("a.b", "a.b"), ("A.b:80", "a.b"), ("a.b:*", "a.b"), ("[::1]:5", "[::1]"), ("[::1]", "[::1]"), ("::1", "::1")],
)
def test_a_host_is_told_from_its_port(authority: str, host: str) -> None:
    assert host_name(authority) == host


@pytest.mark.slow
async def test_a_running_hub_tells_of_keys_and_held_calls_of_other_processes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as (hub, _):
        heard: list[Change] = []
        hub.manager.subscribe(heard.append)
        other = Approvals(ApprovalSettings(ask=["*"]), tmp_path / "approvals.json")
        call = asyncio.ensure_future(other.decide(Call("files", "delete", {})))
        await until(lambda: Change("", "approvals") in heard)
        assert hub.approvals is not None
        (waiting,) = hub.approvals.waiting
        await hub.approvals.answer(waiting.id, Decision.ONCE, by="key_op")
        assert await asyncio.wait_for(call, 30) == "approved_once"
        KeyFile(tmp_path / "keys.json").ensure_admin()
        await until(lambda: "From now on a key is asked for: a key was made" in caplog.text)
