"""Files that are read, changed and written as a whole: locked, never torn, with the last version beside them.

A folder may be shared by several machines (`share`): then its files are locked and written for all of them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import random
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from naru.errors import StoreError

LOCK_SECONDS = 60.0
"""How long a writer waits for its turn; a disk that is busy with other things holds the others up for seconds."""
_POLL_SECONDS = (0.0005, 0.004)
"""Between two looks at the lock; random, so that waiters do not move in step."""
HAD_SECONDS = 0.25
"""Whoever let go so recently lets others try first: else a busy writer starves the rest (R-27)."""
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
"""What file systems say that give no file a second name."""
_LOCKS_LOCK = threading.Lock()
_MEND_FOLDER = "Make room or make the folder writable, then try again."


class Shared(Protocol):
    """Whoever holds a folder's files in common with other machines; names are paths below the folder."""

    def covers(self, name: str) -> bool:
        """Tell whether this file is common."""
        ...

    def turn(self, name: str) -> AbstractContextManager[None]:
        """Hold a file against all others, as it is now. Raises StoreError."""
        ...

    def change(self, name: str, content: bytes | None) -> AbstractContextManager[None]:
        """Keep a file's content for all, None for no file; what is done meanwhile is done with it or not at all."""
        ...


_FOLDERS: dict[Path, Shared] = {}


def share(folder: Path, shared: Shared | None) -> None:
    """Have the common files of a folder locked and written for all; None ends that."""
    folder = folder.expanduser().absolute()
    if shared is None:
        _FOLDERS.pop(folder, None)
    else:
        _FOLDERS[folder] = shared


def _sharing(path: Path) -> tuple[Shared, str] | None:
    path = path.expanduser().absolute()
    for folder in (path.parent, path.parent.parent):
        shared = _FOLDERS.get(folder)
        if shared is not None and shared.covers(name := path.relative_to(folder).as_posix()):
            return shared, name
    return None


class _Turn:
    """One lock file, as this process's threads share it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.released_at = -HAD_SECONDS


_TURNS: dict[str, _Turn] = {}
_MOST_TURNS = 500


@contextlib.contextmanager
def file_lock(path: Path, *, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock file beside `path`, across threads and processes (R-27). Blocks: call it from a thread.

    Raises:
        StoreError: another process kept it for longer than `wait_seconds`, or it cannot be made.
    """
    lock_path = path.with_name(f".{path.name}.lock")
    deadline = time.monotonic() + wait_seconds
    turn = _of_this_process(lock_path)
    if not turn.lock.acquire(timeout=wait_seconds):
        raise _is_busy(path, wait_seconds)
    try:
        if time.monotonic() - turn.released_at < HAD_SECONDS:
            wait_a_moment()
        with _hold(path, lock_path, deadline, wait_seconds):
            if _FOLDERS and (sharing := _sharing(path)) is not None:
                with sharing[0].turn(sharing[1]):
                    yield
            else:
                yield
    finally:
        turn.released_at = time.monotonic()
        turn.lock.release()


@contextlib.contextmanager
def _hold(path: Path, lock_path: Path, deadline: float, wait_seconds: float) -> Iterator[None]:
    """Hold the lock against other processes; threads of this one have queued before."""
    try:
        handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"Cannot make the lock file {lock_path}: {error.strerror}.", remedy=_MEND_FOLDER) from error
    try:
        if not _stand_in_line(handle, max(0.0, deadline - time.monotonic())):
            raise _is_busy(path, wait_seconds)
        yield
    finally:
        os.close(handle)


