"""Bearer tokens for upstream servers: given, or fetched and renewed from an authorization server (R-11, S-12, S-30).

`auth` of a server's config: `{"bearer": "${TOKEN}"}`, or `{"tokenUrl" or "issuer", "clientId", "clientSecret"?,
"refreshToken"?, "scope"?, "clientAuth"?}`. Credentials go to the address in the record and nowhere that a server names.
With `"grant": "authorization_code"` a person signs in instead (`oauth`).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import aiohttp
from yarl import URL

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.http.addresses import may_carry_secrets, shown
from naru.connections.transports.http.bodies import read_body
from naru.connections.wire import messages as wire
from naru.deadlines import bound, uptime
from naru.errors import StoreError
from naru.messages import JsonObject
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.secrets.common_rows import Lease
from naru.stores.secrets.redact import REDACTOR
from naru.stores.shared.commons import ALONE
from naru.tasks import let_end

logger = logging.getLogger(__name__)

_ANSWER_BYTES = 64 * 1024
_SECONDS = 10.0
_LEEWAY_SECONDS = 30.0
"""A token is renewed so long before it expires, since a request takes its time."""
_LONGEST_LIFE = 1e10
"""Seconds: three hundred years."""
_QUIET_SECONDS = 60.0
"""A token younger than this that is refused is not renewed again: no storm (R-11)."""
LAST_SECONDS = 2.0
"""How long the end of this process waits for a renewal that is under way."""
_TURN_SECONDS = 30.0
"""How long one process waits for another that renews the same token."""
LeaseOf = Callable[[str], Lease]
"""Returns a lease of a name that one process of an installation can hold at a time."""
_KEYS = frozenset(
    {"bearer", "tokenUrl", "issuer", "clientId", "clientSecret", "clientAuth", "refreshToken", "scope", "grant"}
)


@dataclass(frozen=True, slots=True)
class Grant:
    """How tokens are fetched."""

    token_url: str
    issuer: str
    client_id: str
    client_secret: str
    client_auth: str
    """`basic` or `post`."""
    refresh_token: str
    scope: str
    resource: str
    """The server that the token is for (RFC 8707)."""


class TokenSource:
    """One server's token; any number of requests share one renewal."""

    def __init__(
        self, grant: Grant, session: aiohttp.ClientSession, kept: Path | None, lease: LeaseOf = ALONE.lease
    ) -> None:
        """Fetch tokens by a grant; other processes that have the file `kept` renew them in turn, by `lease`."""
        self._grant = grant
        self._session = session
        self._kept = kept
        self._lease = lease
        self._secrets = REDACTOR.passing()
        self._refresh_token = grant.refresh_token
        self._token_url = grant.token_url
        self._token = ""
        self._renew_at = self._expires_at = 0.0
        self._fetched_at = -_QUIET_SECONDS
        self._renewal: asyncio.Task[str] | None = None
        self._now = uptime

    async def current(self) -> str:
        """Return a token that is not about to expire. Raises LinkError."""
        if self._token and self._now() < self._renew_at:
            return self._token
        try:
            return await self._renew()
        except LinkError as error:
            if error.failure.needs_auth or self._now() >= self._expires_at:
                raise
            return self._token  # Good for seconds yet, and the authority may be back by then.

    async def instead_of(self, refused: str) -> str:
        """Return another token than one that was refused; empty when a fresh one was. Raises LinkError."""
        if self._token != refused:
            return self._token
        if self._now() - self._fetched_at < _QUIET_SECONDS:
            return ""
        return await self._renew()

    def note(self, challenge: str) -> None:
        """Do nothing: what to ask for is in the record."""

    async def _renew(self) -> str:
        """Renew in a task of its own: a refresh token is good once, and whoever asked may go before the answer came."""
        if self._renewal is None:
            self._renewal = asyncio.ensure_future(self._renewed())
            self._renewal.add_done_callback(self._over)
        return await asyncio.shield(self._renewal)

    def _over(self, renewal: asyncio.Task[str]) -> None:
        self._renewal = None
        if not renewal.cancelled():
            renewal.exception()  # seen, even if all who waited have gone

    async def close(self) -> None:
        """Give up what is being renewed, after a moment: the refresh token that was sent is void, the next not kept."""
        if self._renewal is not None:
            await let_end(self._renewal, LAST_SECONDS)

    async def _renewed(self) -> str:
        if not self._refresh_token:
            return await self._fetched()
        try:  # a refresh token is good once, whichever process sends it
            async with self._lease(f"token/{name_of(self._grant)}").held(_TURN_SECONDS) as is_ours:
                if not is_ours:
                    raise _unavailable("another process is renewing the token.")
                self._refresh_token = await asyncio.to_thread(self._recall) or self._refresh_token
                return await self._fetched()
        except StoreError as error:
            raise _unavailable(f"the token cannot be renewed: {error.message}", error.remedy) from error

    async def _fetched(self) -> str:
        answer = await self._ask()
        token = str(answer["access_token"])
        life = seconds_of_life(answer) or float("inf")
        self._fetched_at = self._now()
        self._expires_at = self._fetched_at + life
        self._renew_at = self._fetched_at + max(life - _LEEWAY_SECONDS, life / 2)
        self._token = token
        rotated = answer.get("refresh_token")
        if isinstance(rotated, str) and rotated and rotated != self._refresh_token:
            self._refresh_token = rotated
            await asyncio.to_thread(self._keep, rotated)
        for one in (token, self._refresh_token):
            if one:
                self._secrets.learn_passing(one)
        return token

    async def _ask(self) -> JsonObject:
        if not self._token_url:
            self._token_url = await self._discover()
        grant = self._grant
        form = {"resource": grant.resource}
        if grant.scope:
            form["scope"] = grant.scope
        if self._refresh_token:
            form |= {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        else:
            form["grant_type"] = "client_credentials"
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if grant.client_secret and grant.client_auth != "post":
            pair = f"{quote_plus(grant.client_id)}:{quote_plus(grant.client_secret)}"  # RFC 6749, 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = grant.client_id
            if grant.client_secret:
                form["client_secret"] = grant.client_secret
        status, answer = await self._talk("POST", self._token_url, headers, urlencode(form).encode())
        if status == 200 and isinstance(answer.get("access_token"), str) and answer["access_token"]:
            return answer
        raise self._refused(status, answer)

    async def _discover(self) -> str:
        """Find the token endpoint of an issuer, whose own word about its name must match to the byte (RFC 8414)."""
        issuer = self._grant.issuer
        for address in metadata_urls(issuer):
            status, answer = await self._talk("GET", address, {"Accept": "application/json"}, None)
            if status != 200:
                continue
            if answer.get("issuer") != issuer:
                raise _unusable(f"{shown(URL(address))} calls itself another issuer than {issuer}.")
            found = answer.get("token_endpoint")
            if isinstance(found, str) and may_carry_secrets(found):
                return found
            raise _unusable(f"{issuer} names no https token endpoint.")
        raise _unavailable(f"{issuer} publishes no metadata.", "Check auth.issuer, or give auth.tokenUrl.")

    async def _talk(
        self, verb: str, address: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, JsonObject]:
        where = shown(URL(address))
        try:
            with bound(_SECONDS):
                asked = self._session.request(verb, address, data=body, headers=headers, allow_redirects=False)
                async with asked as response:
                    try:
                        value = wire.decode(await read_body(response, _ANSWER_BYTES))
                    except (ValueError, LinkError):
                        value = None
                    return response.status, value if isinstance(value, dict) else {}
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _unavailable(f"no token from {where}: {str(error) or type(error).__name__}.") from error

    def _refused(self, status: int, answer: JsonObject) -> LinkError:
        where = shown(URL(self._token_url))
        said = f"{answer.get('error', '')} {answer.get('error_description', '')}".strip()[:200]
        message = f"the authorization server {where} gave no token (HTTP {status}{', ' + said if said else ''})."
        if status == 429 or status >= 500 or not answer.get("error"):
            return _unavailable(message)
        failure = Failure(
            "connect", "unauthorized", message, "Correct `auth` of the server, then connect it again.", needs_auth=True
        )
        return LinkError(failure)

    def _recall(self) -> str:
        """Return the refresh token that was kept last, by whichever process. Raises StoreError."""
        if self._kept is None or not self._kept.parent.is_dir():
            return ""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), file_lock(self._kept):
            found = json.loads(self._kept.read_bytes())["refreshToken"]
            self._secrets.learn_passing(str(found))
            return str(found)
        return ""

    def _keep(self, refresh_token: str) -> None:
        """Keep a rotated refresh token, since the one in the record is void now (S-34: mode 0600)."""
        if self._kept is None:
            return
        try:
            self._kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._kept, json.dumps({"refreshToken": refresh_token}).encode(), backup=False)
        except (OSError, StoreError) as error:
            logger.warning("a renewed refresh token could not be kept, so a restart will need a new one: %s", error)


