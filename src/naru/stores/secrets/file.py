"""A secret that an installation makes once and keeps: 256 random bits in a file of mode 0600."""

from __future__ import annotations

import secrets
from pathlib import Path

from naru.stores.files.atomic import file_lock, replace_file


def secret_of(path: Path) -> bytes:
    """Return the secret of that file; the first who asks makes it, for all. Raises StoreError, OSError."""
    path = path.expanduser()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(path):
            if not path.exists():
                replace_file(path, secrets.token_bytes(32), backup=False)
    return path.read_bytes()
