"""Tokens for upstream servers: R-11, S-12, S-30, S-32, S-34, against an authorization server in the test's own loop."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from naru.connections.manager import Manager
from naru.connections.oauth.clients import Client
from naru.connections.oauth.fetch import refused, unavailable
from naru.connections.oauth.flow import Tokens
from naru.connections.oauth.signed import Signed
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.addresses import may_carry_secrets
from naru.connections.transports.http.tokens import Grant, TokenSource, grant_of, seconds_of_life
from naru.errors import ToolError
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.stores.memory import MemoryStore
from naru.stores.secrets.redact import REDACTOR, masked_config
from naru.stores.secrets.values import secrets_of
from tests.connections.conftest import ONCE, QUICK, http, managed
from tests.connections.fake_http import FakeHttpServer
from tests.loopback import listening
from tests.waiting import HANG_SECONDS, sleep_as_the_machine, sleep_through, until


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (60, 60),
        (0.5, 0.5),
        (None, 0),
        (True, 0),
        (-1, 0),
        ("60", 60),
        ("soon", 0),
        ("inf", 0),
        ([60], 0),
        (float("inf"), 0),
        (10**400, 0),
    ],
    ids=[
        "seconds",
        "less",
        "nothing",
        "true",
        "negative",
        "text",
        "words",
        "endless text",
        "list",
        "infinite",
        "beyond all floats",
    ],
)
def test_how_long_a_token_is_good(told: Any, seconds: float) -> None:
    assert seconds_of_life({"expires_in": told}) == seconds


class Authority:
    """Gives tokens `t1`, `t2`, …; its last one is good, unless a test says otherwise."""

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.answer: dict[str, Any] = {}
        self.status = 200
        self.issuer = ""
        self.endpoint = ""
        self.rotates = False
        self.asked: Callable[[], Awaitable[None]] | None = None
        """Done while somebody waits for a token."""

    @property
    def token(self) -> str:
        return f"t{len(self.forms)}"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner, port = await listening(app)
        self.url = f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        if request.method == "GET":
            if request.path != "/.well-known/oauth-authorization-server/tenant":
                return web.Response(status=404)
            issuer = self.issuer or f"{self.url}/tenant"
            return web.json_response({"issuer": issuer, "token_endpoint": self.endpoint or f"{self.url}/token"})
        self.forms.append(dict(await request.post()))  # type: ignore[arg-type]
        self.headers.append(dict(request.headers))
        if self.asked is not None:
            await self.asked()
        if self.status != 200:
            return web.json_response(self.answer, status=self.status)
        rotated = {"refresh_token": f"REFRESH-{len(self.forms)}"} if self.rotates else {}
        return web.json_response({"access_token": self.token, "token_type": "Bearer", **rotated, **self.answer})


@pytest.fixture
async def authority() -> AsyncIterator[Authority]:
    made = Authority()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[FakeHttpServer]:
    """Takes the authority's last token alone."""
    async with FakeHttpServer() as made:
        made.behave = wants(made, lambda: authority.token)
        yield made


def wants(server: FakeHttpServer, token):
    async def check(request: web.Request, message: dict[str, Any]) -> web.Response | None:
        if request.headers.get("Authorization") == f"Bearer {token()}":
            return None
        server.seen["401"] += 1
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    return check


@pytest.fixture
async def manager(tmp_path: Path) -> AsyncIterator[Manager]:
    made = Manager(MemoryStore(), settings=replace(QUICK, kept_in=tmp_path))
    yield made
    await made.close()


def grant(authority: Authority, **more: str) -> dict[str, str]:
    return {"tokenUrl": f"{authority.url}/token", "clientId": "naru:1", "clientSecret": "se/cret", **more}


async def connect(manager: Manager, server: FakeHttpServer, auth: object) -> bool:
    await manager.register(http("web", server.url, auth=auth))
    return await manager.connect("web")


async def echo(manager: Manager) -> str:
    return (await manager.call_tool("web", "echo", {"text": "x"})).text


