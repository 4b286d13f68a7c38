"""Whether a key is asked for, and why (S-01, A-01): open to one person at one machine, to nobody by accident.

Once a hub asks for keys it does so for good: what made it ask may be seen in one request and not in the next.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from starlette.types import Scope

from naru.config import ServerSettings
from naru.errors import StoreError
from naru.web.gate.hosts import host_name, is_loopback

logger = logging.getLogger(__name__)

_OF_PROXIES = frozenset({b"forwarded", b"via", b"x-real-ip", b"x-forwarded-"})
"""Headers that only something between the client and us adds; the last begins the names of several."""
FIRST_KEY = "A first admin key was written to {}; read it there, then delete that file."


class KeysMade(Protocol):
    """What is asked about the keys here."""

    def were_made(self) -> bool:
        """Tell whether a key was ever made here, revoked or not. Raises StoreError."""
        ...

    def ensure_admin(self) -> Path | None:
        """Make the first admin key when there is none; return the file to read it from. Raises StoreError."""
        ...


def why_keys(settings: ServerSettings, *, were_made: bool) -> str:
    """Return why a key is asked for from the start, in words that end a sentence; empty when none is."""
    if settings.auth != "auto":
        return "server.auth is on" if settings.auth == "on" else ""
    if not is_loopback(settings.host):
        return f"server.host {settings.host!r} is reachable from other machines"
    if beyond := _names_beyond(settings):
        return f"server.allowed_hosts names {beyond}, which is not this machine alone"
    if settings.api_key.get_secret_value():
        return "server.api_key is set"
    if settings.oauth.issuer:
        return "server.oauth.issuer is set"
    return "keys were made here" if were_made else ""


def auth_is_on(settings: ServerSettings, *, were_made: bool) -> bool:
    """Tell whether a key is asked for from the start (A-01)."""
    return bool(why_keys(settings, were_made=were_made))


def who_may_come(settings: ServerSettings, *, were_made: bool) -> str:
    """Say in one line who may come."""
    if why := why_keys(settings, were_made=were_made):
        return f"Whoever has a key may come: {why}."
    beyond = _names_beyond(settings) or ("" if is_loopback(settings.host) else settings.host)
    if beyond:
        return f"EVERYBODY who reaches {beyond} may come, without a key: server.auth is off."
    if settings.auth == "off":
        return "Everybody on this machine may come, without a key: server.auth is off."
    return "Everybody on this machine may come, without a key, until one is made or a proxy stands before it."


def _names_beyond(settings: ServerSettings) -> str:
    """Return the first host of the settings that others than this machine know it by."""
    return next((host for host in settings.allowed_hosts if not is_loopback(host_name(host))), "")


class Admission:
    """Whether this hub asks for keys now."""

    def __init__(self, settings: ServerSettings, keys: KeysMade | None) -> None:
        self._is_auto = settings.auth == "auto"
        self._keys = keys
        self.reason = why_keys(settings, were_made=keys is not None and self._is_auto and keys.were_made())
        """Why keys are asked for; empty while none is."""
        self.began: Callable[[], None] = lambda: None
        """Called as soon as keys are asked for."""

    async def take_note(self, scope: Scope) -> None:
        """Ask for keys from now on if this request shows that a proxy stands before us."""
        if self._is_auto and not self.reason and (proxy := _proxy_in(scope)):
            await self._ask_with_first_key(proxy)

    def asks(self) -> bool:
        """Tell whether a request needs a key now. Raises StoreError."""
        self.look()
        return bool(self.reason)

    def look(self) -> None:
        """Take up that somebody made a key. Raises StoreError."""
        if self._is_auto and not self.reason and self._keys is not None and self._keys.were_made():
            self._begin("a key was made")
            self._tell("See: naru keys list")

    async def take_up(self, settings: ServerSettings) -> None:
        """Ask for keys from now on if changed settings say so; never less than before."""
        if self._is_auto and not self.reason and (reason := why_keys(settings, were_made=False)):
            await self._ask_with_first_key(reason)

    async def _ask_with_first_key(self, reason: str) -> None:
        self._begin(reason)  # at once: whoever comes while the file is waited for needs a key
        self._tell(await asyncio.to_thread(self._first_key))

    def _begin(self, reason: str) -> None:
        self.reason = reason
        self.began()

    def _tell(self, how: str) -> None:
        logger.warning("From now on a key is asked for: %s. %s", self.reason, how)

    def _first_key(self) -> str:
        """Make a key to come with; that also keeps the door shut after the next start."""
        try:
            place = self._keys.ensure_admin() if self._keys is not None else None
        except StoreError as error:
            return f"No key could be made: {error}"
        if place is None:
            return "See: naru keys list"
        return FIRST_KEY.format(place)


def _proxy_in(scope: Scope) -> str:
    """Return what in a request says that something stands between the client and us; empty when nothing does."""
    if scope.get("http_version") == "1.0":
        return "a request came in HTTP/1.0, which is how proxies speak (proxy_pass) and clients no longer do"
    for name, _ in scope["headers"]:
        if name[:12] in _OF_PROXIES:
            return f"a request came through a proxy (it has the header {name.decode('latin-1')})"
    return ""
