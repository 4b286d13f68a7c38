"""API keys (A-02): 256 random bits, shown once, kept as SHA-256 with owner, role and expiry, in a file of mode 0600."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import math
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from naru.config import check_private
from naru.errors import ConfigError, NotFoundError, StoreError
from naru.persons import UNBOUND, Bounds
from naru.records import now_ms
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.unusable import unusable
from naru.stores.files.watch import version_of
from naru.stores.secrets.redact import REDACTOR

logger = logging.getLogger(__name__)

ROLES = ("read", "user", "operator", "admin")
"""What a key may do, rising (A-03)."""
PREFIX = "naru_"
RELOAD_SECONDS = 1.0
"""A revoked key is refused within this time, also when another process revoked it."""
MAX_SECRET_BYTES = 512
_WEAK = {"changeme", "password", "secret", "admin", "admin123", "test", "example", "your-api-key", "sk-1234"}
_FEWEST_BITS = 72
"""Of a key, by how its characters are spread: of 300,000 keys of 32 random hexadecimal digits none has less than 82."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key, without its secret."""

    id: str
    role: str
    owner: str
    sha256: str
    created_at: int
    """Epoch milliseconds, as all times here."""
    expires_at: int | None = None
    rate_limit_per_minute: int | None = None
    """None takes the setting's."""
    bounds: Bounds = UNBOUND
    """What it may see and use."""
    previous_sha256: str = ""
    """The secret before the last rotation, which is good until `previous_until`."""
    previous_until: int | None = None

    def shown(self) -> dict[str, Any]:
        """Return what listings show: everything but the hashes, and limits where there are some."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("sha256", "previous_sha256")}
        bounds = {name: value for name, value in plain.pop("bounds").items() if value != getattr(UNBOUND, name)}
        if self.previous_until is None:
            del plain["previous_until"]
        return {**plain, **{name: list(one) if isinstance(one, tuple) else one for name, one in bounds.items()}}

    def kept(self) -> dict[str, Any]:
        """Return what the file keeps; what a version before did not know is left out where it says nothing."""
        plain = asdict(self)
        if self.bounds == UNBOUND:
            del plain["bounds"]
        if not self.previous_sha256:
            del plain["previous_sha256"], plain["previous_until"]
        return plain


def _read_key(entry: dict[str, Any]) -> ApiKey:
    given: dict[str, Any] = dict(entry.get("bounds") or {})
    unknown = set(given) - {one.name for one in fields(Bounds)}
    if unknown:  # a limit of a later version must not become none
        raise ValueError(f"unknown limits: {sorted(unknown)}")
    limits: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items()}
    bounds = Bounds(**limits)
    return ApiKey(**{**entry, "bounds": bounds})


Tell = Callable[..., None]
"""Takes what happens to a key and the facts of it. Raises StoreError."""


def _tell_nobody(what: str, **facts: object) -> None:
    """Where whoever changes keys writes it down himself."""


class KeyFile:
    """The keys of one installation; a change by another process is seen within a second.

    Changing them waits for the file's lock: do it in a thread.
    """

    def __init__(
        self, path: Path, *, fixed_admin_key: str = "", roles: Sequence[str] = (), tell: Tell = _tell_nobody
    ) -> None:
        """Open the file at `path`; `roles` are the installation's own beside ours.

        `tell` hears what is about to change, once nothing refuses it; what it raises stops the change.
        """
        self.path = path.expanduser()
        self._roles = (*ROLES, *roles)
        self._tell = tell
        self._keys: dict[str, ApiKey] = {}
        """By the hash of its secret, and of the one before while that is good."""
        self._signature: object = None
        self._looking = threading.Lock()
        """Held until what was read counts: older keys must not take the place of newer ones."""
        self._looked_at = -math.inf
        self._last_used: dict[str, int] = {}
        self._fixed = hashlib.sha256(fixed_admin_key.encode()).hexdigest() if fixed_admin_key else ""
        self._configured = ApiKey("configured", "admin", "configuration", self._fixed, 0)
        if fixed_admin_key:
            check_strength(fixed_admin_key)
            REDACTOR.learn([fixed_admin_key])

    def list(self) -> Sequence[ApiKey]:
        """Return all keys in order of creation. Raises StoreError."""
        self._reload(now=True)
        return sorted({key.id: key for key in self._keys.values()}.values(), key=lambda key: key.created_at)

    def is_empty(self) -> bool:
        """Tell whether there is no key at all."""
        self._reload()
        return not self._keys and not self._fixed

    def were_made(self) -> bool:
        """Tell whether a key was ever made here, revoked or not: the file is there. Raises StoreError."""
        self._reload()
        return self._signature is not None or bool(self._fixed)

    def find(self, secret: bytes) -> ApiKey | None:
        """Return the key of that secret; None for a wrong, expired or revoked one. Constant time over a hash (S-07)."""
        if len(secret) > MAX_SECRET_BYTES:
            return None
        self._reload()
        digest = hashlib.sha256(secret).hexdigest()
        if self._fixed and hmac.compare_digest(digest, self._fixed):
            return self._configured
        key = self._keys.get(digest)
        if key is None:
            return None
        now = now_ms()
        if not hmac.compare_digest(digest, key.sha256):
            is_before = hmac.compare_digest(digest, key.previous_sha256)
            if not is_before or key.previous_until is None or key.previous_until <= now:
                return None
        if key.expires_at is not None and key.expires_at <= now:
            return None
        self._last_used[key.id] = now
        return key

    def of_id(self, key_id: str) -> ApiKey | None:
        """Return the key of that id while it is valid, the configuration's among them. Raises StoreError."""
        if self._fixed and key_id == self._configured.id:
            return self._configured
        now = now_ms()
        found = next((key for key in self.list() if key.id == key_id), None)
        return found if found is not None and (found.expires_at is None or found.expires_at > now) else None

    def last_used_at(self, key_id: str) -> int | None:
        """Return when this process last accepted the key."""
        return self._last_used.get(key_id)

    def create(
        self,
        role: str,
        *,
        owner: str = "",
        expires_at: int | None = None,
        rate_limit_per_minute: int | None = None,
        bounds: Bounds = UNBOUND,
    ) -> tuple[ApiKey, str]:
        """Make a key and return it with its secret, which is kept nowhere. Raises ConfigError, StoreError."""
        if role not in self._roles:
            raise ConfigError(f"There is no role {role!r}.", remedy=f"Use one of {', '.join(self._roles)}.")
        key, secret = _new_key(
            role, owner=owner, expires_at=expires_at, rate_limit_per_minute=rate_limit_per_minute, bounds=bounds
        )

        def added(keys: Sequence[ApiKey]) -> Sequence[ApiKey]:
            self._tell("key.created", key=key.id, role=role, owner=owner)
            return [*keys, key]

        self._change(added)
        return key, secret

    def rotate(self, key_id: str, *, overlap_seconds: float = 0.0) -> tuple[ApiKey, str]:
        """Give a key another secret; the old one stays good for a while. Raises NotFoundError, StoreError.

        Who the key stands for stays: its id, limits, stored credentials, runs.
        """
        secret = _new_secret()
        until = int((time.time() + overlap_seconds) * 1000)

        def turned(keys: Sequence[ApiKey]) -> Sequence[ApiKey]:
            old = self._known(key_id, keys)
            self._tell("key.rotated", key=key_id)
            new = replace(
                old,
                sha256=hashlib.sha256(secret.encode()).hexdigest(),
                previous_sha256=old.sha256 if overlap_seconds > 0 else "",
                previous_until=until if overlap_seconds > 0 else None,
            )
            return [new if key.id == key_id else key for key in keys]

        self._change(turned)
        return self._known(key_id, self.list()), secret

    def revoke(self, key_id: str) -> None:
        """Remove a key; it is refused at once here, within a second elsewhere. Raises NotFoundError, StoreError."""

        def without(keys: Sequence[ApiKey]) -> Sequence[ApiKey]:
            self._known(key_id, keys)
            self._tell("key.revoked", key=key_id)
            return [key for key in keys if key.id != key_id]

        self._change(without)

    @staticmethod
    def _known(key_id: str, keys: Sequence[ApiKey]) -> ApiKey:
        found = next((key for key in keys if key.id == key_id), None)
        if found is None:
            raise NotFoundError(f"There is no key {key_id!r}.", remedy="See: naru keys list")
        return found

    def ensure_admin(self) -> Path | None:
        """Make the first admin key when there is none, and write it to a file of mode 0600 beside the keys (A-01).

        Returns:
            The file, for a line that says how to read the key once; None when there were keys already.
        """
        if not self.is_empty():
            return None
        key, secret = _new_key("admin", owner="first start")
        place = self.path.with_name("admin.key")

        def first(keys: Sequence[ApiKey]) -> Sequence[ApiKey]:
            if keys:  # another hub on this folder started at the same moment
                return keys
            replace_file(place, secret.encode() + b"\n", backup=False)
            return [key]

        return place if key in self._change(first) else None

    def _change(self, edit: Callable[[Sequence[ApiKey]], Sequence[ApiKey]]) -> Sequence[ApiKey]:
        """Replace the keys by what `edit` makes of them while nobody else can; return those that there are then."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise unusable(self.path, error, what="The keys cannot be kept") from error
        with file_lock(self.path):
            before = self.list()
            if (after := edit(before)) is not before:
                document = {"format": 1, "keys": [key.kept() for key in after]}
                replace_file(self.path, json.dumps(document, indent=1).encode() + b"\n")
                self._reload(now=True)
        return after

    def look_again(self) -> None:
        """Read the keys at the next use: somebody said that they have changed."""
        self._looked_at = -math.inf

    def _reload(self, *, now: bool = False) -> None:
        moment = time.monotonic()
        if now or moment - self._looked_at >= RELOAD_SECONDS:
            with self._looking:
                self._take_up()
            self._looked_at = moment  # of what cannot be read, each look says so

    def _take_up(self) -> None:
        try:
            info = self.path.stat()
        except FileNotFoundError:
            self._keys, self._signature = {}, None
            return
        except OSError as error:
            raise unusable(self.path, error, what="The keys cannot be read") from error
        signature = version_of(info)
        if signature == self._signature:
            return
        check_private(self.path)
        try:
            document = json.loads(self.path.read_bytes())
            keys = [_read_key(entry) for entry in document["keys"]]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"The keys in {self.path} cannot be read: {_fault_of(error)}.",
                remedy=f"The version before is {self.path.name}.bak; no key is accepted until it is mended.",
            ) from error
        # Put in place whole: a thread changes keys while the event loop looks them up.
        by_hash = [{key.sha256: key for key in keys}, {key.previous_sha256: key for key in keys if key.previous_sha256}]
        before, self._keys = self._keys, by_hash[0] | by_hash[1]
        if self._signature is not None and before != self._keys:
            logger.info("the keys in %s changed: there were %d, there are %d", self.path, len(before), len(self._keys))
        self._signature = signature


def _new_key(role: str, **given: Any) -> tuple[ApiKey, str]:
    secret = _new_secret()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    key = ApiKey(secrets.token_hex(6), role, sha256=digest, created_at=now_ms(), **given)
    return key, secret


def _new_secret() -> str:
    secret = PREFIX + secrets.token_urlsafe(32)
    REDACTOR.learn([secret])
    return secret


def _fault_of(error: Exception) -> str:
    """Say what is wrong with the file, and where, without a word of what stands in it."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return type(error).__name__


def check_strength(secret: str) -> None:
    """Refuse a key given from outside that can be guessed (A-05). Raises ConfigError without showing it."""
    once = secret[: (secret + secret).find(secret, 1)]  # what repeats itself says nothing new
    bits = sum(count * math.log2(len(once) / count) for count in Counter(once).values())
    if len(secret) < 32 or bits < _FEWEST_BITS or any(weak in secret.lower() for weak in _WEAK):
        raise ConfigError(
            "server.api_key is too easy to guess.",
            remedy="Use at least 32 random characters, or leave it out: Naru makes one.",
        )
