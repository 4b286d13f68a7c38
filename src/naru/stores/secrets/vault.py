"""What persons gave for servers: tokens and secrets, sealed (AES-256-GCM) in one file, a row for each.

A row opens only as what it was written as: person, server and kind are sealed in with it, so that a row that is copied
to another place in the file is nobody's. The key comes from `hub.vault_key`, else from a file of mode 0600 beside it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import secrets
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from naru.config import check_private
from naru.errors import ConfigError, StoreError
from naru.stores.files.atomic import replace_file
from naru.stores.files.unusable import unusable
from naru.stores.files.write_ahead import write_ahead

SHARED = ""
"""The person of what is everybody's."""
_SCHEMA = """
create table if not exists sealed (
    person text not null, server text not null, kind text not null, value blob not null, at integer not null,
    primary key (person, server, kind)
) without rowid;
"""
_NONCE_BYTES = 12
_KEYRING = "keyring"


class Vault:
    """Keeps small JSON objects; safe to use from several threads and processes."""

    def __init__(self, folder: Path | None = None, key: str = "") -> None:
        """Open the vault of a data folder; without one it is kept in memory.

        Args:
            folder: where `vault.db` is.
            key: a secret of 32 characters or more, `keyring`, or `file:PATH`; empty makes one beside the file.
        """
        self.path = Path(":memory:") if folder is None else folder.expanduser() / "vault.db"
        self._is_kept = folder is not None
        self._made = secrets.token_bytes(32)
        self._given = key
        self._connection: sqlite3.Connection | None = None
        self._cipher: Any = None
        self._lock = threading.Lock()

    def exists(self) -> bool:
        """Tell whether anything was ever kept."""
        return self.path.exists() if self._is_kept else self._connection is not None

    def read(self, person: str, server: str, kind: str) -> dict[str, Any] | None:
        """Return what was kept; None when nothing was. Raises StoreError, ConfigError."""
        if not self.exists():
            return None
        rows = self._run(
            "select value from sealed where person = ? and server = ? and kind = ?", (person, server, kind)
        )
        if not rows:
            return None
        sealed: bytes = rows[0][0]
        try:
            opened = self._box().decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _bound(person, server, kind))
        except Exception as error:  # `InvalidTag`, whose module is imported with the cipher alone
            raise StoreError(
                f"What was kept for {server} in {self.path} cannot be opened: the key is another, or it was changed.",
                remedy="Give the key that it was sealed with (hub.vault_key), or sign in again.",
            ) from error
        found: dict[str, Any] = json.loads(opened)
        return found

    def write(self, person: str, server: str, kind: str, value: dict[str, Any]) -> None:
        """Keep an object in place of what was kept. Raises StoreError, ConfigError."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._box().encrypt(nonce, json.dumps(value).encode(), _bound(person, server, kind))
        row = (person, server, kind, sealed, int(time.time()))
        self._run("insert or replace into sealed values (?, ?, ?, ?, ?)", row)

    def take(self, person: str, server: str, kind: str) -> dict[str, Any] | None:
        """Return an object and forget it, so that it is had once; None when there is none. Raises StoreError."""
        found = self.read(person, server, kind)
        return found if found is not None and self.delete(person, server, kind) else None

    def prune(self, kind: str, seconds: float) -> None:
        """Forget what is of a kind, by its beginning, and older than so many seconds. Raises StoreError."""
        if self.exists():
            oldest = int(time.time() - seconds)
            self._run("delete from sealed where substr(kind, 1, ?) = ? and at < ?", (len(kind), kind, oldest))

    def delete(self, person: str, server: str, kind: str) -> bool:
        """Forget an object; tell whether there was one. Raises StoreError."""
        if not self.exists():
            return False
        return bool(
            self._run(
                "delete from sealed where person = ? and server = ? and kind = ? returning 1", (person, server, kind)
            )
        )

    def forget_server(self, server: str) -> None:
        """Forget all that was kept for a server. Raises StoreError."""
        if self.exists():
            self._run("delete from sealed where server = ?", (server,))

    def persons(self, server: str, kind: str) -> list[str]:
        """Return who has kept something of that kind for a server. Raises StoreError."""
        if not self.exists():
            return []
        return [row[0] for row in self._run("select person from sealed where server = ? and kind = ?", (server, kind))]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = self._open()
                with self._connection as connection:
                    return connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error, what="The credentials cannot be kept or read") from error

    def _open(self) -> sqlite3.Connection:
        if self._is_kept:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)
        connection = sqlite3.connect(self.path, timeout=5, check_same_thread=False)
        write_ahead(connection)
        connection.executescript("pragma secure_delete = on;" + _SCHEMA)
        connection.commit()
        return connection

    def _box(self) -> Any:
        if self._cipher is None:
            aead = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
            self._cipher = aead.AESGCM(hashlib.sha256(b"naru vault 1\0" + self._key()).digest())
        return self._cipher

    def _key(self) -> bytes:
        if self._given == _KEYRING:
            return self._from_keyring()
        if self._given.startswith("file:"):
            return _read(Path(self._given.removeprefix("file:")).expanduser())
        if self._given:
            if len(self._given) < 32:
                raise ConfigError("hub.vault_key is too short.", remedy="Give 32 random characters or more.")
            return self._given.encode()
        if not self._is_kept:
            return self._made
        place = self.path.with_name("vault.key")
        if not place.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._check_unsealed(str(place))
            replace_file(place, secrets.token_hex(32).encode() + b"\n", backup=False)
        return _read(place)

    def _check_unsealed(self, key: str) -> None:
        """Refuse to make another key while something is sealed with the one that is gone."""
        if self._is_kept and self.exists() and self._run("select 1 from sealed limit 1", ()):
            raise StoreError(f"{key} is gone, and {self.path} was sealed with it.", remedy="Put it back.")

    def _from_keyring(self) -> bytes:
        try:
            keyring = importlib.import_module("keyring")
        except ImportError as error:
            said = "hub.vault_key is keyring, and the package keyring is not installed."
            raise ConfigError(said, remedy="Install it, or name a file: file:PATH.") from error
        try:
            found = keyring.get_password("naru", "vault")
            if not found:
                self._check_unsealed("The keyring's entry vault of naru")
                keyring.set_password("naru", "vault", secrets.token_hex(32))
                found = keyring.get_password("naru", "vault")  # another process may have set it at the same time
        except keyring.errors.KeyringError as error:  # none on this machine, or it stays locked
            said = f"hub.vault_key is keyring, and the keyring does not open: {error}"
            raise ConfigError(said, remedy="Unlock it, or name a file: file:PATH.") from error
        return str(found).encode()


def _read(place: Path) -> bytes:
    check_private(place)
    try:
        key = place.read_bytes().strip()
    except OSError as error:
        raise unusable(place, error, what="The vault's key cannot be read") from error
    if len(key) < 32:
        raise ConfigError(f"The key in {place} is too short.", remedy="Give 32 random characters or more.")
    return key


def _bound(person: str, server: str, kind: str) -> bytes:
    """Return what a row is sealed with beside its value."""
    return json.dumps([person, server, kind]).encode()
