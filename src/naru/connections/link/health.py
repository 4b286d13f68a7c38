"""Is a link that says nothing still alive? Pings (R-14), and knocking at the door of a server that is down."""

from __future__ import annotations

import asyncio
import contextlib
import random
from enum import Enum

from yarl import URL

from naru.connections.session.negotiation import ping
from naru.connections.session.session import Session
from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.lifecycle import Lifecycle
from naru.connections.state.settings import ConnectionSettings
from naru.connections.state.waiters import Waiters
from naru.deadlines import bound
from naru.records import ServerStatus

_MISSES = 2
_KNOCK_TIMEOUT_SECONDS = 2.0
_SLOW_KNOCK_SECONDS = 15.0
"""How often to knock once the retries are used up."""


class Pulse(Enum):
    """What a check found."""

    ALIVE = "alive"
    UNSURE = "unsure"
    BUSY = "busy"
    """It does not answer, but works on requests that have deadlines of their own."""
    DEAD = "dead"


class Health:
    """When a link is pinged next, and how many pings in a row it missed."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.due_at = 0.0
        self.failure: Failure | None = None
        """What the last check found wrong."""
        self._interval = settings.ping_interval_seconds
        self._timeout = settings.ping_timeout_seconds
        self._misses = 0
        self._is_suspect = False

    def begin(self, now: float) -> None:
        """A new link starts healthy."""
        self._misses = 0
        self._is_suspect = False
        self.due_at = now + self._interval

    def suspect(self) -> None:
        """Check at once: a request broke."""
        self._is_suspect = True
        self.due_at = 0.0

    async def check(self, session: Session) -> Pulse:
        """Ping a link, unless it was heard lately."""
        loop = asyncio.get_running_loop()
        quiet = loop.time() - session.last_heard
        if not self._is_suspect and self._misses == 0 and quiet < self._interval:
            self.due_at = loop.time() + self._interval - quiet
            return Pulse.ALIVE
        self._is_suspect = False
        try:
            is_alive = await ping(session, self._timeout)
        except LinkError as error:
            if error.session_gone or error.breaks_link or error.failure.needs_auth:
                self.failure = error.failure
                return Pulse.DEAD
            # A server that refuses pings is alive; a gateway that says 5xx speaks for a dead one.
            is_alive = error.failure.code.startswith("http_4")
        now = loop.time()
        if is_alive:
            self.begin(now)
            return Pulse.ALIVE
        return self._miss(session, now)

    def _miss(self, session: Session, now: float) -> Pulse:
        self._misses += 1
        message = f"{self._misses} pings in a row were not answered within {self._timeout:g} s."
        self.failure = Failure("ping", "silent", message, "See whether the server hangs.")
        if self._misses < _MISSES:
            self.due_at = now
            return Pulse.UNSURE
        self.due_at = now + self._interval
        return Pulse.BUSY if session.in_flight else Pulse.DEAD


def knock_pause(life: Lifecycle, settings: ConnectionSettings, wait: float | None) -> float | None:
    """Return when to knock next at a server that refused, or None when only the planned retry counts."""
    failure = life.last_failure
    if (
        life.status is not ServerStatus.FAILED
        or failure is None
        or failure.code not in ("refused", "cut")
        or not settings.reconnect.enabled
        or settings.knock_interval_seconds <= 0
    ):
        return None
    interval = settings.knock_interval_seconds if wait is not None else _SLOW_KNOCK_SECONDS
    # Jittered, so that many servers behind one door do not knock in step.
    pause = max(interval, settings.knock_interval_seconds) * (0.75 + 0.5 * random.random())  # noqa: S311 - no secret
    return None if wait is not None and wait <= pause else pause


class Door:
    """A URL's host, dialled without saying anything: costs the server nothing and tells whether it listens again."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._is_asked = False
        self._others: Waiters[bool] = Waiters()

    async def opens(self) -> bool:
        """Dial; those who ask meanwhile share the answer."""
        if self._is_asked:
            return await self._others.add()
        self._is_asked, found = True, False
        try:
            found = await _opens(self._address)
        finally:
            self._is_asked = False
            self._others.settle(found)
        return found


async def _opens(address: str) -> bool:
    try:
        url = URL(address)
        if not url.host:
            return False
        with bound(_KNOCK_TIMEOUT_SECONDS):
            _, writer = await asyncio.open_connection(url.host, url.port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
