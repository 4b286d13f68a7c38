"""Who may pass the gate: keys and console sessions, and how often (A-02, S-19, S-68)."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from naru.stores.keys import ApiKey, KeyFile
from naru.web.routes import Access
from naru.web.security import Principal, TokenFacts

SESSION_SECONDS = 12 * 3600.0
MAX_SESSIONS = 1_000
FAILURES = 5
FAILURE_SECONDS = 15 * 60.0
"""So many wrong keys from one address in that time, and further wrong ones are told to wait (S-19)."""
MAX_ADDRESSES = 10_000


class KeyRing:
    """The keys of the installation, and sessions that a key has opened for a browser."""

    def __init__(self, keys: KeyFile, tokens: TokenFacts | None = None) -> None:
        self.keys = keys
        self.tokens = tokens
        self._sessions: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._last: tuple[ApiKey, Principal] | None = None
        """The key seen last, and whom it stands for."""

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
        key = self.keys.find(secret)
        if key is None and self._sessions:
            key = self._session_key(secret)
        if key is None:
            return None
        if self._last is None or self._last[0] is not key:
            self._last = (key, principal_of(key))
        return self._last[1]

    def open_session(self, principal: Principal) -> str:
        """Return a random cookie value that stands for the key for twelve hours or until it is revoked."""
        token = secrets.token_urlsafe(32)
        self._sessions[_digest(token.encode())] = (principal.id, time.monotonic() + SESSION_SECONDS)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return token

    def close_session(self, token: bytes) -> None:
        """Forget a session."""
        self._sessions.pop(_digest(token), None)

    def _session_key(self, token: bytes) -> ApiKey | None:
        found = self._sessions.get(_digest(token))
        if found is None or found[1] <= time.monotonic():
            return None
        return self.keys.of_id(found[0])


def principal_of(key: ApiKey) -> Principal:
    """Return the caller that a key stands for."""
    return Principal(key.id, Access[key.role.upper()], key.owner, key.rate_limit_per_minute)


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimiter:
    """A token bucket for each key, a count of failures for each address; both bounded in number."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._failures: OrderedDict[str, _Bucket] = OrderedDict()

    def request(self, principal: Principal) -> float:
        """Count a request of a key; return the seconds to wait, 0 when it may pass."""
        limit = self._per_minute if principal.rate_limit_per_minute is None else principal.rate_limit_per_minute
        return _take(self._buckets, principal.id, limit, 60.0) if limit else 0.0

    def failure(self, address: str) -> float:
        """Count a wrong key of an address; return the seconds to wait. Right keys from there are never held up."""
        return _take(self._failures, address, FAILURES, FAILURE_SECONDS)


def _take(buckets: OrderedDict[str, _Bucket], name: str, limit: int, seconds: float) -> float:
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
    if bucket.tokens >= 1:
        bucket.tokens -= 1
        return 0.0
    return math.ceil((1 - bucket.tokens) * seconds / limit)


def _digest(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()
