"""Access tokens of an authorization server: Naru as an OAuth 2.1 resource server (A-04, S-31; RFC 9068, 9728)."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from yarl import URL

from naru.config import OAuthSettings, RoleSettings
from naru.persons import WHOLE
from naru.web.gate.access import role_of
from naru.web.gate.issuer import LEEWAY_SECONDS, Issuer
from naru.web.gate.principal import Principal
from naru.web.routes import Access, Endpoint

logger = logging.getLogger(__name__)

_MOST_TOKEN_BYTES = 8 * 1024
_REMEMBERED = 1_000
_WELL_KNOWN = "/.well-known/oauth-protected-resource"


class AccessTokens:
    """Verifies tokens against the issuer's keys; `verify` never waits for the network."""

    def __init__(self, settings: OAuthSettings, roles: Mapping[str, RoleSettings] | None = None) -> None:
        """Take whose tokens they are, and the roles of the installation's own."""
        self.settings = settings
        self.issuer = Issuer(settings)
        self._own_roles = roles or {}
        self._seen: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()

    async def __aenter__(self) -> AccessTokens:
        """Begin to keep the keys."""
        await self.issuer.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.issuer.__aexit__()

    @property
    def metadata_url(self) -> str:
        """Where clients find what this resource is (RFC 9728): named in every 401."""
        resource = URL(self.settings.resource)
        return str(resource.origin()) + _WELL_KNOWN + resource.path.rstrip("/")

    @property
    def sign_in_name(self) -> str:
        """What the issuer is called where persons sign in to the console with it; empty where they cannot."""
        return (self.settings.name or str(URL(self.settings.issuer).host)) if self.settings.client_id else ""

    def scope_for(self, access: Access) -> str:
        """Return the one scope that a role needs."""
        return self.issuer.scope_for(access)

    def may_hold_session(self, person: str) -> bool:
        """Tell whether this person could have signed in to the console as it is set up now."""
        return bool(self.settings.client_id) and person.startswith(f"{self.settings.issuer}#")

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
        access, reach = role_of(self.issuer.role(claims), self._own_roles) or (Access.PUBLIC, WHOLE)
        principal = Principal(f"{claims['iss']}#{claims['sub']}", access, str(claims["sub"]), reach=reach)
        self._seen[digest] = (principal, claims["exp"] + LEEWAY_SECONDS)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return principal

    def _claims(self, token: bytes) -> Mapping[str, Any] | None:
        if len(token) > _MOST_TOKEN_BYTES:
            return None
        try:
            return self.issuer.claims(token, self.settings.resource)
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            logger.info("a token was refused: %s", type(error).__name__)
            return None


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
