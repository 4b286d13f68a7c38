"""Access tokens of an authorization server: Naru as an OAuth 2.1 resource server (A-04, S-31; RFC 9068, 9728)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import aiohttp
import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from yarl import URL

from naru.config import OAuthSettings, RoleSettings
from naru.connections.transports.addresses import may_carry_secrets, shown
from naru.connections.transports.tokens import metadata_urls
from naru.connections.wire import messages as wire
from naru.persons import WHOLE, Reach
from naru.web.gate.access import role_of
from naru.web.gate.principal import Principal
from naru.web.routes import Access, Endpoint

logger = logging.getLogger(__name__)

LEEWAY_SECONDS = 60
REFRESH_SECONDS = 600.0
"""How often the keys are fetched anew."""
RETRY_SECONDS = 30.0
"""Least time between two fetches, however many tokens name an unknown key."""
_FETCH_SECONDS = 10.0
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 50
_MOST_TOKEN_BYTES = 8 * 1024
_REMEMBERED = 1_000
_WELL_KNOWN = "/.well-known/oauth-protected-resource"


class AccessTokens:
    """Verifies tokens against keys that a task of its own keeps fresh; `verify` never waits for the network."""

    def __init__(self, settings: OAuthSettings, roles: Mapping[str, RoleSettings] | None = None) -> None:
        """Take whose tokens they are, and the roles of the installation's own."""
        self.settings = settings
        self._own_roles = roles or {}
        self._keys: dict[str, jwt.PyJWK] = {}
        self._seen: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._roles = (
            (settings.admin_scope, Access.ADMIN),
            (settings.operator_scope, Access.OPERATOR),
            (settings.user_scope, Access.USER),
            (settings.read_scope, Access.READ),
        )

    async def __aenter__(self) -> AccessTokens:
        """Begin to keep the keys."""
        self._task = asyncio.get_running_loop().create_task(self._keep(), name="token keys")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def metadata_url(self) -> str:
        """Where clients find what this resource is (RFC 9728): named in every 401."""
        resource = URL(self.settings.resource)
        return str(resource.origin()) + _WELL_KNOWN + resource.path.rstrip("/")

    def scope_for(self, access: Access) -> str:
        """Return the one scope that a role needs."""
        return next((scope for scope, role in self._roles if role is access), self.settings.user_scope)

    def verify(self, token: bytes) -> Principal | None:
        """Return whom a token stands for; None when it is not one of ours, not for us, not yet or no longer good."""
        digest = hashlib.sha256(token).digest()
        known = self._seen.get(digest)
        if known is not None:
            if known[1] > time.time():
                return known[0]
            del self._seen[digest]
        claims = self._claims(token)
        if claims is None:
            return None
        access, reach = self._claimed(claims) or (self._role(claims), WHOLE)
        principal = Principal(f"{claims['iss']}#{claims['sub']}", access, str(claims["sub"]), reach=reach)
        self._seen[digest] = (principal, claims["exp"] + LEEWAY_SECONDS)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return principal

    def _claims(self, token: bytes) -> Mapping[str, Any] | None:
        if len(token) > _MOST_TOKEN_BYTES:
            return None
        try:
            header = jwt.get_unverified_header(token)
            # `jku`, `x5u`, `jwk` would let the token bring its own key; only the name of a known one counts.
            key = self._keys.get(str(header.get("kid") or ""))
            if header.get("alg") not in self.settings.algorithms or header.get("crit"):
                return None
            if key is None:
                self._wanted.set()
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(self.settings.algorithms),
                audience=self.settings.resource,
                issuer=self.settings.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            logger.info("a token was refused: %s", type(error).__name__)
            return None
        usable = isinstance(claims.get("sub"), str) and claims["sub"] and isinstance(claims.get("exp"), int | float)
        return claims if usable else None

    def _claimed(self, claims: Mapping[str, Any]) -> tuple[Access, Reach] | None:
        """Return what the role allows that a claim of the settings is mapped to; None when it is to none."""
        value: Any = claims
        for part in self.settings.role_claim.split(".") if self.settings.role_claim else ():
            value = value.get(part) if isinstance(value, Mapping) else None
        if not self.settings.role_claim:
            return None
        has = {value} if isinstance(value, str) else {str(one) for one in value} if isinstance(value, list) else set()
        role = next((role for named, role in self.settings.roles.items() if named in has), None)
        return role_of(role, self._own_roles) if role is not None else None

    def _role(self, claims: Mapping[str, Any]) -> Access:
        given = claims.get("scope", claims.get("scp", ""))
        scopes = set(given.split()) if isinstance(given, str) else {str(one) for one in given or ()}
        return next((role for scope, role in self._roles if scope in scopes), Access.PUBLIC)

    async def _keep(self) -> None:
        told = ""
        while True:
            self._wanted.clear()
            try:
                self._keys = await self._fetch()
                told = ""
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                if str(error) != told:
                    logger.warning("the keys of %s cannot be fetched: %s", self.settings.issuer, error)
                told = str(error)
            await asyncio.sleep(RETRY_SECONDS if self._keys else 1.0)
            if self._keys:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), REFRESH_SECONDS - RETRY_SECONDS)

    async def _fetch(self) -> dict[str, jwt.PyJWK]:
        timeout = aiohttp.ClientTimeout(total=_FETCH_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            address = self.settings.jwks_url or await self._discover(session)
            document = await _get(session, address)
        found: dict[str, jwt.PyJWK] = {}
        entries = document.get("keys")
        for entry in (entries if isinstance(entries, list) else [])[:_MOST_KEYS]:
            with contextlib.suppress(jwt.PyJWTError, ValueError, TypeError, AttributeError, KeyError):
                if entry.get("kid") and entry.get("use", "sig") == "sig" and entry.get("kty") != "oct":
                    found[str(entry["kid"])] = jwt.PyJWK(entry)
        if not found:
            raise ValueError(f"{shown(URL(address))} holds no usable key")
        return found

    async def _discover(self, session: aiohttp.ClientSession) -> str:
        for address in metadata_urls(self.settings.issuer):
            with contextlib.suppress(ValueError):
                document = await _get(session, address)
                found = document.get("jwks_uri")
                is_its_own = document.get("issuer") == self.settings.issuer
                if is_its_own and isinstance(found, str) and may_carry_secrets(found):
                    return found
        raise ValueError("the issuer publishes no jwks_uri under its own name")


async def _get(session: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError and aiohttp's errors."""
    async with session.get(address, allow_redirects=False) as response:
        body = await response.content.read(_MOST_BYTES + 1)
        if response.status != 200 or len(body) > _MOST_BYTES:
            raise ValueError(f"{shown(URL(address))} answered HTTP {response.status} with {len(body)} bytes")
    value = wire.decode(body)
    if not isinstance(value, dict):
        raise ValueError(f"{shown(URL(address))} is no JSON object")
    return value


def endpoints(tokens: AccessTokens | None) -> list[Endpoint]:
    """Return the metadata of the protected resource, public as RFC 9728 wants; no row when tokens are not taken."""
    if tokens is None:
        return []
    settings = tokens.settings

    async def describe(request: Request) -> Response:
        """Say whose tokens are taken, and for what."""
        scopes = [settings.read_scope, settings.user_scope, settings.operator_scope, settings.admin_scope]
        return JSONResponse(
            {
                "resource": settings.resource,
                "authorization_servers": [settings.issuer],
                "bearer_methods_supported": ["header"],
                "scopes_supported": scopes,
                "resource_name": "Naru",
            }
        )

    paths = dict.fromkeys((_WELL_KNOWN, _WELL_KNOWN + URL(settings.resource).path.rstrip("/")))
    return [Endpoint(path, ("GET",), describe, Access.PUBLIC) for path in paths]
