"""Console sessions, opened by a key or by a person's sign-in (S-68): in memory, or in a file that other hubs share."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

from naru.messages import JsonObject
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.followed import FollowedFile

SESSION_SECONDS = 12 * 3600.0
MAX_SESSIONS = 1_000
MOST_OF_ONE = 50
"""Sessions of one key or person: who opens more ends their own oldest, and nobody else's (S-19)."""


@dataclass(frozen=True, slots=True)
class Login:
    """Whom a cookie's value stands for, and until when."""

    id: str
    """A key's id, or a person's `iss#sub`."""
    until: float
    role: str = ""
    """Of a person, as the issuer's claims gave it at the sign-in; empty for a key, which has its own."""
    name: str = ""
    """How a person is shown; nobody's identity."""


Kept = dict[str, Login]
"""Hash of a cookie's value → whom it stands for, oldest first."""


class Logins:
    """Random cookie values and whom they stand for; what is kept is their hash.

    Changing them waits for the file's lock where there is one: do it in a thread.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Keep them in a file that other hubs share, or in memory."""
        self._path = path.expanduser() if path else None
        # Several machines have one thing in common: the time of day.
        self._clock: Callable[[], float] = time.time if path else time.monotonic
        self._kept: Kept = {}
        self._changing = threading.Lock()
        self._file = (
            FollowedFile(
                self._path,
                _logins,
                self._take,
                what="The console's sessions",
                remedy="Remove the file: everybody signs in once more.",
            )
            if self._path
            else None
        )

    @property
    def is_shared(self) -> bool:
        """Whether other hubs open some, too."""
        return self._path is not None

    def open(self, who: str, *, role: str = "", name: str = "") -> str:
        """Return a new value that stands for a key, or a person with a role, for twelve hours. Raises StoreError."""
        token = secrets.token_urlsafe(32)
        login = Login(who, self._clock() + SESSION_SECONDS, role, name)
        self._change(lambda kept: {**kept, _digest(token.encode()): login})
        return token

    def close(self, token: bytes) -> None:
        """Forget a value. Raises StoreError."""
        digest = _digest(token)
        self._change(lambda kept: {name: one for name, one in kept.items() if name != digest})

    def find(self, token: bytes) -> Login | None:
        """Return whom a value stands for."""
        self._load()
        found = self._kept.get(_digest(token)) if self._kept else None
        return found if found is not None and found.until > self._clock() else None

    def _change(self, edit: Callable[[Kept], Kept]) -> None:
        path = self._path
        if path is None:
            with self._changing:
                self._kept = self._bounded(edit(self._kept))
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(path):
            self._load()
            self._kept = self._bounded(edit(self._kept))
            rows = {name: astuple(login) for name, login in self._kept.items()}
            replace_file(path, json.dumps({"logins": rows}).encode(), backup=False)

    def _bounded(self, kept: Kept) -> Kept:
        now, held = self._clock(), Counter[str]()
        newest: list[tuple[str, Login]] = []
        for name, one in reversed(kept.items()):
            held[one.id] += one.until > now
            if one.until > now and held[one.id] <= MOST_OF_ONE:
                newest.append((name, one))
        return dict(reversed(newest[:MAX_SESSIONS]))

    def _load(self) -> None:
        if self._file is not None:
            self._file.look({})

    def _take(self, kept: Kept) -> None:
        self._kept = kept


def _logins(document: JsonObject) -> Kept:
    return {
        name: Login(str(one[0]), float(one[1]), *map(str, one[2:4]))  # a version before knew the first two alone
        for name, one in document["logins"].items()
    }


def _digest(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()
