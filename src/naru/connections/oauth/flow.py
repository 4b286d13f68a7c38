"""From a person's yes to tokens: where to go, the answer that comes back, the exchange (OAuth 2.1, RFC 9207)."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from yarl import URL

from naru.connections.oauth.clients import Client, read_client
from naru.connections.oauth.discovery import Authority, Found, clean_scope
from naru.connections.oauth.fetch import Fetch, refused, unavailable
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.addresses import shown
from naru.connections.transports.http.tokens import seconds_of_life
from naru.messages import JsonObject

_VOID = frozenset({"invalid_grant", "invalid_client"})
"""By these an authority says that it takes a refresh token never again, or who it was given to (RFC 6749, 5.2)."""


class VoidError(LinkError):
    """An authority takes a sign-in's tokens never again."""


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What a question to an authority is made of, and its answer judged by."""

    state: str
    verifier: str
    redirect_uri: str
    resource: str
    """What tokens are asked for (RFC 8707); empty names none."""
    scope: str
    """What to ask for; empty leaves it to the authority."""
    authority: Authority
    client: Client


@dataclass(frozen=True, slots=True)
class Pending(AuthorizationRequest):
    """A sign-in that waits for its answer; used once."""

    server: str
    url: str
    """The server's address, which the tokens will be good for."""
    owner: str
    """Whose tokens they will be; empty for everybody's."""
    asker: str
    """The person who began, and alone may finish."""
    browser: str
    """Hash of what the asker's browser holds; empty when the asker comes back with a key."""
    expires_at: float

    def kept(self) -> dict[str, Any]:
        """Return it as the vault keeps it."""
        return asdict(self)


def read_pending(kept: Mapping[str, Any]) -> Pending:
    """Return a sign-in that the vault kept."""
    client = read_client(kept["client"])
    assert client is not None
    lists = {name: tuple(kept["authority"][name]) for name in ("auth_methods", "scopes")}
    return Pending(**{**kept, "client": client, "authority": Authority(**{**kept["authority"], **lists})})


@dataclass(frozen=True, slots=True)
class Tokens:
    """What an authority gave, and where it is renewed and revoked."""

    url: str
    """The server that it is for: sent nowhere else, also if the server's record is changed."""
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    client: Client
    access_token: str
    refresh_token: str
    scope: str
    life: float
    """Seconds; 0 when the authority did not say."""
    expires_at: float
    """Epoch seconds; 0 when it does not expire, as far as is known."""
    signed_in: str = ""
    """Tells one sign-in from another; stays when they are renewed."""

    def kept(self) -> dict[str, Any]:
        """Return it as the vault keeps it."""
        return asdict(self)


def read_tokens(kept: Mapping[str, Any] | None) -> Tokens | None:
    """Return tokens that the vault kept."""
    if kept is None:
        return None
    client = read_client(kept["client"])
    assert client is not None
    return Tokens(**{**kept, "client": client})


def secret_text() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def digest(text: str) -> str:
    """Return what stands for a secret where it need not be known."""
    return hashlib.sha256(text.encode()).hexdigest()


def consent_url(asked: AuthorizationRequest, more: Mapping[str, str] | None = None) -> str:
    """Return where the person says yes. Raises LinkError when that is no address for a browser."""
    url = URL(asked.authority.authorization_endpoint)
    if url.scheme not in ("http", "https"):
        raise refused(f"{asked.authority.issuer} wants a browser to open {url.scheme}:, which is no web page.")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(asked.verifier.encode()).digest()).decode().rstrip("=")
    question = {
        "response_type": "code",
        "client_id": asked.client.client_id,
        "redirect_uri": asked.redirect_uri,
        "state": asked.state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **({"resource": asked.resource} if asked.resource else {}),
        **({"scope": asked.scope} if asked.scope else {}),
        **({"prompt": "consent"} if "offline_access" in asked.scope.split() else {}),
        **(more or {}),
    }
    return str(url.update_query(question))


def check_sender(authority: Authority, answer: Mapping[str, str]) -> None:
    """Refuse an answer that another authority gave (RFC 9207). Raises LinkError."""
    issuer = answer.get("iss")
    if issuer is None and authority.names_itself:
        raise refused(f"The answer does not say that it comes from {authority.issuer}; it was not used.")
    if issuer is not None and issuer != authority.issuer:
        raise refused(f"The answer comes from {issuer[:200]!r}, not from {authority.issuer}; it was not used.")


