"""The state of one server's connection as a machine without clock or I/O (H3, H10, H11).

The owner (`link/supervisor.py`) tells it facts with the time they happened and asks `wait_seconds` when to try again.

::

    register → PENDING ──connect──▶ CONNECTING ──opened──▶ CONNECTED ⇄ DEGRADED
                                      │   ▲                    │
                                    failed └──retry, connect───┤ dropped
                                      ▼                        ▼
              NEEDS_AUTH ◀──────── FAILED ◀────────────────────┘      disconnect → DISCONNECTED, disable → DISABLED

A link that nobody uses may be parked: DISCONNECTED too, but its tools stay on offer and the next call opens it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from naru.connections.state.faults import Failure
from naru.records import ServerStatus

LIVE = frozenset({ServerStatus.CONNECTED, ServerStatus.DEGRADED})
"""States in which requests can be sent."""


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """When a failed connection is tried again (H10). Times in seconds."""

    enabled: bool = True
    max_attempts: int = 5
    """Retries before giving up until someone asks; 0 never gives up."""
    initial_delay_seconds: float = 5.0
    multiplier: float = 2.0
    max_delay_seconds: float = 60.0
    jitter: float = 0.25
    """Share of the delay by which it varies either way."""
    stable_seconds: float = 10.0
    """A link that held this long, or answered a request, was healthy: its loss is answered at once and counts anew."""
    spread_seconds: float = 0.0
    """That first answer waits a random time up to this, so that many servers do not stampede (R-33)."""
    crash_loop_failures: int = 5
    crash_loop_seconds: float = 60.0
    """So many failures in so long are a crash loop: only the longest delay is used (R-32)."""
    max_retry_after_seconds: float = 120.0
    """The longest Retry-After that is obeyed (R-12)."""

    def delay(self, attempt: int, chance: float) -> float:
        """Return the wait before retry number `attempt` (from 1); `chance` is a random number in [0, 1)."""
        # The exponent is bounded so that a huge attempt number cannot overflow.
        base = min(self.initial_delay_seconds * self.multiplier ** min(attempt - 1, 64), self.max_delay_seconds)
        return base * (1 + self.jitter * (2 * chance - 1))


class Lifecycle:
    """States, attempts and the next retry of one server. `now` is monotonic seconds everywhere."""

    def __init__(
        self, policy: ReconnectPolicy, *, now: float = 0.0, chance: Callable[[], float] = random.random
    ) -> None:
        self.policy = policy
        self._chance = chance
        self.status = ServerStatus.PENDING
        self.since = now
        """When the present state began."""
        self.generation = 0
        """Grows by one with each link that opened."""
        self.attempt = 0
        """Retries since the last healthy time."""
        self.last_failure: Failure | None = None
        self.failed_at: float | None = None
        """When `last_failure` happened."""
        self.failing_since: float | None = None
        """When the present trouble began; None while all is well."""
        self.is_parked = False
        """Closed for want of work, or not started yet: usable all the same, since the next call opens it."""
        self.gave_up = False
        """No retry is planned: the attempts are used up, or trying again cannot help."""
        self._due: float | None = None
        self._is_proved = False
        self._failures: deque[float] = deque(maxlen=policy.crash_loop_failures)

    @property
    def is_live(self) -> bool:
        """Requests can be sent."""
        return self.status in LIVE

    def in_crash_loop(self, now: float) -> bool:
        """Tell whether it failed too often lately for on-demand attempts (R-32)."""
        full = len(self._failures) == self.policy.crash_loop_failures
        return full and now - self._failures[0] <= self.policy.crash_loop_seconds

    def wait_seconds(self, now: float) -> float | None:
        """Return 0 when an attempt is due, the wait until it is, or None when none is planned."""
        return None if self._due is None else max(0.0, self._due - now)

    def connect(self, now: float) -> None:
        """Someone wants it connected: the count begins anew, with an attempt at once unless one is made or was good."""
        if self.is_live:
            return
        self.attempt = 0
        self.gave_up = False
        if self.status is not ServerStatus.CONNECTING:
            self._due = now

    def demand(self, now: float) -> None:
        """A call needs it: plan an attempt at once without forgetting how many failed before."""
        if not self.is_live and self.status is not ServerStatus.CONNECTING:
            self._due = now

    def hasten(self, now: float) -> None:
        """The server shows signs of life: bring a planned retry forward, or plan one after giving up."""
        if self.status is ServerStatus.FAILED:
            self.gave_up = False
            self._due = now

    def park(self, now: float) -> None:
        """Close it for want of work, until a call needs it."""
        self._stop(ServerStatus.DISCONNECTED, now)
        self.is_parked = True

    def begin(self, now: float) -> None:
        """An attempt starts."""
        self.is_parked = False
        self._due = None
        self._enter(ServerStatus.CONNECTING, now)

    def opened(self, now: float) -> None:
        """The attempt succeeded: negotiated and tools listed."""
        self.generation += 1
        self.gave_up = False
        self.failing_since = None
        self._enter(ServerStatus.CONNECTED, now)

    def prove(self) -> None:
        """The link carried a request to its answer, so it is healthy however young it is."""
        self._is_proved = self.is_live

    def degrade(self, now: float, failure: Failure) -> None:
        """The link is up but something is wrong with it."""
        if self.is_live:
            self._note(failure, now)
            self._enter(ServerStatus.DEGRADED, now)

    def recover(self, now: float) -> None:
        """What was wrong with a live link is over."""
        if self.status is ServerStatus.DEGRADED:
            self.failing_since = None
            self._enter(ServerStatus.CONNECTED, now)

    def failed(self, now: float, failure: Failure, *, at_once: bool = False) -> None:
        """An attempt failed or a live link dropped: plan the next attempt.

        Args:
            now: monotonic seconds.
            failure: what happened.
            at_once: the cause is known and harmless (the server forgot our session), so do not wait.
        """
        was_healthy = self.is_live and (self._is_proved or now - self.since >= self.policy.stable_seconds)
        if was_healthy:
            self.attempt = 0
            self._failures.clear()
        self._is_proved = False
        self._note(failure, now)
        self._failures.append(now)
        self._due = None
        self.gave_up = False
        if failure.needs_auth:
            self._enter(ServerStatus.NEEDS_AUTH, now)
            return
        self._enter(ServerStatus.FAILED, now)
        self._plan(now, failure, at_once=at_once, was_healthy=was_healthy)

    def disconnect(self, now: float) -> None:
        """Someone wants it closed: no retry until someone wants it back. One that is switched off stays so."""
        self._stop(self.status if self.status is ServerStatus.DISABLED else ServerStatus.DISCONNECTED, now)

    def disable(self, now: float) -> None:
        """Switched off by its record."""
        self._stop(ServerStatus.DISABLED, now)

    def _plan(self, now: float, failure: Failure, *, at_once: bool, was_healthy: bool) -> None:
        policy = self.policy
        if not policy.enabled or not failure.retryable or (policy.max_attempts and self.attempt >= policy.max_attempts):
            self.gave_up = True
            return
        self.attempt += 1
        if failure.retry_after_seconds is not None:
            delay = min(failure.retry_after_seconds, policy.max_retry_after_seconds)
        elif self.in_crash_loop(now):
            delay = policy.max_delay_seconds * (1 + policy.jitter * self._chance())
        elif at_once:
            delay = 0.0
        elif was_healthy:
            delay = policy.spread_seconds * self._chance()
        else:
            delay = policy.delay(self.attempt, self._chance())
        self._due = now + delay

    def _stop(self, status: ServerStatus, now: float) -> None:
        self.is_parked = False
        self._due = None
        self.attempt = 0
        self.gave_up = False
        self.failing_since = None
        self._enter(status, now)

    def _note(self, failure: Failure, now: float) -> None:
        self.last_failure = failure
        self.failed_at = now
        if self.failing_since is None:
            self.failing_since = now

    def _enter(self, status: ServerStatus, now: float) -> None:
        if status is not self.status:
            self.status = status
            self.since = now
