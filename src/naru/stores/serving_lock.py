"""One serving hub for each local store: a second one would start every child a second time (R-27, f13)."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from naru.errors import ConfigError
from naru.stores.files.unusable import unusable
from naru.stores.open import local_path


@contextlib.contextmanager
def serving_lock(url: str, address: str) -> Iterator[None]:
    """Hold a store as its one serving hub. The kernel lets go of it however this process ends.

    Stores in memory have one user anyway; a PostgreSQL database may be shared by several hubs on purpose.

    Args:
        url: the store's.
        address: where this hub answers, for the message that a second one gets.

    Raises:
        ConfigError: another hub serves it; names its process and address.
        StoreError: its folder cannot be written.
    """
    path = local_path(url)
    if path is None:
        yield
        return
    marker = path.with_name(f".{path.name}.hub")
    try:
        marker.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(path, error, what="The store cannot be opened") from error
    try:
        _hold(handle, path)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}, {address}".encode(), 0)
        yield
    finally:
        os.close(handle)


def _hold(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = os.pread(handle, 200, 0).decode("utf-8", "replace") or "process unknown"
        raise ConfigError(
            f"Another Naru serves the store {path} already ({who}).",
            remedy="Use that one, stop it, or give this one a store of its own: --store sqlite:PATH.",
        ) from None
