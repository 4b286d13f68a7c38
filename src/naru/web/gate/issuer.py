"""The authorization server of `server.oauth`: its keys, kept fresh, and what its tokens say (A-04, S-31)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any

import aiohttp
import jwt
from yarl import URL

from naru.config import OAuthSettings
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.addresses import may_carry_secrets, shown
from naru.connections.transports.http.bodies import read_body
from naru.connections.transports.http.tokens import metadata_urls
from naru.connections.wire import messages as wire
from naru.web.routes import ROLE_NAMES, Access

logger = logging.getLogger(__name__)

LEEWAY_SECONDS = 60
REFRESH_SECONDS = 600.0
"""How often the keys are fetched anew."""
RETRY_SECONDS = 30.0
"""Least time between two fetches, however many tokens name an unknown key."""
_FETCH_SECONDS = 10.0
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 50


class UnknownKeyError(jwt.PyJWTError):
    """A token names a key that the issuer has not published, as far as is known."""


class Issuer:
    """Its keys, which a task of its own keeps fresh; `claims` never waits for the network."""

    def __init__(self, settings: OAuthSettings) -> None:
        """Take whose tokens they are."""
        self.settings = settings
        self.keys: dict[str, jwt.PyJWK] = {}
        self._passed_over: list[str] = []
        """The keys that could not be used, as was told of them last."""
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._roles = (
            (settings.admin_scope, Access.ADMIN),
            (settings.operator_scope, Access.OPERATOR),
            (settings.user_scope, Access.USER),
            (settings.read_scope, Access.READ),
        )

    async def __aenter__(self) -> Issuer:
        """Begin to keep the keys."""
        self._task = asyncio.get_running_loop().create_task(self._keep(), name="token keys")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def scope_for(self, access: Access) -> str:
        """Return the one scope that a role needs."""
        return next((scope for scope, role in self._roles if role is access), self.settings.user_scope)

    def claims(self, token: bytes, audience: str) -> Mapping[str, Any]:
        """Return what a token says that this issuer signed, for this audience, and that is good now.

        Raises:
            jwt.PyJWTError: it is not; `UnknownKeyError` when that may be because of keys that are not known yet.
            ValueError, TypeError: it is no token.
        """
        header = jwt.get_unverified_header(token)
        # `jku`, `x5u`, `jwk` would let the token bring its own key; only the name of a known one counts.
        key = self.keys.get(str(header.get("kid") or ""))
        if header.get("alg") not in self.settings.algorithms:
            raise jwt.InvalidAlgorithmError(f"its signature is {str(header.get('alg'))[:20]}, which is not taken")
        if header.get("crit"):
            raise jwt.InvalidTokenError("it has critical extensions")
        if key is None:
            self._wanted.set()
            raise UnknownKeyError("it names no key that the issuer publishes")
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(self.settings.algorithms),
            audience=audience,
            issuer=self.settings.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
        )
        if not (isinstance(claims["sub"], str) and claims["sub"] and isinstance(claims["exp"], int | float)):
            raise jwt.InvalidTokenError("its subject or its expiry is none")
        try:
            json.dumps(claims, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # nothing could keep it, or compare it
            raise jwt.InvalidTokenError("it holds half of a surrogate pair, which is no text") from None
        return claims

    def role(self, claims: Mapping[str, Any]) -> str:
        """Return the name of the role that claims give, by the claim of the settings or by scope; empty for none."""
        return self._claimed(claims) or self._scoped(claims)

    def _claimed(self, claims: Mapping[str, Any]) -> str:
        if not self.settings.role_claim:
            return ""
        value: Any = claims
        for part in self.settings.role_claim.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        has = {value} if isinstance(value, str) else {str(one) for one in value} if isinstance(value, list) else set()
        return next((role for named, role in self.settings.roles.items() if named in has), "")

    def _scoped(self, claims: Mapping[str, Any]) -> str:
        given = claims.get("scope", claims.get("scp", ""))
        scopes = set(given.split()) if isinstance(given, str) else {str(one) for one in given or ()}
        return next((ROLE_NAMES[role] for scope, role in self._roles if scope in scopes), "")

    async def refresh(self) -> None:
        """Fetch the keys now. Raises aiohttp's errors, OSError, TimeoutError, ValueError."""
        self.keys = await self._fetch()

    async def _keep(self) -> None:
        told = ""
        while True:
            self._wanted.clear()
            try:
                await self.refresh()
                told = ""
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                said = str(error) or type(error).__name__
                if said != told:
                    logger.warning("the keys of %s cannot be fetched: %s", self.settings.issuer, said)
                told = said
            await asyncio.sleep(RETRY_SECONDS if self.keys else 1.0)
            if self.keys:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), REFRESH_SECONDS - RETRY_SECONDS)

    async def _fetch(self) -> dict[str, jwt.PyJWK]:
        timeout = aiohttp.ClientTimeout(total=_FETCH_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session:
            address = self.settings.jwks_url or await self._discover(session)
            document = await _get(session, address)
        found: dict[str, jwt.PyJWK] = {}
        passed_over: list[str] = []
        entries = document.get("keys")
        for entry in (entries if isinstance(entries, list) else [])[:_MOST_KEYS]:
            if not isinstance(entry, dict) or not entry.get("kid"):
                continue
            if entry.get("use", "sig") == "sig" and entry.get("kty") != "oct":
                try:
                    found[str(entry["kid"])] = jwt.PyJWK(entry)
                except Exception as error:  # noqa: BLE001  # of libraries; one key takes no other with it
                    passed_over.append(f"{str(entry['kid'])[:80]!r} ({type(error).__name__}: {str(error)[:200]})")
        if passed_over and passed_over != self._passed_over:
            logger.warning(
                "tokens that name these keys of %s are not taken, since the keys cannot be used: %s",
                self.settings.issuer,
                "; ".join(passed_over),
            )
        self._passed_over = passed_over
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
        if response.status != 200:
            raise ValueError(f"{shown(URL(address))} answered HTTP {response.status}")
        try:
            value = wire.decode(await read_body(response, _MOST_BYTES))
        except LinkError as error:
            raise ValueError(f"{shown(URL(address))}: {error.message}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{shown(URL(address))} is no JSON object")
    return value
