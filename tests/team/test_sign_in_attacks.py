"""Hostile servers and authorities: issue 21's attack tests, S-11, S-12, S-32, RFC 9207, RFC 8414, RFC 9728."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from naru.connections.oauth.fetch import Fetch
from naru.connections.oauth.signins import SignIns, SignInSettings, Wish
from naru.connections.state.faults import LinkError
from naru.stores.secrets.vault import Vault
from tests.loopback import listening

BACK = "http://127.0.0.1:9/oauth/callback"


@dataclass
class Hostile:
    """A server and its authority in one, whose every word a test can change."""

    url: str = ""
    resource: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    challenge: str = ""
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: int = 0

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/mcp")

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        if request.path in self.redirects:
            return web.Response(status=302, headers={"Location": self.redirects[request.path]})
        match request.path:
            case "/mcp":
                return web.Response(status=401, headers={"WWW-Authenticate": self.challenge or "Bearer"})
            case "/.well-known/oauth-protected-resource/mcp":
                return web.json_response(
                    {"resource": self.url, "authorization_servers": [self.origin], **self.resource}
                )
            case "/.well-known/oauth-authorization-server":
                return web.json_response({**self.honest(), **self.metadata})
            case "/register":
                return web.json_response({**(await request.json()), "client_id": "c"}, status=201)
            case "/token":
                self.tokens += 1
                return web.json_response({"access_token": "stolen", "token_type": "Bearer"})
        return web.Response(status=404)

    def honest(self) -> dict[str, Any]:
        return {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }


@asynccontextmanager
async def hostile() -> AsyncIterator[Hostile]:
    made = Hostile()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner, port = await listening(app)
    made.url = f"http://127.0.0.1:{port}/mcp"
    try:
        yield made
    finally:
        await runner.cleanup()


def wish(server: Hostile, **config: Any) -> Wish:
    return Wish("up", {"url": server.url, **config}, "", "ada", BACK, by_browser=False)


@pytest.mark.parametrize(
    ("resource", "metadata", "said"),
    [
        ({"resource": "https://bank.example/mcp"}, {}, "another resource"),
        ({"resource": None}, {}, "no resource"),
        ({"authorization_servers": []}, {}, "names no authorization server"),
        ({"authorization_servers": ["http://169.254.169.254/latest"]}, {}, "not public|not https"),
        ({"authorization_servers": ["http://10.0.0.7/"]}, {}, "not public|not https"),
        ({"authorization_servers": ["https://10.0.0.7/"]}, {}, "not public"),
        ({"authorization_servers": ["https://[::ffff:169.254.169.254]/"]}, {}, "not public"),
        ({"authorization_servers": ["https://user@h.example/"]}, {}, "no plain http address"),
        ({"authorization_servers": ["file:///etc/passwd"]}, {}, "no plain http address"),
        ({}, {"issuer": "https://bank.example"}, "another issuer"),
        ({}, {"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({}, {"code_challenge_methods_supported": None}, "PKCE"),
        ({}, {"authorization_endpoint": "javascript:alert(1)"}, "no plain http address"),
        ({}, {"authorization_endpoint": "file:///etc/passwd"}, "no plain http address"),
        ({}, {"authorization_endpoint": "http://h.example/$(id)"}, "not https"),
        ({}, {"token_endpoint": "https://169.254.169.254/token"}, "not public"),
        ({}, {"registration_endpoint": "https://0.0.0.0/register"}, "not public"),
        ({}, {"revocation_endpoint": "https://[fe80::1]/revoke"}, "not public"),
    ],
)
async def test_poisoned_metadata_leads_nowhere(resource: dict[str, Any], metadata: dict[str, Any], said: str) -> None:
    async with hostile() as server:
        server.resource, server.metadata = resource, metadata
        signins = SignIns(Vault())
        with pytest.raises(LinkError, match=said):
            await signins.begin(wish(server))
        assert "POST /register" not in server.asked
        assert "POST /token" not in server.asked
        await signins.close()


@pytest.mark.parametrize("issuer", ["https://evil.example", "", "ISSUER/", None])
async def test_an_answer_of_another_authority_is_not_exchanged(issuer: str | None) -> None:
    """Mix-up (RFC 9207): the code stays with who it is for."""
    async with hostile() as server:
        signins = SignIns(Vault())
        begun = await signins.begin(wish(server))
        named = {} if issuer is None else {"iss": issuer.replace("ISSUER", server.origin)}
        with pytest.raises(LinkError, match="not used"):
            await signins.finish({"state": begun.state, "code": "c", **named}, asker="ada")
        assert server.tokens == 0
        begun = await signins.begin(wish(server))
        await signins.finish({"state": begun.state, "code": "c", "iss": server.origin}, asker="ada")
        assert server.tokens == 1
        await signins.close()


async def test_an_authority_that_the_record_names_is_the_only_one() -> None:
    async with hostile() as server:
        signins = SignIns(Vault())
        with pytest.raises(LinkError, match="its record says"):
            await signins.begin(wish(server, auth={"issuer": "https://login.example", "clientId": "c"}))
        await signins.close()


@pytest.mark.parametrize(
    "path",
    ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/register", "/token"],
)
async def test_nothing_follows_a_redirect(path: str) -> None:
    async with hostile() as server, hostile() as other:
        server.redirects[path] = f"{other.origin}{path}"
        signins = SignIns(Vault())
        with suppress(LinkError):  # what is moved is not there; where it is not needed the rest goes on
            begun = await signins.begin(wish(server))
            await signins.finish({"state": begun.state, "code": "c", "iss": server.origin}, asker="ada")
        assert f"{'POST' if path in ('/register', '/token') else 'GET'} {path}" in server.asked
        assert other.asked == []
        await signins.close()


async def test_a_challenge_does_not_lead_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    async with hostile() as server:
        server.challenge = 'Bearer resource_metadata="http://169.254.169.254/latest/meta-data"'
        signins = SignIns(Vault())
        with pytest.raises(LinkError, match=r"not public|not https"):
            await signins.begin(wish(server))
        await signins.close()


def answers(*given: Sequence[str]) -> Any:
    """Return a name server that says another thing each time."""
    left = list(given)

    async def look_up(host: str, port: int) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return look_up


PUBLIC = "https://mcp.example/mcp"


@pytest.mark.parametrize(
    ("addresses", "may"),
    [
        (["93.184.215.14"], True),
        (["2606:2800:21f:cb07:6820:80da:af6b:8b2c"], True),
        (["93.184.215.14", "127.0.0.1"], False),
        (["127.0.0.1"], False),
        (["10.1.2.3"], False),
        (["192.168.0.1"], False),
        (["100.64.0.1"], False),
        (["169.254.169.254"], False),
        (["0.0.0.0"], False),
        (["::1"], False),
        (["fe80::1%eth0"], False),
        (["fd00::1"], False),
        (["::ffff:127.0.0.1"], False),
        (["64:ff9b::7f00:1"], False),
        (["2002:7f00:1::"], False),
        (["224.0.0.1"], False),
        ([], False),
    ],
)
async def test_a_name_is_gone_to_only_if_all_its_addresses_are_public(addresses: list[str], may: bool) -> None:
    fetch = Fetch(URL(PUBLIC), lookup=answers(addresses))
    if may:
        assert await fetch.resolve("login.example", 443) == addresses
    else:
        with pytest.raises(OSError, match="not public"):
            await fetch.resolve("login.example", 443)


async def test_a_name_that_changes_its_address_is_connected_to_as_it_was_judged() -> None:
    """DNS rebinding: what was checked is what is connected to; nobody asks twice for one request."""
    fetch = Fetch(URL(PUBLIC), lookup=answers(["93.184.215.14"], ["127.0.0.1"]))
    async with fetch:
        assert fetch._session is not None
        resolver = fetch._session.connector._resolver  # type: ignore[union-attr]
        first = await resolver.resolve("login.example", 443)
        assert [one["host"] for one in first] == ["93.184.215.14"]
        with pytest.raises(LinkError, match="did not answer"):
            await fetch.get("https://login.example/.well-known/oauth-authorization-server")


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "127.0.0.1", "[::1]"])
async def test_other_ways_to_write_this_machine_are_this_machine(host: str) -> None:
    async with hostile() as server:
        signins = SignIns(Vault(), SignInSettings())
        async with signins._fetch(URL(PUBLIC)) as fetch:
            with pytest.raises(LinkError):
                await fetch.get(f"https://{host}:{URL(server.url).port}/x")
        assert server.asked == []
        await signins.close()


async def test_private_authorities_are_named_in_the_settings() -> None:
    named = Fetch(URL(PUBLIC), hosts=["login.corp.example"], lookup=answers(["10.0.0.9"]))
    assert await named.resolve("login.corp.example", 443) == ["10.0.0.9"]
    with pytest.raises(OSError, match="not public"):
        await named.resolve("other.corp.example", 443)
    metadata = Fetch(URL(PUBLIC), hosts=["login.corp.example"], lookup=answers(["169.254.169.254"]))
    with pytest.raises(OSError, match="not public"):
        await metadata.resolve("login.corp.example", 443)
