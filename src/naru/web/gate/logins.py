"""Console sessions that a key has opened for a browser (S-68): in memory, or in a file that other hubs share."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from naru.messages import JsonObject
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.followed import FollowedFile

logger = logging.getLogger(__name__)

SESSION_SECONDS = 12 * 3600.0
MAX_SESSIONS = 1_000
Kept = dict[str, tuple[str, float]]
"""Hash of a cookie's value → the key's id, and until when, oldest first."""


class Logins:
    """Random cookie values and the keys that they stand for; what is kept is their hash."""

    def __init__(self, path: Path | None = None) -> None:
        """Keep them in a file that other hubs share, or in memory."""
        self._path = path.expanduser() if path else None
        # Several machines have one thing in common: the time of day.
        self._clock: Callable[[], float] = time.time if path else time.monotonic
        self._kept: Kept = {}
        self._file = (
            FollowedFile(
                self._path,
                _logins,
                what="The console's sessions",
                remedy="Remove the file: everybody signs in once more.",
            )
            if self._path
            else None
        )

    def open(self, key_id: str) -> str:
        """Return a new value that stands for a key for twelve hours. Raises StoreError."""
        token = secrets.token_urlsafe(32)
        self._change(lambda kept: {**kept, _digest(token.encode()): (key_id, self._clock() + SESSION_SECONDS)})
        return token

    def close(self, token: bytes) -> None:
        """Forget a value. Raises StoreError."""
        digest = _digest(token)
        self._change(lambda kept: {name: one for name, one in kept.items() if name != digest})

    def find(self, token: bytes) -> str | None:
        """Return the id of the key that a value stands for."""
        self._load()
        found = self._kept.get(_digest(token)) if self._kept else None
        return found[0] if found is not None and found[1] > self._clock() else None

    def _change(self, edit: Callable[[Kept], Kept]) -> None:
        path = self._path
        if path is None:
            self._kept = self._bounded(edit(self._kept))
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(path):
            self._load()
            self._kept = self._bounded(edit(self._kept))
            replace_file(path, json.dumps({"logins": self._kept}).encode(), backup=False)

    def _bounded(self, kept: Kept) -> Kept:
        now = self._clock()
        return dict([(name, one) for name, one in kept.items() if one[1] > now][-MAX_SESSIONS:])

    def _load(self) -> None:
        if self._file is not None and (kept := self._file.news({})) is not None:
            self._kept = kept


def _logins(document: JsonObject) -> Kept:
    return {name: (str(one[0]), float(one[1])) for name, one in document["logins"].items()}


def _digest(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()
