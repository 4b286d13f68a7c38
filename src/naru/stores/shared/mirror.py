"""The files of a data folder that several hubs hold in common, as a copy of what a database keeps.

What is not named here is each hub's own: figures, the audit log, what was seen of servers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from naru.stores.files.atomic import replace_here

logger = logging.getLogger(__name__)

FILES = ("keys.json", "approvals.json", "pins.json", "logins.json", "plan_b.key", "seal.key", "vault.key", "hubs.key")
"""Files that grow old with the installation: a hub that comes with its own brings them in where there are none yet."""
GROWN = "tokens"
"""A folder of such files."""
FOLDERS = ("waiting", "tickets")
"""Folders whose files come and go: what is in one alone is stale."""


class Mirror:
    """One folder, and which version of each document it holds. Not for several threads at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser()
        self.versions: dict[str, int] = {}

    def covers(self, name: str) -> bool:
        """Tell whether this file is common."""
        folder, slash, file = name.partition("/")
        is_of_folder = bool(slash) and folder in (*FOLDERS, GROWN)
        return not file.startswith(".") and ".." not in name and (name in FILES or is_of_folder)

    def read(self, name: str) -> bytes:
        """Return a file's content."""
        return (self.folder / name).read_bytes()

    def put(self, name: str, version: int, content: bytes | None) -> None:
        """Bring a file to a version. Raises StoreError."""
        if self.versions.get(name, 0) == version and version:
            return
        path = self.folder / name
        if content is None:
            self.versions.pop(name, None)
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_here(path, bytes(content), backup=name in FILES)
        self.versions[name] = version

    def take(self, documents: Iterable[tuple[str, int, bytes]]) -> Sequence[str]:
        """Bring the folder to what is common; return the files that are here alone and are to become so."""
        there = {name: (version, bytes(content)) for name, version, content in documents if self.covers(name)}
        for name, (version, content) in there.items():
            path = self.folder / name
            if name in FILES and name not in self.versions and path.exists() and path.read_bytes() != content:
                logger.warning("%s is now what the hubs have in common; the one before is %s.bak", path, path.name)
            self.put(name, version, content)
        for folder in FOLDERS:
            for path in (self.folder / folder).glob("[!.]*"):
                if f"{folder}/{path.name}" not in there:
                    path.unlink(missing_ok=True)
        grown = [*FILES, *(f"{GROWN}/{path.name}" for path in (self.folder / GROWN).glob("[!.]*"))]
        return [name for name in grown if name not in there and (self.folder / name).exists()]
