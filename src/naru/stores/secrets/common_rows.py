"""The seam to rows of the vault that several hubs have in common, and leases: what one process alone may hold."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from naru.stores.files.unusable import unusable

_LOCK_FILES = 64
Place = tuple[str, str, str]
"""Person, server and kind of a row."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """One row."""

    place: Place
    value: bytes
    at: int
    """Epoch seconds."""


class CommonRows(Protocol):
    """Rows that several hubs have in common. Every method may raise StoreError."""

    def all(self) -> Sequence[Sealed]:
        """Return all rows."""
        ...

    def read(self, place: Place) -> Sealed | None:
        """Return a row as it is now."""
        ...

    def write(self, row: Sealed) -> None:
        """Keep a row in place of what was kept."""
        ...

    def add(self, rows: Iterable[Sealed]) -> None:
        """Keep rows where there are none yet."""
        ...

    def take(self, place: Place) -> bytes | None:
        """Remove a row; return its value to the one who removed it."""
        ...

    def forget_server(self, server: str) -> None:
        """Remove a server's rows."""
        ...

    def prune(self, kind: str, before: int) -> None:
        """Remove the rows of a kind, by its beginning, that are older."""
        ...

    def lease(self, name: str) -> bool:
        """Take what one process alone may hold; False while another does."""
        ...

    def end_lease(self, name: str) -> None:
        """Let others have it."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class FileLeases:
    """Leases of the processes that have one folder, by locks of its files, which die with who holds them."""

    def __init__(self, folder: Path | None) -> None:
        """Lock files of `folder`; without one they are this object's alone."""
        self._folder = folder
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Take a lease unless anybody has it; names may share a file. Raises StoreError."""
        with self._lock:
            if name in self._held:
                return False
            if self._folder is None:
                self._held[name] = -1
                return True
            number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % _LOCK_FILES
            path = self._folder / f".lease-{number:02}.lock"
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise unusable(path, error, what="A lease cannot be taken") from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return False
            self._held[name] = handle
            return True

    def give(self, name: str) -> None:
        """Let others have a lease."""
        with self._lock:
            handle = self._held.pop(name, -1)
        if handle >= 0:
            os.close(handle)


class Lease:
    """One lease, tried for by tasks that may be cancelled while a thread takes it."""

    def __init__(self, take: Callable[[], bool], give: Callable[[], None]) -> None:
        self._take, self._give = take, give
        self._lock = threading.Lock()
        self._has = self._is_over = False

    def take(self) -> bool:
        """Take it, if nobody has it. Raises StoreError."""
        with self._lock:
            if not self._is_over and not self._has:
                self._has = self._take()
            return self._has

    def end(self) -> None:
        """Give it back, for good."""
        with self._lock:
            self._is_over = True
            if self._has:
                self._has = False
                self._give()