def grant_of(auth: Any, resource: URL) -> Grant | str:
    """Read `auth` of a config: a grant, or the bearer token that it gives; empty for what others call `oauth`.

    Raises:
        LinkError: names the field that cannot be used.
    """
    if isinstance(auth, str):
        return "" if auth.lower() == "oauth" else auth
    if not isinstance(auth, dict):
        raise _misconfigured("auth must be an object or a token.")
    unknown = sorted(set(auth) - _KEYS)
    if unknown:
        raise _misconfigured(f"auth.{unknown[0]} does not exist. Known: {', '.join(sorted(_KEYS))}.")
    if "bearer" in auth:
        if len(auth) > 1 or not auth["bearer"]:
            raise _misconfigured("auth.bearer must be a token, and stand alone.")
        return str(auth["bearer"])
    given = {key: str(auth.get(key) or "") for key in _KEYS}
    is_bare = not given["clientSecret"] and not given["refreshToken"] and not given["tokenUrl"]
    if given["grant"] == "authorization_code" or (given["clientId"] and is_bare):
        return ""  # a person signs in with it
    if not given["clientId"] or not (given["tokenUrl"] or given["issuer"]):
        raise _misconfigured("auth needs bearer, or clientId with tokenUrl or issuer.")
    for key in ("tokenUrl", "issuer"):
        if given[key] and not may_carry_secrets(given[key]):
            raise _misconfigured(f"auth.{key} must be an https URL (http on this machine alone).")
    if not given["clientSecret"] and not given["refreshToken"]:
        raise _misconfigured("auth needs clientSecret or refreshToken.")
    return Grant(
        token_url=given["tokenUrl"],
        issuer=given["issuer"],
        client_id=given["clientId"],
        client_secret=given["clientSecret"],
        client_auth=given["clientAuth"] or "basic",
        refresh_token=given["refreshToken"],
        scope=given["scope"],
        resource=str(resource.with_fragment(None).with_user(None)),
    )


