"""What a person hears when a file of the data folder cannot be used: one cause, one remedy, everywhere (S-44)."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from naru.errors import StoreError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SQLITE_FULL = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE"})


_ELSEWHERE = "choose another folder: NARU_HUB__DATA_DIR (hub.data_dir)"


def unusable(
    path: Path, error: OSError | sqlite3.Error, *, what: str, else_do: str = "", elsewhere: str = _ELSEWHERE
) -> StoreError:
    """Return the error for a file that cannot be opened, read or written.

    Args:
        path: the file.
        error: what happened.
        what: what was tried with it, such as `The runs cannot be kept or read`.
        else_do: a way out that only this file has; a sentence.
        elsewhere: how it can be put somewhere else.
    """
    if _is_full(error):
        remedy = f"Free space where {path.parent} is."
    else:
        remedy = f"Let this user write in {path.parent}, or {elsewhere}."
    cause = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return StoreError(f"{what} ({path}): {cause.rstrip('.')}.", remedy=f"{remedy} {else_do}".rstrip())


def _is_full(error: OSError | sqlite3.Error) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL
    return getattr(error, "sqlite_errorname", "") in _SQLITE_FULL
