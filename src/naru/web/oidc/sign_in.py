"""From a browser's question to the person who answers: the code flow of OpenID Connect with PKCE, state and nonce.

Who it is says the ID token alone, which comes from the issuer itself and is checked as if it had not: signature, `iss`,
`aud`, `azp`, `nonce`, `iat`, `exp` (OpenID Connect Core 3.1.3.7; RFC 9207, 9700).
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jwt
from yarl import URL

from naru.config import OAuthSettings
from naru.connections.oauth import clients, flow
from naru.connections.oauth.discovery import Authority, authority_of
from naru.connections.oauth.fetch import Fetch
from naru.connections.oauth.flow import AuthorizationRequest
from naru.connections.oauth.signins import SignInSettings
from naru.connections.state.faults import LinkError
from naru.errors import ConfigError
from naru.messages import JsonObject
from naru.stores.secrets.redact import REDACTOR
from naru.web.gate.issuer import LEEWAY_SECONDS, REFRESH_SECONDS, Issuer, UnknownKeyError
from naru.web.oidc.question import Question
from naru.web.oidc.refusals import RefusedError

_MOST_TOKEN_BYTES = 64 * 1024
_MOST_ANSWERED = 10_000
_PAUSE_SECONDS = 5.0
"""An issuer that could not be asked is not asked again before that: whoever comes is nobody yet."""
_NAMES = ("preferred_username", "email", "name", "sub")


@dataclass(frozen=True, slots=True)
class Arrived:
    """Who signed in."""

    id: str
    """`iss#sub`, as with access tokens: the same person on every face."""
    role: str
    name: str


class ConsoleSignIn:
    """One for an installation."""

    def __init__(self, issuer: Issuer, surroundings: SignInSettings) -> None:
        """Take the issuer and its keys, and which private hosts it may lead to. Raises ConfigError."""
        self._issuer = issuer
        self._settings = issuer.settings
        self._surroundings = surroundings
        self._secret = _secret(self._settings)
        self._asking = asyncio.Lock()
        self._authority: tuple[Authority | LinkError, float] | None = None
        """What the issuer says of itself, or why that is not known, and until when that is good."""
        self._answered: OrderedDict[str, int] = OrderedDict()

    async def address(self, question: Question, redirect_uri: str) -> str:
        """Return where the person signs in. Raises LinkError when the issuer cannot be asked, or not be trusted."""
        asked = self._asked(await self._known(), question, redirect_uri)
        return flow.consent_url(asked, {"nonce": question.nonce})

    async def person(self, question: Question, redirect_uri: str, answer: Mapping[str, str]) -> Arrived:
        """Return who answered a question that is theirs; each is answered once. Raises RefusedError."""
        if question.is_late:
            raise RefusedError("late")
        if question.state in self._answered:
            raise RefusedError("not_waited")
        self._answered[question.state] = question.begun
        while len(self._answered) > _MOST_ANSWERED:
            self._answered.popitem(last=False)
        with _told_as("unreachable"):
            authority = await self._known()
        with _told_as("mixed_up"):
            flow.check_sender(authority, answer)
        with _told_as("denied" if answer.get("error") == "access_denied" else "refused"):
            code = flow.code_of(authority, answer)
        given = await self._redeemed(self._asked(authority, question, redirect_uri), code)
        claims = await self._claims(given, question)
        # Scopes count where the issuer says that it granted them: many leave out what they do not know and say nothing.
        scope = given.get("scope")
        claims = {**claims, **({"scope": scope} if isinstance(scope, str) else {})}
        return self._arrived(await self._with_groups(claims, given, authority))

    async def _redeemed(self, asked: AuthorizationRequest, code: str) -> JsonObject:
        try:
            async with self._fetch() as fetch:
                return await flow.redeem(fetch, asked, code)
        except LinkError as error:
            raise RefusedError("no_token" if error.failure.needs_auth else "unreachable", error.message) from error

    async def _claims(self, given: JsonObject, question: Question) -> Mapping[str, Any]:
        """Return what the ID token says. Raises RefusedError."""
        token = given.get("id_token")
        if not isinstance(token, str) or len(token) > _MOST_TOKEN_BYTES:
            raise RefusedError("wrong_token", "There is no ID token in the answer: is openid in server.oauth.scopes?")
        try:
            claims = await self._read(token.encode())
            _check(jwt.get_unverified_header(token), claims, self._settings.client_id)
        except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError) as error:
            raise RefusedError("clock", _clocks(token)) from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise RefusedError("wrong_token", f"{error}.") from error
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), question.nonce.encode()):
            raise RefusedError("wrong_token", "It was given for another sign-in (nonce).")
        if claims["iat"] < question.begun - LEEWAY_SECONDS:
            raise RefusedError("clock", _clocks(token))
        return claims

    async def _read(self, token: bytes) -> Mapping[str, Any]:
        try:
            return self._issuer.claims(token, self._settings.client_id)
        except UnknownKeyError:  # a new key, or none was fetched yet: the issuer's own answer is worth a look
            try:
                await self._issuer.refresh()
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                raise RefusedError("unreachable", str(error) or type(error).__name__) from error
            return self._issuer.claims(token, self._settings.client_id)

    async def _with_groups(
        self, claims: Mapping[str, Any], given: JsonObject, authority: Authority
    ) -> Mapping[str, Any]:
        """Return claims with those that the issuer has at its userinfo endpoint, where `role_claim` may be there alone.

        Raises:
            RefusedError: it does not answer, or speaks of somebody else (OpenID Connect Core 5.3.4).
        """
        first = self._settings.role_claim.split(".")[0]
        token = given.get("access_token")
        if not first or first in claims or not authority.userinfo_endpoint or not isinstance(token, str):
            return claims
        with _told_as("unreachable"):
            async with self._fetch() as fetch:
                status, more = await fetch.get(authority.userinfo_endpoint, token=token)
        if status != 200:
            raise RefusedError("unreachable", f"Its userinfo endpoint answered HTTP {status}.")
        if more.get("sub") != claims["sub"]:
            raise RefusedError("wrong_token", "Its userinfo endpoint speaks of somebody else (sub).")
        return {**{name: more[name] for name in (first, *_NAMES) if name in more}, **claims}

    def _arrived(self, claims: Mapping[str, Any]) -> Arrived:
        role = self._issuer.role(claims)
        name = next(str(claims[one]) for one in _NAMES if isinstance(claims.get(one), str) and claims[one])
        name = "".join(letter for letter in name if letter.isprintable())[:100]
        if not role:
            raise RefusedError("no_role", name)
        return Arrived(f"{claims['iss']}#{claims['sub']}", role, name)

    def _asked(self, authority: Authority, question: Question, redirect_uri: str) -> AuthorizationRequest:
        client = clients.of_record({"clientId": self._settings.client_id, "clientSecret": self._secret}, authority)
        assert client is not None
        return AuthorizationRequest(
            state=question.state,
            verifier=question.verifier,
            redirect_uri=redirect_uri,
            resource="",
            scope=" ".join(self._settings.scopes),
            authority=authority,
            client=client,
        )

    async def _known(self) -> Authority:
        """Return the issuer by its own word, asked at most as often as it may change. Raises LinkError."""
        async with self._asking:
            if self._authority is None or self._authority[1] < time.monotonic():
                self._authority = await self._found()
        found = self._authority[0]
        if isinstance(found, LinkError):
            raise LinkError(found.failure)
        return found

    async def _found(self) -> tuple[Authority | LinkError, float]:
        # A nonce binds a code to its browser as well (RFC 9700, 2.1.1), and who has the secret alone can redeem it:
        # large issuers have PKCE and do not say so.
        try:
            async with self._fetch() as fetch:
                found = await authority_of(fetch, self._settings.issuer, needs_pkce=not self._secret)
        except LinkError as error:
            return error, time.monotonic() + _PAUSE_SECONDS
        return found, time.monotonic() + REFRESH_SECONDS

    def _fetch(self) -> Fetch:
        return Fetch(URL(self._settings.issuer), hosts=self._surroundings.hosts, lookup=self._surroundings.lookup)


def _check(header: Mapping[str, Any], claims: Mapping[str, Any], client_id: str) -> None:
    """Check what an ID token must say beyond what every token must. Raises jwt.InvalidTokenError."""
    if str(header.get("typ", "JWT")).upper() != "JWT":
        raise jwt.InvalidTokenError("it is a token of another kind than an ID token")
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and "azp" not in claims:
        raise jwt.InvalidTokenError("it is for several audiences and names no authorized party (azp)")
    if claims.get("azp", client_id) != client_id:
        raise jwt.InvalidTokenError("another client is its authorized party (azp)")
    if not isinstance(claims.get("iat"), int | float):
        raise jwt.InvalidTokenError("it does not say when it was issued (iat)")


def _clocks(token: str) -> str:
    """Say how far the clocks are apart, by a token whose signature was good and that was made just now."""
    claims = jwt.decode(token, options={"verify_signature": False})
    issued = claims.get("iat")
    if not isinstance(issued, int | float):
        return "It does not say when it was issued."
    apart = round(issued - time.time())
    return f"By this machine's clock it was issued {abs(apart)} s {'in the future' if apart > 0 else 'ago'}."


@contextmanager
def _told_as(code: str) -> Iterator[None]:
    try:
        yield
    except LinkError as error:
        raise RefusedError(code, error.message) from error


def _secret(settings: OAuthSettings) -> str:
    """Return the client's secret, from the settings or the file that they name. Raises ConfigError."""
    given = settings.client_secret.get_secret_value()
    if given.startswith("file:"):
        path = Path(given.removeprefix("file:")).expanduser()
        try:
            given = path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"server.oauth.client_secret names {path}, which cannot be read: {type(error).__name__}.",
                remedy="Put the client's secret into that file, readable for Naru alone.",
            ) from error
    if given:
        REDACTOR.learn([given])
    return given
