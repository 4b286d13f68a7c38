"""API keys (A-02): 256 random bits, shown once, kept as SHA-256 with owner, role and expiry, in a file of mode 0600."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import math
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from naru.config import check_private
from naru.errors import ConfigError, NotFoundError, StoreError
from naru.stores.atomic_file import file_lock, replace_file
from naru.stores.redact import REDACTOR
from naru.stores.unusable import unusable

logger = logging.getLogger(__name__)

ROLES = ("read", "user", "operator", "admin")
"""What a key may do, rising (A-03)."""
PREFIX = "naru_"
RELOAD_SECONDS = 1.0
"""A revoked key is refused within this time, also when another process revoked it."""
MAX_SECRET_BYTES = 512
_WEAK = {"changeme", "password", "secret", "admin", "admin123", "test", "example", "your-api-key", "sk-1234"}


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

    def shown(self) -> dict[str, Any]:
        """Return what listings show: everything but the hash."""
        return {name: value for name, value in asdict(self).items() if name != "sha256"}


class KeyFile:
    """The keys of one installation; a change by another process is seen within a second."""

    def __init__(self, path: Path, *, fixed_admin_key: str = "") -> None:
        self.path = path.expanduser()
        self._keys: dict[str, ApiKey] = {}
        self._signature: object = None
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
        return sorted(self._keys.values(), key=lambda key: key.created_at)

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
        if key is None or not hmac.compare_digest(digest, key.sha256):
            return None
        now = int(time.time() * 1000)
        if key.expires_at is not None and key.expires_at <= now:
            return None
        self._last_used[key.id] = now
        return key

    def of_id(self, key_id: str) -> ApiKey | None:
        """Return the key of that id while it is valid, the configuration's among them. Raises StoreError."""
        if self._fixed and key_id == self._configured.id:
            return self._configured
        now = int(time.time() * 1000)
        found = next((key for key in self.list() if key.id == key_id), None)
        return found if found is not None and (found.expires_at is None or found.expires_at > now) else None

    def last_used_at(self, key_id: str) -> int | None:
        """Return when this process last accepted the key."""
        return self._last_used.get(key_id)

    def create(
        self, role: str, *, owner: str = "", expires_at: int | None = None, rate_limit_per_minute: int | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key and return it with its secret, which is kept nowhere. Raises ConfigError, StoreError."""
        if role not in ROLES:
            raise ConfigError(f"There is no role {role!r}.", remedy=f"Use one of {', '.join(ROLES)}.")
        secret = PREFIX + secrets.token_urlsafe(32)
        REDACTOR.learn([secret])
        key = ApiKey(
            id=secrets.token_hex(6),
            role=role,
            owner=owner,
            sha256=hashlib.sha256(secret.encode()).hexdigest(),
            created_at=int(time.time() * 1000),
            expires_at=expires_at,
            rate_limit_per_minute=rate_limit_per_minute,
        )
        self._change(lambda keys: {**keys, key.sha256: key})
        return key, secret

    def revoke(self, key_id: str) -> None:
        """Remove a key; it is refused at once here, within a second elsewhere. Raises NotFoundError, StoreError."""
        if not any(key.id == key_id for key in self.list()):
            raise NotFoundError(f"There is no key {key_id!r}.", remedy="See: naru keys list")
        self._change(lambda keys: {digest: key for digest, key in keys.items() if key.id != key_id})

    def ensure_admin(self) -> Path | None:
        """Make the first admin key when there is none, and write it to a file of mode 0600 beside the keys (A-01).

        Returns:
            The file, for a line that says how to read the key once; None when there were keys already.
        """
        if not self.is_empty():
            return None
        _, secret = self.create("admin", owner="first start")
        place = self.path.with_name("admin.key")
        replace_file(place, secret.encode() + b"\n", backup=False)
        return place

    def _change(self, edit: Any) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(self.path):
            self._reload(now=True)
            keys = edit(self._keys)
            document = {"format": 1, "keys": [asdict(key) for key in keys.values()]}
            replace_file(self.path, json.dumps(document, indent=1).encode() + b"\n")
            self._reload(now=True)

    def _reload(self, *, now: bool = False) -> None:
        moment = time.monotonic()
        if not now and moment - self._looked_at < RELOAD_SECONDS:
            return
        self._looked_at = moment
        try:
            info = self.path.stat()
        except FileNotFoundError:
            self._keys, self._signature = {}, None
            return
        except OSError as error:
            raise unusable(self.path, error, what="The keys cannot be read") from error
        signature = (info.st_ino, info.st_mtime_ns, info.st_size)
        if signature == self._signature:
            return
        check_private(self.path)
        try:
            document = json.loads(self.path.read_bytes())
            keys = [replace(ApiKey(**entry)) for entry in document["keys"]]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"The keys in {self.path} cannot be read: {_fault_of(error)}.",
                remedy=f"The version before is {self.path.name}.bak; no key is accepted until it is mended.",
            ) from error
        before, self._keys = self._keys, {key.sha256: key for key in keys}
        if self._signature is not None and before != self._keys:
            logger.info("the keys in %s changed: there were %d, there are %d", self.path, len(before), len(keys))
        self._signature = signature


def _fault_of(error: Exception) -> str:
    """Say what is wrong with the file, and where, without a word of what stands in it."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return type(error).__name__


def check_strength(secret: str) -> None:
    """Refuse a key given from outside that can be guessed (A-05). Raises ConfigError without showing it."""
    lowered = secret.lower()
    counts = Counter(secret)
    entropy = -sum(count / len(secret) * math.log2(count / len(secret)) for count in counts.values())
    if len(secret) < 32 or entropy < 3.5 or any(weak in lowered for weak in _WEAK):
        raise ConfigError(
            "server.api_key is too easy to guess.",
            remedy="Use at least 32 random characters, or leave it out: Naru makes one.",
        )
