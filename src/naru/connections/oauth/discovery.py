"""Who gives tokens for a server: its challenge (RFC 6750), its metadata (RFC 9728), its authority's (RFC 8414)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from yarl import URL

from naru.connections.oauth.fetch import Fetch, refused, unavailable
from naru.connections.transports.http.addresses import is_same_origin, shown
from naru.connections.transports.http.tokens import metadata_urls
from naru.messages import JsonObject

VERSION = "2025-11-25"
_PARAMETER = re.compile(r'(?<![A-Za-z0-9_-])([A-Za-z_][A-Za-z0-9_-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_RESOURCE = "/.well-known/oauth-protected-resource"
_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server said when it refused us."""

    metadata_url: str = ""
    scope: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Authority:
    """An authorization server, by its own word."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    auth_methods: tuple[str, ...] = ()
    """How a client may show who it is at the token endpoint; empty says nothing."""
    scopes: tuple[str, ...] = ()
    takes_documents: bool = False
    """It reads a client's metadata from the URL that is its id."""
    names_itself: bool = False
    """It says its `iss` with every code (RFC 9207)."""
    userinfo_endpoint: str = ""
    """Where it says more of a person than in an ID token (OpenID Connect)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a sign-in needs to know."""

    authority: Authority
    resource: str
    """What tokens are asked for (RFC 8707)."""
    scope: str
    """What to ask for; empty leaves it to the authority."""


def read_challenge(header: str) -> Challenge:
    """Read a `WWW-Authenticate`; what is not said is empty."""
    said = {key.lower(): quoted or plain for key, quoted, plain in _PARAMETER.findall(header)}
    return Challenge(said.get("resource_metadata", ""), clean_scope(said.get("scope", "")), said.get("error", ""))


def clean_scope(text: object) -> str:
    """Return the scopes of a text that are written as scopes are, once each and in order."""
    return " ".join(dict.fromkeys(_SCOPE.findall(text))) if isinstance(text, str) else ""


async def discover(fetch: Fetch, server: URL, challenge: Challenge, issuer: str = "") -> Found:
    """Find out who gives tokens for a server.

    Args:
        fetch: the way out.
        server: the server's address.
        challenge: what it said.
        issuer: the authority of the record; a server that names another one is not followed.

    Raises:
        LinkError: it cannot be found, or must not be trusted.
    """
    described = await _describe(fetch, server, challenge)
    resource, advertised, scopes = _canonical(server), "", ""
    if described is not None:
        resource = _own_resource(described, server)
        advertised, scopes = _advertised(described), " ".join(_texts(described.get("scopes_supported")))
    if issuer and advertised and not _same_issuer(advertised, issuer):
        raise refused(
            f"The server names {advertised} as its authority; its record says {issuer}.",
            "Correct auth.issuer in the server's record, if that is meant.",
        )
    wanted = issuer or advertised
    authority = await authority_of(fetch, wanted) if wanted else await _legacy_authority(fetch, server)
    scope = challenge.scope or clean_scope(scopes)
    if scope and "offline_access" in authority.scopes and "offline_access" not in scope.split():
        scope = f"{scope} offline_access"
    return Found(authority, resource, scope)


async def _describe(fetch: Fetch, server: URL, challenge: Challenge) -> JsonObject | None:
    """Return what the server says of itself as a protected resource; None when it says nothing."""
    origin, path = str(server.origin()), server.path.rstrip("/")
    places = [f"{origin}{_RESOURCE}{path}"] if path else []
    places.append(f"{origin}{_RESOURCE}")
    if challenge.metadata_url:
        places.insert(0, challenge.metadata_url)
    for place in dict.fromkeys(places):
        status, document = await fetch.get(place, VERSION)
        if status >= 500 or status == 429:
            raise unavailable(f"{shown(URL(place))} answered HTTP {status}.")
        if status == 200 and document.get("authorization_servers") is not None:
            return document
        if status == 200 and document.get("resource") is not None:
            return document
    return None


