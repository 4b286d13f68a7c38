"""The section `server.oauth`: access tokens of an authorization server beside Naru's own keys (A-04)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class OAuthSettings(BaseModel):
    """Whose tokens are taken, and what their scopes allow; off while `issuer` is empty."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

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

    @model_validator(mode="after")
    def _names_its_resource(self) -> OAuthSettings:
        if self.issuer and not self.resource:
            raise ValueError("oauth.resource is needed with oauth.issuer: tokens of other services must not be taken")
        for name in ("issuer", "resource", "jwks_url"):
            value = getattr(self, name)
            if value and not value.startswith(("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")):
                raise ValueError(f"oauth.{name} must be an https URL (http on this machine alone)")
        return self
