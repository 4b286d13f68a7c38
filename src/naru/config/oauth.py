"""The section `server.oauth`: an authorization server's access tokens and persons beside Naru's own keys."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, SecretStr, model_validator

from naru.config.section import SECTION

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class OAuthSettings(BaseModel):
    """Whose tokens are taken, and what their scopes allow; off while `issuer` is empty."""

    model_config = SECTION

    issuer: str = ""
    """The authorization server's issuer URL, compared to the letter with `iss` of a token."""
    resource: str = ""
    """Naru's own address as clients know it, such as `https://tools.example.com/mcp`; tokens must name it as `aud`."""
    jwks_url: str = ""
    """Where its keys are; empty asks the issuer's metadata."""
    algorithms: list[Algorithm] = ["RS256", "ES256", "EdDSA", "PS256"]
    """Signatures that are taken; never `none` or a shared secret."""
    read_scope: str = "naru:read"
    """Scope that allows to look."""
    user_scope: str = "naru:use"
    """Scope that allows to call tools and models."""
    operator_scope: str = "naru:operate"
    """Scope that allows to connect servers and approve tools."""
    admin_scope: str = "naru:admin"
    """Scope that allows everything."""
    role_claim: str = ""
    """Claim that names groups or roles, such as `groups` or `realm_access.roles`; empty goes by scopes alone."""
    roles: dict[str, str] = {}
    """Value of that claim → role, one of ours or of `server.roles`; of several the first in this order counts."""

    client_id: str = ""
    """Naru's client at the issuer; with it persons sign in to the console there (OpenID Connect). Its redirect URI is
    the console's address and `oauth/session`, such as `https://tools.example.com/oauth/session`."""
    client_secret: SecretStr = SecretStr("")
    """The client's secret, or `file:PATH` of a file that holds it; empty is a public client (PKCE alone)."""
    scopes: list[str] = ["openid", "profile", "email"]
    """What is asked for when a person signs in to the console; `openid` must be among it."""
    name: str = ""
    """What the issuer is called on the console's sign-in page; empty takes its host."""

    @model_validator(mode="after")
    def _persons_are_the_issuers(self) -> OAuthSettings:
        if self.client_id and not self.issuer:
            raise ValueError("oauth.client_id is of no use without oauth.issuer, where it is a client")
        if self.client_id and "openid" not in self.scopes:
            raise ValueError("oauth.scopes must hold openid: without it the issuer does not say who signed in")
        if self.client_id and self.client_id == self.resource:
            raise ValueError("oauth.client_id and oauth.resource must differ: an ID token would be an access token")
        return self

    @model_validator(mode="after")
    def _names_its_resource(self) -> OAuthSettings:
        if self.issuer and not self.resource:
            raise ValueError("oauth.resource is needed with oauth.issuer: tokens of other services must not be taken")
        for name in ("issuer", "resource", "jwks_url"):
            value = getattr(self, name)
            if value and not value.startswith(("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")):
                raise ValueError(f"oauth.{name} must be an https URL (http on this machine alone)")
        return self
