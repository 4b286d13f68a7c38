"""Sliding windows of requests and tokens: exact, pure, the clock is an argument (R11).

A log of what was spent, not a bucket: a bucket that refills lets a burst and its refill into one minute.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

MINUTE_SECONDS = 60.0
DAY_SECONDS = 86_400.0
LONGEST_REST_SECONDS = 60.0
"""Where the endpoint says no time."""
MARGIN_SECONDS = 0.25
"""Added to each window: the endpoint counts arrivals, we count departures."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What one key may ask for; 0 means no limit."""

    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    requests_per_day: int = 0
    tokens_per_day: int = 0
    max_concurrent: int = 0
    """Requests under way at the same time."""


@dataclass(slots=True)
class Spent:
    """One entry of a window's log."""

    at: float
    amount: int


class Window:
    """At most `limit` within any `seconds`."""

    def __init__(self, limit: int, seconds: float, *, margin_seconds: float = MARGIN_SECONDS) -> None:
        self.limit = limit
        self.seconds = seconds + margin_seconds
        self._log: deque[Spent] = deque()
        self._total = 0

    def used(self, now: float) -> int:
        """Return what counts at this moment."""
        self._expire(now)
        return self._total

    def earliest(self, amount: int, now: float) -> float:
        """Return the first moment from `now` on at which `amount` fits; infinity when it never does."""
        if amount > self.limit:
            return math.inf
        # Expires nothing: `now` may be a moment that is only being considered.
        excess = self._total + amount - self.limit
        if excess <= 0:
            return now
        for spent in self._log:
            excess -= spent.amount
            if excess <= 0:
                return max(now, spent.at + self.seconds)
        return math.inf

    def spend(self, amount: int, at: float) -> Spent:
        """Write down an amount."""
        self._expire(at)
        spent = Spent(at, amount)
        self._log.append(spent)
        self._total += amount
        return spent

    def amend(self, spent: Spent, amount: int) -> None:
        """Correct an entry: the tokens that were really used, or 0 for what was not sent after all."""
        if any(entry is spent for entry in reversed(self._log)):
            self._total += amount - spent.amount
            spent.amount = amount

    def copy(self) -> Window:
        """Return a window to try things on; entries are not amended there, so they are the same ones."""
        twin = Window(self.limit, self.seconds, margin_seconds=0)
        twin._log = self._log.copy()
        twin._total = self._total
        return twin

    def _expire(self, now: float) -> None:
        while self._log and self._log[0].at + self.seconds <= now:
            self._total -= self._log.popleft().amount


@dataclass(slots=True)
class Rest:
    """How long a key, or one model behind it, is to be left alone."""

    until: float = -math.inf
    refusals: int = 0
    """In a row: of requests that were sent after the rest before was over, so that one wave of refusals is one."""
    said: str = ""
    """With what words it was asked for."""

    def begin(self, seconds: float | None, sent_at: float, now: float, said: str = "") -> None:
        """Take a refusal; an unknown time doubles with every refusal in a row."""
        is_news = sent_at >= self.until
        self.said = said
        self.refusals += is_news
        if seconds is None:
            seconds = min(2.0 ** (self.refusals - 1), LONGEST_REST_SECONDS) if is_news else 0.0
        # Beyond a day it is a slip, which nothing would end: whoever asks then hears it again.
        self.until = max(self.until, now + min(seconds, DAY_SECONDS))

    def end(self, sent_at: float) -> None:
        """Take an answer; one to a request from before the refusals says nothing of now."""
        if sent_at >= self.until:
            self.refusals = 0

    def is_long_over(self, now: float) -> bool:
        """Tell whether it was over so long ago that a new refusal is not one in a row with it."""
        return self.until + LONGEST_REST_SECONDS <= now


class Allowance:
    """All windows of one key together, and the time before which the endpoint wants no request."""

    def __init__(self, limits: RateLimits) -> None:
        self._requests = [
            Window(limit, seconds)
            for limit, seconds in ((limits.requests_per_minute, MINUTE_SECONDS), (limits.requests_per_day, DAY_SECONDS))
            if limit
        ]
        self._tokens = [
            Window(limit, seconds)
            for limit, seconds in ((limits.tokens_per_minute, MINUTE_SECONDS), (limits.tokens_per_day, DAY_SECONDS))
            if limit
        ]
        self.blocked_until = -math.inf

    def earliest(self, tokens: int, now: float) -> float:
        """Return the first moment at which a request of so many tokens may be sent."""
        at = max(now, self.blocked_until)
        if not self._requests and not self._tokens:
            return at
        while True:
            later = max(
                [at]
                + [window.earliest(1, at) for window in self._requests]
                + [window.earliest(tokens, at) for window in self._tokens]
            )
            if later <= at or later == math.inf:
                return later
            at = later

    def spend(self, tokens: int, at: float) -> Receipt:
        """Write down a request."""
        if not self._requests and not self._tokens:
            return _NOTHING_SPENT
        requests = [(window, window.spend(1, at)) for window in self._requests]
        return Receipt(requests, [(window, window.spend(tokens, at)) for window in self._tokens])

    def copy(self) -> Allowance:
        """Return an allowance to try things on."""
        twin = Allowance(RateLimits())
        twin._requests = [window.copy() for window in self._requests]
        twin._tokens = [window.copy() for window in self._tokens]
        twin.blocked_until = self.blocked_until
        return twin


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one request has spent, to be corrected."""

    requests: Sequence[tuple[Window, Spent]]
    tokens: Sequence[tuple[Window, Spent]]

    def give_back(self) -> None:
        """Undo: the request was never sent."""
        for window, spent in (*self.requests, *self.tokens):
            window.amend(spent, 0)

    def used(self, tokens: int) -> None:
        """Put the tokens that were really used in place of the estimate."""
        for window, spent in self.tokens:
            window.amend(spent, tokens)


_NOTHING_SPENT = Receipt((), ())
