"""The seam to rows of the vault that several hubs have in common, and leases: what one process alone may hold."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from naru.stores.files.unusable import unusable

_LOCK_FILES = 64
_LOOK_SECONDS = 0.03
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

    @asynccontextmanager
    async def held(self, patience_seconds: float) -> AsyncIterator[bool]:
        """Hold it while the block runs; gives whether it could be had so soon. Raises StoreError."""
        deadline = time.monotonic() + patience_seconds
        try:
            while not (is_ours := await asyncio.to_thread(self.take)):
                if time.monotonic() > deadline:
                    break
                await asyncio.sleep(_LOOK_SECONDS)
            yield is_ours
        finally:
            await asyncio.to_thread(self.end)


class FileLeases:
    """Leases of the processes that have one folder, by locks of its files, which die with who holds them."""

    def __init__(self, folder: Path | None, me: str = "") -> None:
        """Lock files of `folder`; without one they are this object's alone. `me` is told to who asks for the holder."""
        self._folder = folder
        self._me = me
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
            path = self._path(name)
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise unusable(path, error, what="A lease cannot be taken") from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(handle, 0)
                os.write(handle, self._me.encode())
            except BlockingIOError:
                os.close(handle)
                return False
            except OSError as error:
                os.close(handle)
                raise unusable(path, error, what="A lease cannot be taken") from error
            self._held[name] = handle
            return True

    def lease(self, name: str) -> Lease:
        """Return one to be tried for."""
        return Lease(lambda: self.take(name), lambda: self.give(name))

    def holds(self, name: str) -> bool:
        """Tell whether this process has it."""
        return name in self._held

    def holder(self, name: str) -> str:
        """Return who took it last: ask where `take` was refused."""
        try:
            return self._path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        digest = hashlib.sha256(name.encode()).hexdigest()
        # Whoever holds one for long tells who it is, and has a file of its own.
        own = digest[:16] if self._me else f"{int(digest[:8], 16) % _LOCK_FILES:02}"
        return self._folder / f".lease-{own}.lock"

    def give(self, name: str) -> None:
        """Let others have a lease."""
        with self._lock:
            handle = self._held.pop(name, -1)
        if handle >= 0:
            os.close(handle)
