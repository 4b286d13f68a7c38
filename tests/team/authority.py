"""The official SDK's authorization server over real HTTP, a person who says yes, a server that wants its tokens."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
from aiohttp import web
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from tests.loopback import listening
from tests.web.conftest import served

SCOPES = ["read", "write"]


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps clients, codes and tokens in memory; whoever is `subject` says yes at once."""

    def __init__(self) -> None:
        self.subject = "ada"
        self.life = 3600
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refreshed = 0
        self.revoked: list[str] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or ["read"],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=self.subject,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        code = self.codes.pop(authorization_code.code)
        return self._give(code.client_id, code.scopes, code.resource, code.subject)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client: Any, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        self.refreshed += 1
        return self._give(refresh_token.client_id, scopes, refresh_token.resource, refresh_token.subject)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found is not None and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.revoked.append(token.token)
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _give(self, client_id: str, scopes: list[str], resource: str | None, subject: str | None) -> OAuthToken:
        token, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        about: dict[str, Any] = {"client_id": client_id, "scopes": scopes, "resource": resource, "subject": subject}
        self.access[token] = AccessToken(token=token, expires_at=int(time.time()) + self.life, **about)
        self.refresh[refresh] = RefreshToken(token=refresh, **about)
        return OAuthToken(
            access_token=token, expires_in=self.life, refresh_token=refresh, scope=" ".join(scopes), token_type="Bearer"
        )


@dataclass
class Protected:
    """An MCP server of the stateless era that answers with the subject of the token that it got."""

    provider: Provider
    issuer: str
    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of every request."""
    described: dict[str, Any] = field(default_factory=dict)
    """Overrides of what it says of itself."""

    async def answer(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        found = await self.provider.load_access_token(token)
        where = f"{self.url.removesuffix('/mcp')}/.well-known/oauth-protected-resource/mcp"
        if found is None or found.resource != self.url:
            said = f'Bearer resource_metadata="{where}", scope="read"'
            return web.Response(status=401, headers={"WWW-Authenticate": said})
        message = await request.json()
        if (
            message.get("method") == "tools/call"
            and message["params"]["name"] == "write"
            and "write" not in found.scopes
        ):
            said = f'Bearer error="insufficient_scope", scope="write", resource_metadata="{where}"'
            return web.Response(status=403, headers={"WWW-Authenticate": said})
        if "id" not in message:
            return web.Response(status=202)
        if message["method"] == "initialize":
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error}, status=404)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": self._result(message, found)})

    def _result(self, message: dict[str, Any], token: AccessToken) -> dict[str, Any]:
        told: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if message["method"] == "server/discover":
            return {**told, "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        if message["method"] == "tools/list":
            names = ["whoami", "write", f"only_{token.subject}"]
            hints = {"readOnlyHint": True}
            schema = {"type": "object"}
            listed = [{"name": one, "description": one, "inputSchema": schema, "annotations": hints} for one in names]
            return {**told, "tools": listed}
        return {**told, "content": [{"type": "text", "text": str(token.subject)}]}

    async def describe(self, request: web.Request) -> web.Response:
        about = {"resource": self.url, "authorization_servers": [self.issuer], "scopes_supported": SCOPES}
        return web.json_response({**about, **self.described})


@asynccontextmanager
async def sdk_authority(
    provider: Provider | None = None, more: Sequence[BaseRoute] = ()
) -> AsyncIterator[tuple[Provider, str]]:
    """Serve the SDK's authorization server, and more pages of it; gives its provider and its issuer."""
    provider = provider or Provider()
    app = Starlette(routes=more)
    async with served(app) as issuer:
        options = ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES, default_scopes=["read"])
        routes = create_auth_routes(
            provider,
            AnyHttpUrl(issuer),
            client_registration_options=options,
            revocation_options=RevocationOptions(enabled=True),
        )
        app.router.routes.extend(routes)
        yield provider, issuer


@asynccontextmanager
async def protected(provider: Provider, issuer: str) -> AsyncIterator[Protected]:
    """Serve an MCP server that wants this authority's tokens."""
    made = Protected(provider, issuer)
    app = web.Application()
    app.router.add_post("/mcp", made.answer)
    app.router.add_get("/.well-known/oauth-protected-resource/mcp", made.describe)
    runner, port = await listening(app)
    made.url = f"http://127.0.0.1:{port}/mcp"
    try:
        yield made
    finally:
        await runner.cleanup()


async def say_yes(url: str) -> dict[str, str]:
    """Go where a person would go, and return what comes back."""
    async with aiohttp.ClientSession() as browser, browser.get(url, allow_redirects=False) as response:
        assert response.status in (302, 303), await response.text()
        return dict(parse_qsl(urlsplit(response.headers["Location"]).query))
