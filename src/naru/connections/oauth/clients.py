"""What Naru is at an authority: a client of the record, a document that it publishes, or one that registers itself."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote_plus

from yarl import URL

from naru.connections.oauth.discovery import Authority
from naru.connections.oauth.fetch import Fetch, refused
from naru.connections.transports.http.addresses import shown
from naru.messages import JsonObject

NAME = "Naru"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_METHODS = ("none", "client_secret_basic", "client_secret_post")
"""How we can show who we are, best first."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client id at one issuer, and how it shows that it is it."""

    client_id: str
    client_secret: str
    method: str
    issuer: str
    redirect_uris: tuple[str, ...] = ()
    expires_at: int = 0
    """Epoch seconds until which the secret is good; 0 is for ever."""
    scope: str = ""
    """What it was registered for; empty where that is not known."""

    def with_credentials(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return a form for the token endpoint, and headers, that say who we are (RFC 6749, 2.3.1)."""
        form = {**form, "client_id": self.client_id}  # with Basic too: the official SDK's server looks for it there
        if self.method == "client_secret_basic" and self.client_secret:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
            return form, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        if self.method == "client_secret_post" and self.client_secret:
            form["client_secret"] = self.client_secret
        return form, {}

    def kept(self) -> dict[str, Any]:
        """Return it as the vault keeps it."""
        return asdict(self)


def read_client(kept: Mapping[str, Any] | None) -> Client | None:
    """Return a client that the vault kept."""
    return None if kept is None else Client(**{**kept, "redirect_uris": tuple(kept["redirect_uris"])})


def of_record(auth: Mapping[str, Any], authority: Authority) -> Client | None:
    """Return the client of a server's record (`auth.clientId`); None when it has none."""
    client_id, secret = str(auth.get("clientId") or ""), str(auth.get("clientSecret") or "")
    if not client_id:
        return None
    given = {"basic": "client_secret_basic", "post": "client_secret_post"}.get(str(auth.get("clientAuth") or ""), "")
    offered = authority.auth_methods or ("client_secret_basic",)
    chosen = next((one for one in _METHODS[1:] if one in offered), "client_secret_post")
    return Client(client_id, secret, (given or chosen) if secret else "none", authority.issuer)


def of_document(url: str, authority: Authority, redirect_uri: str) -> Client | None:
    """Return the client that is a document at a URL, where the authority reads such; None elsewhere."""
    usable = authority.takes_documents and url.startswith("https://") and URL(url).path not in ("", "/")
    return Client(url, "", "none", authority.issuer, (redirect_uri,)) if usable else None


def is_good(client: Client, authority: Authority, redirect_uri: str, scope: str) -> bool:
    """Tell whether a kept client is of this authority, may ask for this and be sent back to this address."""
    if client.issuer != authority.issuer or redirect_uri not in client.redirect_uris:
        return False
    if client.scope and not set(scope.split()) <= set(client.scope.split()):
        return False
    return not client.expires_at or client.expires_at > time.time() + 60


def described(redirect_uris: list[str], scope: str = "", methods: tuple[str, ...] = ()) -> JsonObject:
    """Return what Naru says of itself as a client (RFC 7591); also its metadata document."""
    is_native = all((URL(one).host or "") in _LOOPBACK for one in redirect_uris)
    method = next((one for one in _METHODS if one in (methods or ("client_secret_basic",))), "none")
    return {
        "client_name": NAME,
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_native else "web",
        **({"scope": scope} if scope else {}),
    }


async def register(fetch: Fetch, authority: Authority, redirect_uri: str, scope: str) -> Client:
    """Register at an authority (RFC 7591). Raises LinkError."""
    if not authority.registration_endpoint:
        raise refused(
            f"{authority.issuer} lets no client register itself.",
            "Register Naru there by hand, and put clientId (and clientSecret) into `auth` of the server's record.",
        )
    wanted = described([redirect_uri], scope, authority.auth_methods)
    status, answer = await fetch.post_json(authority.registration_endpoint, wanted)
    client_id = answer.get("client_id")
    if status not in (200, 201) or not isinstance(client_id, str) or not client_id:
        said = f"{answer.get('error', '')} {answer.get('error_description', '')}".strip()[:200]
        where = shown(URL(authority.registration_endpoint))
        raise refused(f"{where} did not register Naru (HTTP {status}{', ' + said if said else ''}).")
    secret = str(answer.get("client_secret") or "")
    method = str(answer.get("token_endpoint_auth_method") or wanted["token_endpoint_auth_method"])
    if method not in _METHODS:
        raise refused(f"{authority.issuer} registered Naru for {method!r}, which it cannot use.")
    expires = answer.get("client_secret_expires_at")
    lasts = int(expires) if secret and isinstance(expires, int) and not isinstance(expires, bool) else 0
    registered = answer.get("scope")
    covered = registered if isinstance(registered, str) else scope
    # Some name a method and give no secret: what they registered shows by its id alone who it is.
    return Client(client_id, secret, method if secret else "none", authority.issuer, (redirect_uri,), lasts, covered)