def _stand_in_line(handle: int, seconds: float) -> bool:
    """Lock it in the order of coming; tell whether that was in time.

    Whoever looks again and again instead wins by luck, and where each turn takes seconds one of eight may lose for
    minutes (R-27). The kernel keeps the order, and knows no deadline: so a thread of its own waits, with a descriptor
    of its own for the same open file. The lock ends with the last of the two.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        locked: Future[None] = Future()
        threading.Thread(target=_stand, args=(os.dup(handle), locked), name="file lock", daemon=True).start()
        try:
            locked.result(seconds)
        except TimeoutError:
            return False
    return True


def _stand(handle: int, locked: Future[None]) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        locked.set_result(None)
    except OSError as error:
        locked.set_exception(error)
    finally:
        os.close(handle)


def wait_a_moment() -> None:
    """Wait as long as is usual between two looks at a lock. Blocks: call it from a thread."""
    time.sleep(random.uniform(*_POLL_SECONDS))  # noqa: S311  # no secret


def _of_this_process(lock_path: Path) -> _Turn:
    with _LOCKS_LOCK:
        if len(_TURNS) >= _MOST_TURNS:  # files come and go; who forgets a turn too early has the kernel's lock alone
            recent = time.monotonic() - HAD_SECONDS
            kept = {name: turn for name, turn in _TURNS.items() if turn.lock.locked() or turn.released_at > recent}
            _TURNS.clear()
            _TURNS.update(kept)
        return _TURNS.setdefault(str(lock_path), _Turn())


def _is_busy(path: Path, wait_seconds: float) -> StoreError:
    return StoreError(
        f"{path} is locked by another process for {wait_seconds:g} s.",
        remedy="End the other Naru that uses it, or give this one another store.",
    )


def replace_file(path: Path, content: bytes, *, backup: bool = True) -> None:
    """Write the whole file so that a crash leaves the old or the new one: temp, fsync, rename, fsync of the folder.

    The old one stays as `NAME.bak`. When any step fails the old file is in place again and no temporary one is left
    (R-24). Mode 0600, since configurations hold secrets (S-34).

    Raises:
        StoreError: it could not be written; the old content stands.
    """
    if _FOLDERS and (sharing := _sharing(path)) is not None:
        with sharing[0].change(sharing[1], content):
            replace_here(path, content, backup=backup)
    else:
        replace_here(path, content, backup=backup)


def remove_file(path: Path) -> None:
    """Remove a file, if it is there. Raises StoreError."""
    if _FOLDERS and (sharing := _sharing(path)) is not None:
        with sharing[0].change(sharing[1], None):
            path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)


def replace_here(path: Path, content: bytes, *, backup: bool = True) -> None:
    """Write the whole file in this folder alone; as `replace_file` otherwise. Raises StoreError."""
    if path.exists() and not path.is_file():  # a device or a pipe would be gone, for the whole machine
        raise StoreError(f"Cannot write {path}: it is no file. Nothing was changed.", remedy="Name a file.")
    token = f".{os.getpid()}.{secrets.token_hex(6)}"
    temporary = path.with_name(f".{path.name}{token}.tmp")
    kept = path.with_name(f".{path.name}{token}.old")
    replaced = False
    try:
        _write_synced(temporary, content)
        if path.exists():
            _keep_beside(path, kept)
        temporary.replace(path)
        replaced = True
        _sync_folder(path.parent)
        if backup and kept.exists():
            kept.replace(path.with_name(f"{path.name}.bak"))
    except OSError as error:
        with contextlib.suppress(OSError):
            if replaced and kept.exists():
                kept.replace(path)
            elif replaced and not kept.exists():
                path.unlink()
        raise StoreError(
            f"Cannot write {path}: {error.strerror or error}. Nothing was changed.",
            remedy=_MEND_FOLDER,
        ) from error
    finally:
        for leftover in (temporary, kept):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)


def _keep_beside(path: Path, kept: Path) -> None:
    """Give the file a second name; FAT and many network file systems know none, so there it is copied."""
    try:
        os.link(path, kept)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _write_synced(kept, path.read_bytes())


def remove_leftovers(path: Path) -> None:
    """Remove what a killed writer left beside the file; call it under the file's lock, when nobody else writes."""
    for leftover in path.parent.glob(f".{path.name}.*"):
        if leftover.suffix in (".tmp", ".old"):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)


def _write_synced(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # on a network drive there may be nothing to bring to a disk
            raise
    finally:
        os.close(handle)