async def test_a_token_is_fetched_for_this_server_and_sent_with_every_request(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    assert await connect(manager, server, grant(authority, scope="tools")), manager.explain("web").summary
    assert [await echo(manager) for _ in range(5)] == ["x"] * 5
    expected = {"grant_type": "client_credentials", "scope": "tools", "resource": server.url}
    assert authority.forms == [expected]
    basic = authority.headers[0]["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(basic).decode() == "naru%3A1:se%2Fcret"
    assert server.seen["401"] == 0


async def test_a_token_is_waited_for_while_the_machine_sleeps(
    manager: Manager, server: FakeHttpServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.asked = lambda: sleep_as_the_machine(monkeypatch, 40)
    assert await connect(manager, server, grant(authority)), manager.explain("web").summary
    assert len(authority.forms) == 1


async def test_r11_calls_whose_token_ran_out_share_one_renewal_and_are_each_sent_once_more(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    await connect(manager, server, grant(authority))
    source = next(iter(manager.http._sources.values()))
    source._fetched_at -= 3600
    server.behave = wants(server, lambda: "t2")
    results = await asyncio.gather(*(echo(manager) for _ in range(10)))
    assert results == ["x"] * 10
    assert len(authority.forms) == 2
    assert server.seen["401"] <= 10
    assert manager.connection("web").generation == 1
    print(f"R-11: 10 calls with a token that ran out: {len(authority.forms) - 1} renewal, all answered")


async def test_r11_a_fresh_token_that_is_refused_makes_no_storm(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    server.behave = wants(server, lambda: "never")
    assert not await connect(manager, server, grant(authority))
    assert manager.get_status("web") is ServerStatus.NEEDS_AUTH
    for _ in range(20):
        with pytest.raises(ToolError):
            await echo(manager)
    print(f"R-11: {server.seen['401']} requests and {len(authority.forms)} tokens for 1 connect and 20 calls")
    assert server.seen["401"] <= 2
    assert len(authority.forms) == 1
    assert "`auth`" in manager.explain("web").remedy


async def test_a_token_is_renewed_before_it_expires(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    authority.answer = {"expires_in": 7200}
    await connect(manager, server, grant(authority))
    source = next(iter(manager.http._sources.values()))
    now = source._now
    for passed, tokens in ((3600, 1), (7190, 2)):
        source._now = lambda passed=passed: now() + passed
        assert await echo(manager) == "x"
        assert len(authority.forms) == tokens
    assert server.seen["401"] == 0


async def test_a_token_that_expired_while_the_machine_slept_is_renewed_before_it_is_sent(
    manager: Manager, server: FakeHttpServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.answer = {"expires_in": 3600}
    server.behave = wants(server, lambda: f"t{len(authority.forms)}")
    await connect(manager, server, grant(authority))
    sleep_through(monkeypatch, 7200)
    assert await echo(manager) == "x"
    assert (len(authority.forms), server.seen["401"]) == (2, 0)


async def test_a_token_that_is_good_for_seconds_yet_is_used_while_its_authority_is_away(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    server.behave = wants(server, lambda: "t1")
    authority.answer = {"expires_in": "7200"}
    await connect(manager, server, grant(authority))
    source = next(iter(manager.http._sources.values()))
    now, authority.status = source._now, 503
    source._now = lambda: now() + 7190
    assert await echo(manager) == "x"
    assert len(authority.forms) == 2, "it was to be renewed"
    source._now = lambda: now() + 7201
    with pytest.raises(ToolError, match="503"):
        await echo(manager)


async def test_a_persons_token_that_is_good_for_seconds_yet_is_used_while_its_authority_is_away() -> None:
    async def away(_: Tokens) -> Tokens:
        raise unavailable("it is away.")

    async def over(_: Tokens) -> Tokens:
        raise refused("it is over.")

    client = Client("c", "", "none", "")
    held = Tokens("", "", "", "", "", client, "still-good", "refresh", "", life=3600, expires_at=time.time() + 20)
    assert await Signed(held, away).current() == "still-good"
    with pytest.raises(LinkError, match="over"):
        await Signed(held, over).current()
    with pytest.raises(LinkError, match="away"):
        await Signed(replace(held, expires_at=time.time() - 1), away).current()


@pytest.mark.parametrize("seconds", [None, "soon", -1, 0, True, 10**12])
async def test_an_odd_lifetime_is_none(
    manager: Manager, server: FakeHttpServer, authority: Authority, seconds: object
) -> None:
    authority.answer = {"expires_in": seconds}
    assert await connect(manager, server, grant(authority))
    assert await echo(manager) == "x"
    assert len(authority.forms) == 1


async def test_a_renewal_whose_caller_has_gone_is_not_lost(authority: Authority, tmp_path: Path) -> None:
    """A refresh token is good once: an answer that nobody waits for any more holds the only next one (issue 23)."""
    authority.rotates = True
    url = f"{authority.url}/token"
    made = grant_of({"tokenUrl": url, "clientId": "c", "refreshToken": "REFRESH-0"}, URL(authority.url))
    assert isinstance(made, Grant)
    async with aiohttp.ClientSession() as session:
        source = TokenSource(made, session, tmp_path / "token.json")
        gone = asyncio.ensure_future(source.current())
        await asyncio.sleep(0)
        gone.cancel()
        assert await source.current() == "t1", "who comes next takes the answer that was under way"
        assert [form["refresh_token"] for form in authority.forms] == ["REFRESH-0"]
        assert "REFRESH-1" in (tmp_path / "token.json").read_text(encoding="utf-8")
        await source.close()


async def test_a_renewal_that_is_under_way_at_the_end_is_kept(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.connections.transports.http.tokens.LAST_SECONDS", HANG_SECONDS)
    authority.rotates = True
    made = grant_of({"tokenUrl": f"{authority.url}/token", "clientId": "c", "refreshToken": "R"}, URL(authority.url))
    assert isinstance(made, Grant)
    async with aiohttp.ClientSession() as session:
        source = TokenSource(made, session, tmp_path / "token.json")
        asked = asyncio.ensure_future(source.current())
        await asyncio.sleep(0)
        await source.close()
        assert await asked == "t1"
    assert "REFRESH-1" in (tmp_path / "token.json").read_text(encoding="utf-8")


async def test_a_persons_renewal_is_given_the_time_that_the_end_of_the_hub_has() -> None:
    answered = asyncio.Event()

    async def slow(old: Tokens) -> Tokens:
        await answered.wait()
        return replace(old, access_token="new", expires_at=time.time() + 3600)

    held = Tokens("", "", "", "", "", Client("c", "", "none", ""), "old", "refresh", "", life=3600, expires_at=1.0)
    signed = Signed(held, slow)
    asked = asyncio.ensure_future(signed.current())
    await asyncio.sleep(0)
    ending = asyncio.ensure_future(signed.close(patience_seconds=20))
    await asyncio.sleep(0)
    answered.set()
    await ending
    assert await asked == "new"


@pytest.mark.parametrize("together", [False, True], ids=["one after the other", "at once"])
async def test_r11_processes_that_share_a_folder_send_each_refresh_token_once(
    manager: Manager, server: FakeHttpServer, authority: Authority, tmp_path: Path, together: bool
) -> None:
    """One that was sent before is void, and many authorities then void all that came of it."""

    async def slow() -> None:
        await asyncio.sleep(0.05)  # so that both would have been asked by then

    authority.rotates, authority.asked = True, slow
    server.behave = None  # each takes its own token
    auth = grant(authority, refreshToken="REFRESH-0")
    other = Manager(MemoryStore(), settings=replace(QUICK, kept_in=tmp_path))
    try:
        for one in (manager, other):
            assert await connect(one, server, auth)
        sources = [next(iter(one.http._sources.values())) for one in (manager, other)]
        if together:
            await asyncio.gather(*(source._renew() for source in sources))
        else:
            for source in sources:
                await source._renew()
    finally:
        await other.close()
    assert [form["refresh_token"] for form in authority.forms] == [f"REFRESH-{number}" for number in range(4)]


async def test_a_rotated_refresh_token_outlives_this_process(
    manager: Manager, server: FakeHttpServer, authority: Authority, tmp_path: Path
) -> None:
    authority.rotates = True
    auth = grant(authority, refreshToken="REFRESH-0")
    assert await connect(manager, server, auth)
    await manager.close()
    second = Manager(MemoryStore(), settings=replace(QUICK, kept_in=tmp_path))
    try:
        assert await connect(second, server, auth)
    finally:
        await second.close()
    assert [form["refresh_token"] for form in authority.forms] == ["REFRESH-0", "REFRESH-1"]
    (kept,) = (tmp_path / "tokens").glob("*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "REFRESH-2" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("status", "answer", "state"),
    [
        (400, {"error": "invalid_grant", "error_description": "revoked"}, ServerStatus.NEEDS_AUTH),
        (401, {"error": "invalid_client"}, ServerStatus.NEEDS_AUTH),
        (500, {}, ServerStatus.FAILED),
        (429, {"error": "slow_down"}, ServerStatus.FAILED),
        (302, {}, ServerStatus.FAILED),
        (404, {}, ServerStatus.FAILED),
    ],
)
async def test_an_authority_that_refuses_is_told_from_one_that_is_away(
    server: FakeHttpServer, authority: Authority, status: int, answer: dict[str, str], state: ServerStatus
) -> None:
    authority.status, authority.answer = status, answer
    async with managed(ONCE) as manager:
        assert not await connect(manager, server, grant(authority))
        assert manager.get_status("web") is state
        told = manager.explain("web")
    assert "gave no token" in told.summary
    assert str(status) in told.summary
    assert "se/cret" not in repr(told)
    assert server.seen.total() == 0, "nothing is sent without a token"


async def test_an_authority_that_is_away_is_asked_again_by_itself(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    authority.status = 503
    assert not await connect(manager, server, grant(authority))
    authority.status = 200
    await until(lambda: manager.connection("web").is_live)


async def test_an_issuer_is_asked_for_its_token_endpoint(
    manager: Manager, server: FakeHttpServer, authority: Authority
) -> None:
    auth = {"issuer": f"{authority.url}/tenant", "clientId": "c", "clientSecret": "s", "clientAuth": "post"}
    assert await connect(manager, server, auth), manager.explain("web").summary
    assert authority.forms[0]["client_secret"] == "s"


@pytest.mark.parametrize(
    ("issuer", "endpoint", "says"),
    [
        ("https://evil.example", "", "calls itself another issuer"),
        ("{url}/tenant/", "", "calls itself another issuer"),
        ("", "http://evil.example/token", "no https token endpoint"),
        ("", "file:///etc/passwd", "no https token endpoint"),
        ("", "javascript:alert(1)", "no https token endpoint"),
    ],
)
async def test_s32_an_issuer_that_is_another_or_points_elsewhere_gets_no_credentials(
    manager: Manager, server: FakeHttpServer, authority: Authority, issuer: str, endpoint: str, says: str
) -> None:
    authority.issuer, authority.endpoint = issuer.format(url=authority.url), endpoint
    auth = {"issuer": f"{authority.url}/tenant", "clientId": "c", "clientSecret": "s"}
    assert not await connect(manager, server, auth)
    assert says in manager.explain("web").summary
    assert authority.forms == []


@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ({"clientId": "c", "clientSecret": "s"}, "tokenUrl or issuer"),
        ({"tokenUrl": "https://h/t", "clientSecret": "s"}, "clientId"),
        ({"tokenUrl": "https://h/t", "clientId": "c"}, "clientSecret or refreshToken"),
        ({"tokenUrl": "http://h/t", "clientId": "c", "clientSecret": "s"}, "https"),
        ({"tokenUrl": "not a url", "clientId": "c", "clientSecret": "s"}, "https"),
        ({"bearer": "b", "clientId": "c"}, "alone"),
        ({"bearer": ""}, "token"),
        ({"CLIENT_ID": "c"}, "auth.CLIENT_ID does not exist"),
    ],
)
async def test_what_cannot_be_used_names_its_field(manager: Manager, auth: object, says: str) -> None:
    await manager.register(http("web", "http://127.0.0.1:9/mcp", auth=auth))
    assert not await manager.connect("web")
    told = manager.explain("web")
    assert says in told.summary
    assert told.failure is not None
    assert not told.failure.retryable


@pytest.mark.parametrize("auth", [{"bearer": "given"}, "given"])
async def test_a_given_token_is_sent_as_it_is(manager: Manager, auth: object) -> None:
    async with FakeHttpServer() as server:
        server.behave = wants(server, lambda: "given")
        assert await connect(manager, server, auth)


async def test_a_placeholder_in_auth_is_filled_in_and_a_missing_one_is_named(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "from-env")
    async with FakeHttpServer() as server:
        server.behave = wants(server, lambda: "from-env")
        assert await connect(manager, server, {"bearer": "${MY_TOKEN}"})
    await manager.register(http("other", server.url, auth={"bearer": "${NO_SUCH_TOKEN}"}))
    assert not await manager.connect("other")
    assert "NO_SUCH_TOKEN not set (mcpServers.other.auth.bearer)" in manager.explain("other").summary


async def test_auth_and_an_authorization_header_are_one_too_many(manager: Manager) -> None:
    record = http("web", "http://127.0.0.1:9/mcp", auth={"bearer": "b"}, headers={"authorization": "Bearer c"})
    await manager.register(record)
    assert not await manager.connect("web")
    assert "both auth and an Authorization header" in manager.explain("web").summary


def test_s34_the_secrets_of_auth_are_masked_and_known() -> None:
    auth = {"tokenUrl": "https://h/t", "clientId": "c", "clientSecret": "SENTINEL-1", "refreshToken": "SENTINEL-2"}
    config = {"url": "https://h/mcp", "auth": auth}
    assert secrets_of(config) == {"SENTINEL-1", "SENTINEL-2"}
    assert "SENTINEL" not in str(masked_config(config))
    assert masked_config(config)["auth"]["tokenUrl"] == "https://h/t"
    assert "SENTINEL-3" not in str(masked_config({"auth": "SENTINEL-3"}))
    assert secrets_of({"auth": "SENTINEL-3"}) == {"SENTINEL-3"}


async def test_s34_fetched_tokens_are_in_no_log(manager: Manager, server: FakeHttpServer, authority: Authority) -> None:
    authority.answer = {"access_token": "SENTINEL-ACCESS"}
    server.behave = wants(server, lambda: "SENTINEL-ACCESS")
    assert await connect(manager, server, grant(authority))
    assert "SENTINEL-ACCESS" not in REDACTOR.clean("Bearer SENTINEL-ACCESS, or SENTINEL-ACCESS alone")


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("https://h/t", True),
        ("http://127.0.0.1:9/t", True),
        ("http://[::1]/t", True),
        ("http://localhost/t", True),
        ("http://h/t", False),
        ("http://localhost.evil.example/t", False),
        ("http://127.0.0.1.evil.example/", False),
        ("ftp://h/t", False),
        ("//h/t", False),
        ("", False),
        ("http://[", False),
    ],
)
def test_where_credentials_may_go(address: str, may: bool) -> None:
    assert may_carry_secrets(address) is may


def test_auth_must_hold_texts() -> None:
    with pytest.raises(ValueError, match=r"config\.auth must be an object of strings"):
        ServerRecord(name="a", transport_type=TransportType.HTTP, config={"url": "https://h/", "auth": {"bearer": 1}})
