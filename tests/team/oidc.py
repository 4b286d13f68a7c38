"""The official SDK's authorization server as an OpenID Connect issuer, a hub whose console it signs persons in to."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import aiohttp
import httpx2 as httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.server.auth.provider import AuthorizationCode, AuthorizationParams
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import App, open_app
from tests.team.authority import Provider, sdk_authority

BASE_URL = "https://127.0.0.1:20006"
BACK = f"{BASE_URL}/oauth/session"
CLIENT, SECRET = "naru-console", "a-client-secret-that-is-long-enough"
CONSENT = "<!doctype html><html lang=en><title>Yes?</title><h1>May Naru know you?</h1><a href='{to}'>Allow</a></html>"
SCOPES = "openid profile email naru:use naru:admin"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class WithIdToken(OAuthToken):
    """What the token endpoint gives."""

    id_token: str | None = None


class OpenIdProvider(Provider):
    """Says who signed in, too; a test changes what it says, and how it signs that."""

    def __init__(self) -> None:
        super().__init__()
        self.issuer = ""
        self.told: dict[str, Any] = {"groups": ["staff"], "preferred_username": "ada@example.com"}
        """Claims, over those that every ID token has; `...` leaves one out."""
        self.sign: Callable[[Mapping[str, Any]], str | None] = signed
        self.metadata: dict[str, Any] = {}
        self.more: dict[str, Any] | None = None
        """What its userinfo endpoint says; None when it has none."""
        self.keys = [published("one", KEY)]
        self.answer: dict[str, str] = {}
        """Parameters that the answer has instead of the code, or beside it."""
        self.asks = False
        """It shows a page with a link before it says yes."""
        self.is_lax = False
        """It takes a code again and again."""
        self.asked: list[dict[str, str]] = []
        """What each question to its authorization endpoint said."""
        self._nonces: dict[str, str] = {}

    def serves(self, redirect_uri: str) -> None:
        """Register the hub's client."""
        self.clients[CLIENT] = OAuthClientInformationFull(
            client_id=CLIENT,
            client_secret=SECRET,
            redirect_uris=[redirect_uri],  # type: ignore[list-item]
            token_endpoint_auth_method="client_secret_basic",
            grant_types=["authorization_code", "refresh_token"],
            scope=SCOPES,
        )

    async def begin(self, request: Request) -> Response:
        """Take the question; its nonce is for the ID token, the rest is the SDK's."""
        said = dict(request.query_params)
        self.asked.append(said)
        self._nonces[said["code_challenge"]] = said["nonce"]
        if self.answer.get("error"):
            return RedirectResponse(f"{said['redirect_uri']}?{urlencode({'state': said['state'], **self.answer})}", 302)
        yes = f"/authorize?{urlencode(said)}"
        return HTMLResponse(CONSENT.format(to=escape(yes))) if self.asks else RedirectResponse(yes, 302)

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        more = urlencode(self.answer)
        return await super().authorize(client, params) + (f"&{more}" if more else "")

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        given = await super().exchange_authorization_code(client, authorization_code)
        if self.is_lax:
            self.codes[authorization_code.code] = authorization_code
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": authorization_code.subject,
            "nonce": self._nonces[authorization_code.code_challenge],
            "iat": now,
            "exp": now + 300,
            **self.told,
        }
        token = self.sign({name: value for name, value in claims.items() if value is not ...})
        return WithIdToken(**given.model_dump(), id_token=token)

    async def describe(self, request: Request) -> Response:
        about = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/begin",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        if self.more is not None:
            about["userinfo_endpoint"] = f"{self.issuer}/me"
        return JSONResponse({**about, **self.metadata})

    async def tell(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        found = await self.load_access_token(token)
        return JSONResponse({"sub": found.subject, **(self.more or {})} if found else {}, 200 if found else 401)

    async def publish(self, request: Request) -> Response:
        return JSONResponse({"keys": self.keys})


def signed(claims: Mapping[str, Any], key: Any = KEY, algorithm: str = "RS256", **headers: Any) -> str:
    """Return a token of these claims."""
    return jwt.encode(dict(claims), key, algorithm, headers={"kid": "one", **headers})


def published(kid: str, key: Any) -> dict[str, Any]:
    """Return the public half of a key as an issuer publishes it."""
    made = jwt.get_algorithm_by_name("RS256").to_jwk(key.public_key(), as_dict=True)
    return {**made, "kid": kid, "use": "sig", "alg": "RS256"}


@asynccontextmanager
async def issuer(redirect_uri: str = BACK, *, host: str = "127.0.0.1") -> AsyncIterator[OpenIdProvider]:
    """Serve the issuer, which calls itself by that name of this machine."""
    provider = OpenIdProvider()
    more = [
        Route("/.well-known/oauth-authorization-server", provider.describe),
        Route("/begin", provider.begin),
        Route("/keys", provider.publish),
        Route("/me", provider.tell),
    ]
    provider.serves(redirect_uri)
    async with sdk_authority(provider, more) as (_, address):
        provider.issuer = address.replace("127.0.0.1", host)
        yield provider


def settings(provider: OpenIdProvider, folder: Path, **more: Any) -> Settings:
    """Return a hub's settings: `staff` of the issuer are users, `bosses` admins."""
    oauth = {
        "issuer": provider.issuer,
        "resource": f"{BASE_URL}/mcp",
        "client_id": CLIENT,
        "client_secret": SECRET,
        "role_claim": "groups",
        "roles": {"bosses": "admin", "staff": "user"},
        **more.pop("oauth", {}),
    }
    return Settings.model_validate(
        {
            "hub": {"data_dir": folder, "store": "memory:"},
            "server": {"oauth": oauth, "rate_limit_per_minute": 0, **more.pop("server", {})},
            **more,
        }
    )


@dataclass
class Visitor:
    """A browser on the hub: its cookies, and where it is led."""

    hub: Hub
    app: App
    provider: OpenIdProvider
    base_url: str = BASE_URL
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        transport = httpx.ASGITransport(self.app.asgi)
        self.http = httpx.AsyncClient(
            transport=transport, base_url=self.base_url, headers=self.headers, timeout=120, follow_redirects=False
        )

    def other(self, **headers: str) -> Visitor:
        """Return somebody else's browser."""
        return Visitor(self.hub, self.app, self.provider, self.base_url, headers)

    async def begins(self, **body: str) -> str:
        """Press "Sign in with"; return where that leads."""
        begun = await self.http.post("/api/session/sign-in", json=body)
        assert begun.status_code == 200, begun.text
        return str(begun.json()["url"])

    async def agrees(self, url: str) -> str:
        """Go to the issuer as a person does; return the address that leads back."""
        return await agreed(self.provider, url)

    async def comes_back(self, url: str) -> httpx.Response:
        """Follow the address that leads back."""
        parts = urlsplit(url)
        return await self.http.get(f"{parts.path}?{parts.query}")

    async def signs_in(self, **body: str) -> httpx.Response:
        """Do all of it."""
        return await self.comes_back(await self.agrees(await self.begins(**body)))

    async def who(self) -> Any:
        """Return whom the hub takes this browser for; the status when for nobody."""
        asked = await self.http.get("/api/session")
        return asked.json() if asked.status_code == 200 else asked.status_code

    @property
    def session(self) -> str:
        """The value of the session's cookie; empty without one."""
        return next((one.value or "" for one in self.http.cookies.jar if one.name.endswith("-naru")), "")


async def agreed(provider: OpenIdProvider, url: str) -> str:
    """Say yes at the issuer; return the address that leads back."""
    async with aiohttp.ClientSession() as browser:
        while url.startswith(provider.issuer):
            async with browser.get(url, allow_redirects=False) as response:
                assert response.status in (302, 303), await response.text()
                url = str(response.url.join(type(response.url)(response.headers["Location"])))
    return url


def question(url: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return dict(parse_qsl(urlsplit(url).query))


@asynccontextmanager
async def visited(folder: Path, **more: Any) -> AsyncIterator[Visitor]:
    """Open an issuer and a hub that it signs persons in to; gives a browser there."""
    base_url, says = more.pop("base_url", BASE_URL), more.pop("says", [])
    async with issuer(more.pop("redirect_uri", BACK)) as provider:
        made = settings(provider, folder, **more)
        async with open_hub(made, backend=ScriptedBackend(says), asks_for_keys=True) as hub, open_app(hub) as app:
            yield Visitor(hub, app, provider, base_url)