def code_of(authority: Authority, answer: Mapping[str, str]) -> str:
    """Return the code of an authority's answer. Raises LinkError."""
    check_sender(authority, answer)
    if answer.get("error"):
        said = f"{answer['error']} {answer.get('error_description', '')}".strip()[:200]
        raise refused(f"{authority.issuer} did not sign you in: {said}.")
    code = answer.get("code", "")
    if not code:
        raise refused("The answer holds no code.")
    return code


async def redeem(fetch: Fetch, asked: AuthorizationRequest, code: str) -> JsonObject:
    """Return what an authority gives for a code. Raises LinkError."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": asked.redirect_uri,
        "code_verifier": asked.verifier,
        **({"resource": asked.resource} if asked.resource else {}),
    }
    form, headers = asked.client.with_credentials(form)
    status, answer = await fetch.post_form(asked.authority.token_endpoint, form, headers)
    if status != 200:
        raise not_given(asked.authority.token_endpoint, status, answer)
    return answer


async def exchange(fetch: Fetch, pending: Pending, code: str) -> Tokens:
    """Exchange a code for tokens. Raises LinkError."""
    answer = await redeem(fetch, pending, code)
    bare = Tokens(
        url=pending.url,
        resource=pending.resource,
        issuer=pending.authority.issuer,
        token_endpoint=pending.authority.token_endpoint,
        revocation_endpoint=pending.authority.revocation_endpoint,
        client=pending.client,
        access_token="",
        refresh_token="",
        scope=pending.scope,
        life=0.0,
        expires_at=0.0,
        signed_in=secrets.token_hex(8),
    )
    return given(bare, answer)


async def renew(fetch: Fetch, tokens: Tokens) -> Tokens:
    """Renew tokens by their refresh token.

    Raises:
        VoidError: the authority takes them never again.
        LinkError: they could not be renewed this time.
    """
    form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token, "resource": tokens.resource}
    form, headers = tokens.client.with_credentials(form)
    status, answer = await fetch.post_form(tokens.token_endpoint, form, headers)
    if status != 200:
        error = not_given(tokens.token_endpoint, status, answer)
        if not error.failure.needs_auth:
            raise error
        if answer["error"] in _VOID:
            raise VoidError(error.failure)
        raise unavailable(f"{error.failure.message} The sign-in is kept, since that does not say that it is over.")
    return given(tokens, answer)


async def revoke(fetch: Fetch, tokens: Tokens) -> None:
    """Tell the authority that the tokens are not used any more (RFC 7009). Raises LinkError when it cannot be told."""
    if not tokens.revocation_endpoint:
        return
    for hint, token in (("refresh_token", tokens.refresh_token), ("access_token", tokens.access_token)):
        if not token:
            continue
        status, answer = 0, dict[str, Any]()
        form, headers = tokens.client.with_credentials({"token": token, "token_type_hint": hint})
        # The official SDK's server wants the secret in the form as well, whatever the client's method is.
        for more in ({}, {"client_secret": tokens.client.client_secret}):
            status, answer = await fetch.post_form(tokens.revocation_endpoint, {**form, **more}, headers)
            if status < 400:
                break
        if status >= 400:
            where = shown(URL(tokens.revocation_endpoint))
            raise unavailable(f"{where} did not revoke the {hint} (HTTP {status} {answer.get('error', '')}).")


def given(before: Tokens, answer: JsonObject) -> Tokens:
    """Return tokens as an authority gave them; what it leaves out stays. Raises LinkError."""
    token, kind = answer.get("access_token"), answer.get("token_type")
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
        raise unavailable(f"{before.issuer} gave no token.")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise refused(f"{before.issuer} gave a token of another kind than Bearer.")
    life = seconds_of_life(answer)
    refresh = answer.get("refresh_token")
    return replace(
        before,
        access_token=token,
        refresh_token=refresh if isinstance(refresh, str) and refresh else before.refresh_token,
        scope=clean_scope(answer.get("scope")) or before.scope,
        life=life,
        expires_at=time.time() + life if life else 0.0,
    )


def not_given(endpoint: str, status: int, answer: JsonObject) -> LinkError:
    """Return the error of an authority that gave no token."""
    where = shown(URL(endpoint))
    said = f"{answer.get('error', '')} {answer.get('error_description', '')}".strip()[:200]
    message = f"the authorization server {where} gave no token (HTTP {status}{', ' + said if said else ''})."
    if status == 429 or status >= 500 or not answer.get("error"):
        return unavailable(message)
    return refused(message, "Sign in again.")


def wanted(found: Found, granted: str) -> str:
    """Return the scopes to ask for: what was granted before, and what is wanted now."""
    return clean_scope(f"{granted} {found.scope}")