def _own_resource(described: JsonObject, server: URL) -> str:
    """Return the resource of its metadata, which must be the server or what it is below of. Raises LinkError."""
    said = described.get("resource")
    if not isinstance(said, str):
        raise refused("The server's metadata says no resource, so a token for it could be for anybody.")
    try:
        url = URL(said)
        below = url.path.rstrip("/")
        is_own = is_same_origin(url, server) and (
            server.path.rstrip("/") == below or server.path.startswith(f"{below}/")
        )
    except ValueError:
        is_own = False
    if not is_own:
        raise refused(f"The server's metadata speaks of another resource: {said[:200]}.")
    return said


def _advertised(described: JsonObject) -> str:
    issuers = _texts(described.get("authorization_servers"))
    if not issuers:
        raise refused("The server's metadata names no authorization server.")
    return issuers[0]


async def authority_of(fetch: Fetch, issuer: str, *, needs_pkce: bool = True) -> Authority:
    """Return an authority whose own word about its name is the issuer's, to the letter (RFC 8414, section 3.3).

    Raises:
        LinkError: it does not answer, or must not be trusted. One that does not say that it has PKCE is refused where
            that is needed: where nothing else binds a code to who asked for it.
    """
    fetch.check(issuer)
    for address in metadata_urls(issuer):
        status, document = await fetch.get(address, VERSION)
        if status >= 500:
            raise unavailable(f"{shown(URL(address))} answered HTTP {status}.")
        if status != 200 or "token_endpoint" not in document:
            continue
        if not _same_issuer(str(document.get("issuer")), issuer):
            raise refused(f"{shown(URL(address))} calls itself another issuer than {issuer}.")
        return _read_authority(fetch, document, needs_pkce=needs_pkce)
    raise unavailable(f"{issuer} publishes no metadata.")


async def _legacy_authority(fetch: Fetch, server: URL) -> Authority:
    """Return the server itself as its authority, as it was before servers described themselves (2025-03-26)."""
    origin = str(server.origin())
    status, document = await fetch.get(f"{origin}/.well-known/oauth-authorization-server", "2025-03-26")
    if status >= 500:
        raise unavailable(f"{origin} answered HTTP {status}.")
    if status == 200 and "token_endpoint" in document:
        if not _same_issuer(str(document.get("issuer")), origin):
            raise refused(f"{origin} calls itself another issuer.")
        return _read_authority(fetch, document)
    return Authority(origin, f"{origin}/authorize", f"{origin}/token", f"{origin}/register")


def _read_authority(fetch: Fetch, document: JsonObject, *, needs_pkce: bool = True) -> Authority:
    """Read an authority's metadata. Raises LinkError when it lacks PKCE that is needed, or leads where nobody goes."""

    def endpoint(name: str) -> str:
        value = document.get(name)
        if not isinstance(value, str) or not value:
            return ""
        fetch.check(value)
        return value

    issuer = str(document["issuer"])
    if needs_pkce and "S256" not in _texts(document.get("code_challenge_methods_supported")):
        raise refused(f"{issuer} does not say that it supports PKCE with S256, so codes could be stolen.")
    authority = Authority(
        issuer=issuer,
        authorization_endpoint=endpoint("authorization_endpoint"),
        token_endpoint=endpoint("token_endpoint"),
        registration_endpoint=endpoint("registration_endpoint"),
        revocation_endpoint=endpoint("revocation_endpoint"),
        auth_methods=_texts(document.get("token_endpoint_auth_methods_supported")),
        scopes=_texts(document.get("scopes_supported")),
        takes_documents=document.get("client_id_metadata_document_supported") is True,
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        userinfo_endpoint=endpoint("userinfo_endpoint"),
    )
    if not authority.authorization_endpoint or not authority.token_endpoint:
        raise refused(f"{issuer} names no endpoint for codes or for tokens.")
    return authority


def _same_issuer(one: str, other: str) -> bool:
    """Compare issuers to the letter; one that is an origin alone may have a slash or not."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    try:
        return longer == f"{shorter}/" and shorter == str(URL(shorter).origin())
    except ValueError:
        return False


def _canonical(server: URL) -> str:
    return str(server.with_fragment(None).with_user(None).with_query(None))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
