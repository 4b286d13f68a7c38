"""Tokens of an authorization server: A-04, S-31."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import jwt
import pytest
from aiohttp import web
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from naru.config import OAuthSettings, RoleSettings, Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from naru.web.gate import access_tokens as module
from naru.web.gate import issuer as keeper
from naru.web.gate.access_tokens import AccessTokens
from naru.web.gate.admission import auth_is_on
from naru.web.routes import Access
from tests.loopback import listening
from tests.waiting import until

RESOURCE = "http://127.0.0.1:20006/mcp"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


class Authority:
    """Publishes keys; counts how often it is asked."""

    def __init__(self) -> None:
        self.keys = [public("one", RSA_KEY, "RS256"), public("two", EC_KEY, "ES256")]
        self.asked = 0
        self.in_pieces = False
        self.waits = False
        self.url = ""

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._serve)
        self._runner, port = await listening(app)
        self.url = f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/.well-known/oauth-authorization-server":
            return web.json_response({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        if request.path != "/keys":
            return web.Response(status=404)
        self.asked += 1
        if self.waits:
            await asyncio.sleep(1)
        if self.in_pieces:
            return await _in_pieces(request, json.dumps({"keys": self.keys}).encode())
        return web.json_response({"keys": self.keys})


async def _in_pieces(request: web.Request, body: bytes) -> web.StreamResponse:
    """Answer as keys with certificates do, which are too long for one packet."""
    response = web.StreamResponse()
    await response.prepare(request)
    for start in range(0, len(body), 200):
        await response.write(body[start : start + 200])
        await asyncio.sleep(0.005)
    return response


def public(kid: str, key: Any, algorithm: str) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**made, "kid": kid, "use": "sig", "alg": algorithm}


@pytest.fixture
async def authority() -> AsyncIterator[Authority]:
    made = Authority()
    await made.start()
    yield made
    await made.stop()


def settings(authority: Authority, **more: Any) -> OAuthSettings:
    return OAuthSettings(issuer=authority.url, resource=RESOURCE, **more)


@asynccontextmanager
async def tokens_of(authority: Authority, **more: Any) -> AsyncIterator[AccessTokens]:
    async with AccessTokens(settings(authority, **more)) as made:
        await until(lambda: bool(made.issuer.keys))
        yield made


def claims(authority: Authority, **more: Any) -> dict[str, Any]:
    now = int(time.time())
    given = {"iss": authority.url, "aud": RESOURCE, "sub": "ada", "iat": now, "exp": now + 600, "scope": "naru:use"}
    return {name: value for name, value in {**given, **more}.items() if value is not ...}


def signed(authority: Authority, key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "one", **more: Any):
    headers = more.pop("headers", {})
    named = {"kid": kid} if kid else {}
    return jwt.encode(claims(authority, **more), key, algorithm, headers={**named, **headers})


async def test_a04_a_good_token_has_the_role_of_its_best_scope(authority: Authority) -> None:
    async with tokens_of(authority) as tokens:
        for scope, role in (
            ("naru:read", Access.READ),
            ("naru:use openid", Access.USER),
            ("naru:read naru:operate", Access.OPERATOR),
            ("naru:admin", Access.ADMIN),
            ("openid", Access.PUBLIC),
            ("", Access.PUBLIC),
        ):
            found = tokens.verify(signed(authority, scope=scope).encode())
            assert found is not None
            assert (found.id, found.role) == (f"{authority.url}#ada", role)
        listed = tokens.verify(signed(authority, scope=..., scp=["naru:use"]).encode())
        assert listed is not None
        assert listed.role is Access.USER
        assert tokens.verify(signed(authority, EC_KEY, "ES256", "two").encode()) is not None
        assert tokens.verify(signed(authority, aud=["x", RESOURCE]).encode()) is not None
        assert tokens.verify(signed(authority, exp=int(time.time()) - 30).encode()) is not None, "60 s of leeway"


async def test_a04_keys_that_come_in_many_pieces_are_read_to_their_end(authority: Authority) -> None:
    authority.in_pieces = True
    made = AccessTokens(settings(authority))
    await made.issuer.refresh()
    assert made.verify(signed(authority).encode()) is not None


def mutants(authority: Authority) -> dict[str, str]:
    good = signed(authority)
    head, body, signature = good.split(".")
    now = int(time.time())
    public_key = json.dumps(authority.keys[0])

    def encoded(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    none = encoded({"alg": "none", "kid": "one"})
    shared = encoded({"alg": "HS256", "kid": "one"})
    mac = hmac.digest(public_key.encode(), f"{shared}.{body}".encode(), "sha256")
    by_hand = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    return {
        "none": f"{none}.{body}.",
        "none-signed": f"{none}.{body}.{signature}",
        "shared-secret": f"{shared}.{body}.{by_hand}",
        "shared-header": f"{shared}.{body}.{signature}",
        "another-key": signed(authority, OTHER_KEY),
        "another-key-own-jwk": signed(
            authority, OTHER_KEY, headers={"jwk": public("one", OTHER_KEY, "RS256"), "jku": "http://127.0.0.1:9/"}
        ),
        "kid-unknown": signed(authority, kid="three"),
        "kid-missing": signed(authority, kid=None),
        "kid-path": signed(authority, kid="../../etc/passwd"),
        "kid-of-another-kind": signed(authority, kid="two"),
        "algorithm-not-listed": signed(authority, algorithm="RS512"),
        "critical": signed(authority, headers={"crit": ["exp"]}),
        "issuer": signed(authority, iss="https://evil.example"),
        "issuer-slash": signed(authority, iss=authority.url + "/"),
        "issuer-missing": signed(authority, iss=...),
        "audience": signed(authority, aud="http://127.0.0.1:20006/"),
        "audience-other-deployment": signed(authority, aud="https://other.example/mcp"),
        "audience-missing": signed(authority, aud=...),
        "audience-prefix": signed(authority, aud=RESOURCE + "x"),
        "expired": signed(authority, exp=now - 120),
        "expiry-missing": signed(authority, exp=...),
        "not-yet": signed(authority, nbf=now + 120),
        "subject-missing": signed(authority, sub=...),
        "subject-empty": signed(authority, sub=""),
        "body-changed": f"{head}.{encoded(claims(authority, sub='eve'))}.{signature}",
        "signature-cut": good[:-8],
        "signature-missing": f"{head}.{body}.",
        "no-json": "a.b.c",
        "empty": "..",
        "long": f"{head}.{body}.{'A' * 100_000}",
    }


async def test_s31_no_mutant_of_a_token_is_taken(authority: Authority) -> None:
    async with tokens_of(authority) as tokens:
        assert tokens.verify(signed(authority).encode()) is not None
        taken = [name for name, token in mutants(authority).items() if tokens.verify(token.encode()) is not None]
        assert taken == []
        print(f"S-31: {len(mutants(authority))} mutants, 0 taken")
        assert tokens.verify(b"\xff.\xfe.\xfd") is None


async def test_s31_unknown_keys_cause_one_fetch_however_many_tokens_name_them(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "RETRY_SECONDS", 0.3)
    async with tokens_of(authority) as tokens:
        before = authority.asked
        authority.keys.append(public("three", OTHER_KEY, "RS256"))
        token = signed(authority, OTHER_KEY, kid="three").encode()
        for number in range(500):
            tokens.verify(signed(authority, OTHER_KEY, kid=f"x{number % 5}").encode())
        assert tokens.verify(token) is None
        await until(lambda: tokens.verify(token) is not None)
        assert authority.asked - before <= 2
        assert len(tokens._seen) <= module._REMEMBERED


@pytest.mark.slow
async def test_keys_that_are_away_at_the_start_are_fetched_later(authority: Authority) -> None:
    keys, authority.keys = authority.keys, [{"kty": "oct", "kid": "one", "k": "AAAA"}, {"kid": 5}, "x"]  # type: ignore[list-item]
    async with AccessTokens(settings(authority)) as tokens:
        token = signed(authority).encode()
        await until(lambda: authority.asked > 0)
        assert tokens.verify(token) is None
        authority.keys = keys
        await until(lambda: tokens.verify(token) is not None)


async def test_a_key_that_cannot_be_used_takes_no_other_with_it(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A build of OpenSSL without a curve says so with an error that is no error of the tokens' library."""
    read = jwt.PyJWK

    def without_a_curve(entry: dict[str, Any]) -> jwt.PyJWK:
        if entry["kid"] == "odd":
            raise UnsupportedAlgorithm("Curve 1.2.3 is not supported")
        return read(entry)

    monkeypatch.setattr(jwt, "PyJWK", without_a_curve)
    authority.keys = [{**authority.keys[1], "kid": "odd"}, {**authority.keys[0], "kty": "oct"}, *authority.keys]
    made = AccessTokens(settings(authority))
    await made.issuer.refresh()
    await made.issuer.refresh()
    assert made.verify(signed(authority).encode()) is not None
    told = [record.getMessage() for record in caplog.records if "cannot be used" in record.getMessage()]
    assert len(told) == 1
    assert "'odd' (UnsupportedAlgorithm: Curve 1.2.3 is not supported)" in told[0]


