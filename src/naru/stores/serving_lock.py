"""One serving hub for each local store: a second one would start every child a second time (R-27, f13).

A data folder may be several hubs' whose stores are others; who puts another in its place is to find none of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from naru.errors import ConfigError, StoreError
from naru.stores.files.unusable import unusable
from naru.stores.open import local_path

OTHERWISE = "Use that one, stop it, or give this one a store of its own: --store sqlite:PATH."


@contextlib.contextmanager
def serving_lock(url: str, address: str, *, remedy: str = OTHERWISE) -> Iterator[None]:
    """Hold a store as its one serving hub. The kernel lets go of it however this process ends.

    Stores in memory have one user anyway; a PostgreSQL database may be shared by several hubs on purpose.

    Args:
        url: the store's.
        address: where this hub answers, for the message that a second one gets.
        remedy: what a second one can do.

    Raises:
        ConfigError: another hub serves it; names its process and address.
        StoreError: its folder cannot be written.
    """
    path = local_path(url)
    if path is None:
        yield
        return
    with _marked(path.with_name(f".{path.name}.hub"), address, fcntl.LOCK_EX) as other:
        if other:
            raise ConfigError(f"Another Naru serves the store {path} already ({other}).", remedy=remedy)
        yield


@contextlib.contextmanager
def folder_in_use(folder: Path, address: str, *, alone: bool = False) -> Iterator[None]:
    """Use a data folder, beside others or alone; where nobody can write, nobody puts another in its place either.

    Raises:
        ConfigError: others use it, or one uses it alone; names a process and its address.
        StoreError: it cannot be written, and is to be used alone.
    """
    how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with contextlib.ExitStack() as held:
        try:
            other = held.enter_context(_marked(folder.expanduser() / ".folder.hub", address, how))
        except StoreError:
            if alone:
                raise
            other = ""
        if other:
            raise ConfigError(f"Another Naru uses the data folder {folder} ({other}).", remedy="Stop that one first.")
        yield


@contextlib.contextmanager
def _marked(marker: Path, address: str, how: int) -> Iterator[str]:
    """Lock a file and write into it who does; gives who has it instead, else nothing."""
    try:
        marker.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(marker, error, what="The store cannot be opened") from error
    try:
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            yield os.pread(handle, 200, 0).decode("utf-8", "replace") or "process unknown"
            return
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}, {address}".encode(), 0)
        yield ""
    finally:
        os.close(handle)