def name_of(grant: Grant) -> str:
    """Return a file name that stands for a grant and tells nothing of it."""
    return hashlib.sha256(repr(grant).encode()).hexdigest()[:32] + ".json"


def seconds_of_life(answer: JsonObject) -> float:
    """Return how long a token is good by its authority's word; 0 where it says nothing that can be meant."""
    told: Any = answer.get("expires_in")
    if isinstance(told, str):  # Some authorities write the number as text.
        with contextlib.suppress(ValueError):
            told = float(told)
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return float(told) if is_number and told is not None and 0 < told < _LONGEST_LIFE else 0.0


def metadata_urls(issuer: str) -> list[str]:
    """Return where an issuer may publish what it is, in order (RFC 8414, OpenID Connect)."""
    url = URL(issuer)
    origin, path = str(url.origin()), url.path.rstrip("/")
    return [
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}/.well-known/openid-configuration{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ][: 3 if path else 2]


def _misconfigured(message: str) -> LinkError:
    return LinkError(Failure("config", "bad_config", message, "Correct the server's record.", retryable=False))


def _unusable(message: str) -> LinkError:
    return LinkError(Failure("connect", "unauthorized", message, "Correct `auth` of the server.", needs_auth=True))


def _unavailable(message: str, remedy: str = "See the authorization server.") -> LinkError:
    return LinkError(Failure("connect", "no_token", message, remedy))