async def test_keys_that_do_not_come_are_told_of(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The error of a time that is over has no words, which were taken for those that had been told last."""
    authority.waits = True
    monkeypatch.setattr(keeper, "_FETCH_SECONDS", 0.1)
    async with AccessTokens(settings(authority)):
        await until(lambda: "cannot be fetched: TimeoutError" in caplog.text)


async def test_a04_the_product_takes_tokens_and_tells_clients_where_to_get_them(
    authority: Authority, tmp_path: Path
) -> None:
    oauth = {"issuer": authority.url, "resource": RESOURCE}
    made = Settings.model_validate(
        {"server": {"oauth": oauth}, "hub": {"data_dir": tmp_path, "store": "memory:"}, "audit": {"enabled": False}}
    )
    assert auth_is_on(made.server, were_made=False)
    async with open_hub(made, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006") as client:

            async def status(token: str = "", method: str = "GET", path: str = "/api/mcp/servers") -> int:
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                return (await client.request(method, path, headers=headers)).status_code

            refused = await client.get("/mcp")
            assert refused.status_code == 401
            challenge = refused.headers["www-authenticate"]
            metadata = "http://127.0.0.1:20006/.well-known/oauth-protected-resource/mcp"
            assert f'resource_metadata="{metadata}"' in challenge
            described = (await client.get(metadata)).json()
            assert described["resource"] == RESOURCE
            assert described["authorization_servers"] == [authority.url]
            reader, ruler = signed(authority, scope="naru:read"), signed(authority, scope="naru:admin")
            async with asyncio.timeout(30):
                while await status(reader) != 200:
                    await asyncio.sleep(0.02)
            lacking = await client.delete("/api/mcp/servers/x", headers={"Authorization": f"Bearer {reader}"})
            assert lacking.status_code == 403
            assert 'error="insufficient_scope"' in lacking.headers["www-authenticate"]
            assert 'scope="naru:admin"' in lacking.headers["www-authenticate"]
            assert await status(ruler, "DELETE", "/api/mcp/servers/x") == 404
            assert await status(signed(authority, aud="https://other.example/mcp")) == 401


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"issuer": "https://h"}, "oauth.resource is needed"),
        ({"issuer": "http://h", "resource": "https://me/mcp"}, "https URL"),
        ({"issuer": "https://h", "resource": "https://me/mcp", "algorithms": ["HS256"]}, "algorithms"),
        ({"issuer": "https://h", "resource": "https://me/mcp", "algorithms": ["none"]}, "algorithms"),
    ],
)
def test_settings_that_would_take_foreign_tokens_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        OAuthSettings.model_validate(given)


async def test_issue21_a_claim_of_groups_gives_a_role_and_its_limits(authority: Authority) -> None:
    own = {"analyst": RoleSettings(access="user", servers=["hr"], requests_per_day=7)}
    mapped = {"sales": "analyst", "bosses": "admin"}
    made = settings(authority, role_claim="realm_access.roles", roles=mapped)
    async with AccessTokens(made, own) as tokens:
        await until(lambda: bool(tokens.issuer.keys))
        for claimed, role, is_limited in (
            (["sales"], Access.USER, True),
            (["x", "bosses"], Access.ADMIN, False),
            (["bosses", "sales"], Access.USER, True),
            ("sales", Access.USER, True),
            (["other"], Access.READ, False),
            ({"sales": 1}, Access.READ, False),
        ):
            token = signed(authority, scope="naru:read", realm_access={"roles": claimed})
            found = tokens.verify(token.encode())
            assert found is not None
            assert found.role is role, claimed
            assert found.reach.server("docs") is not is_limited
            assert found.reach.requests_per_day == (7 if is_limited else None)
