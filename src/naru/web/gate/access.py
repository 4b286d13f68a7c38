"""Who may pass the gate: keys, tokens and console sessions, and how often (A-02, S-19, S-68)."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from naru.config import RoleSettings
from naru.errors import PolicyError
from naru.persons import WHOLE, Reach
from naru.stores.kept.spending import Spending, seconds_to_tomorrow
from naru.stores.secrets.keys import ROLES, ApiKey, KeyFile
from naru.stores.shared.untold import Untold
from naru.web.gate.logins import Login, Logins
from naru.web.gate.principal import Principal, TokenFacts
from naru.web.routes import Access

FAILURES = 5
FAILURE_SECONDS = 15 * 60.0
"""So many wrong keys from one address in that time, and further wrong ones are told to wait (S-19)."""
MAX_ADDRESSES = 10_000
_MOST_PER_MINUTE = 10**12
"""More than any machine serves: as good as no limit, and a number that can be counted with."""


class KeyRing:
    """The keys of the installation, and sessions that a key or a person has opened for a browser."""

    def __init__(
        self,
        keys: KeyFile,
        tokens: TokenFacts | None = None,
        roles: Mapping[str, RoleSettings] | None = None,
        *,
        logins: Logins | None = None,
    ) -> None:
        """Take the keys, who verifies tokens, the roles of the installation's own, and where sessions are kept."""
        self.keys = keys
        self.tokens = tokens
        self.roles = roles or {}
        self._logins = logins or Logins()
        self._last: tuple[ApiKey | Login, Principal | None] | None = None
        """The key or person seen last, and whom it stands for."""

    @property
    def sessions_are_shared(self) -> bool:
        """Whether other hubs open sessions that are good here."""
        return self._logins.is_shared

    def were_made(self) -> bool:
        """Tell whether a key was ever made here, revoked or not. Raises StoreError."""
        return self.keys.were_made()

    def ensure_admin(self) -> Path | None:
        """Make the first admin key when there is none; return the file to read it from. Raises StoreError."""
        return self.keys.ensure_admin()

    def verify(self, secret: bytes) -> Principal | None:
        """Return whose key or session this is. Raises StoreError when the keys cannot be read."""
        if self.tokens is not None and secret.count(b".") == 2:  # a JWT, which no key of ours looks like
            return self.tokens.verify(secret)
        found: ApiKey | Login | None = self.keys.find(secret)
        if found is None and (login := self._logins.find(secret)) is not None:
            found = login if login.role else self.keys.of_id(login.id)
        if found is None:
            return None
        if self._last is None or self._last[0] is not found:
            whose = principal_of(found, self.roles) if isinstance(found, ApiKey) else self._person(found)
            self._last = (found, whose)
        return self._last[1]

    def _person(self, login: Login) -> Principal | None:
        """Return who signed in; None once the issuer or the role is no longer that of the settings."""
        found = role_of(login.role, self.roles)
        if found is None or self.tokens is None or not self.tokens.may_hold_session(login.id):
            return None
        return Principal(login.id, found[0], login.name, reach=found[1])

    def open_session(self, principal: Principal) -> str:
        """Return a random cookie value that stands for the key for twelve hours or until it is revoked.

        Raises:
            PolicyError: it is no key's.
            StoreError: it could not be kept.
        """
        if self.keys.of_id(principal.id) is None:
            raise PolicyError(
                "This request comes without a key, and only a key opens a session here.",
                remedy="Send a key; with server.oauth.client_id persons sign in on the console's page.",
            )
        return self._logins.open(principal.id)

    def open_for_person(self, person: str, role: str, name: str) -> str:
        """Return a cookie value that stands for who signed in, `iss#sub`, for twelve hours. Raises StoreError."""
        return self._logins.open(person, role=role, name=name)

    def close_session(self, token: bytes) -> None:
        """Forget a session. Raises StoreError."""
        self._logins.close(token)


def principal_of(key: ApiKey, roles: Mapping[str, RoleSettings]) -> Principal | None:
    """Return the caller that a key stands for; None when its role is no longer there."""
    found = role_of(key.role, roles)
    if found is None:
        return None
    access, reach = found
    return Principal(key.id, access, key.owner, key.rate_limit_per_minute, Reach.of(*reach.layers, key.bounds))


def role_of(name: str, roles: Mapping[str, RoleSettings]) -> tuple[Access, Reach] | None:
    """Return what a role may do and see; None when there is none of that name."""
    if name in ROLES:
        return Access[name.upper()], WHOLE
    role = roles.get(name)
    return None if role is None else (Access[role.access.upper()], Reach.of(role.bounds()))


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimiter(Untold):
    """A token bucket for each key, a count of failures for each address; both bounded in number."""

    def __init__(self, per_minute: int, spending: Spending | None = None) -> None:
        """Allow so many requests a minute; `spending` keeps the budgets of a day."""
        self.per_minute = per_minute
        """Of keys that have no limit of their own."""
        self._spending = spending
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._failures: OrderedDict[str, _Bucket] = OrderedDict()
        self._debts: Counter[str] = Counter()
        """What others have counted since the last request here."""

    def heard(self, counts: Mapping[str, int]) -> None:
        """Count what others have counted."""
        self._debts.update(counts)
        if len(self._debts) > MAX_ADDRESSES:
            self._debts.clear()

    def give_back(self, principal: Principal) -> None:
        """Take back one request: another hub answers it, and counts it."""
        if self._spending is not None and principal.reach.requests_per_day is not None:
            self._spending.give_back(principal.id)
        self._debts[f"key {principal.id}"] -= 1
        self._tell(f"key {principal.id}", -1)

    def request(self, principal: Principal) -> float:
        """Count a request of a key; return the seconds to wait, 0 when it may pass."""
        limit = self.per_minute if principal.rate_limit_per_minute is None else principal.rate_limit_per_minute
        limit = min(limit, _MOST_PER_MINUTE)
        return self._count(self._buckets, f"key {principal.id}", limit, 60.0) if limit else 0.0

    async def spend(self, principal: Principal) -> float:
        """Take a request from the budget of the day; return the seconds to the next one when it is used up."""
        budget = principal.reach.requests_per_day
        if budget is None or self._spending is None or await self._spending.take_request(principal.id, budget):
            return 0.0
        return float(seconds_to_tomorrow())

    def failure(self, address: str) -> float:
        """Count a wrong key of an address; return the seconds to wait. Right keys from there are never held up."""
        return self._count(self._failures, f"from {address}", FAILURES, FAILURE_SECONDS)

    def _count(self, buckets: OrderedDict[str, _Bucket], name: str, limit: int, seconds: float) -> float:
        wait = _take(buckets, name, limit, seconds, debt=self._debts.pop(name, 0))
        if not wait:
            self._tell(name, 1)
        return wait


def _take(buckets: OrderedDict[str, _Bucket], name: str, limit: int, seconds: float, *, debt: int = 0) -> float:
    now = time.monotonic()
    bucket = buckets.get(name)
    if bucket is None:
        bucket = buckets[name] = _Bucket(float(limit), now)
        while len(buckets) > MAX_ADDRESSES:
            buckets.popitem(last=False)
    else:
        buckets.move_to_end(name)
        bucket.tokens = min(float(limit), bucket.tokens + (now - bucket.at) * limit / seconds)
        bucket.at = now
    if debt:
        bucket.tokens = max(-float(limit), bucket.tokens - debt)
    if bucket.tokens >= 1:
        bucket.tokens -= 1
        return 0.0
    return math.ceil((1 - bucket.tokens) * seconds / limit)
