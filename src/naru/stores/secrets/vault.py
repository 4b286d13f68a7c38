"""What persons gave for servers: tokens and secrets, sealed (AES-256-GCM) in one file, a row for each.

A row opens only as what it was written as: person, server and kind are sealed in with it, so that a row that is copied
to another place in the file is nobody's. The key comes from `hub.vault_key`, else from a file of mode 0600 beside it.
Where several hubs share a database its rows are the truth and the file is a copy, from which a hub reads.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from naru.config import check_private
from naru.errors import ConfigError, StoreError
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.small_database import SmallDatabase
from naru.stores.files.unusable import unusable
from naru.stores.secrets.common_rows import CommonRows, FileLeases, Lease, Place, Sealed

logger = logging.getLogger(__name__)

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
_NAME_OF_ALL: Place = ("", "", "vault")
"""The row that tells one database's rows from another's; it holds random bytes."""
_READ = "select value from sealed where person = ? and server = ? and kind = ?"
_REMOVE = "delete from sealed where person = ? and server = ? and kind = ? returning value"


class UnopenedError(StoreError):
    """A row was sealed with another key: it can be replaced, and not be read."""


class Vault:
    """Keeps small JSON objects; safe to use from several threads and processes."""

    def __init__(self, folder: Path | None = None, key: str = "", common: CommonRows | None = None) -> None:
        """Open the vault of a data folder; without one it is kept in memory.

        Args:
            folder: where `vault.db` is.
            key: a secret of 32 characters or more, `keyring`, or `file:PATH`; empty makes one beside the file.
            common: the rows that other hubs have too; `vault.db` is a copy of them then.
        """
        path = folder / "vault.db" if folder is not None else None
        what = "The credentials cannot be kept or read"
        self._file = SmallDatabase(path, "pragma secure_delete = on;" + _SCHEMA, what=what)
        self.path, self.exists = self._file.path, self._file.exists
        self._is_kept = folder is not None
        self._made = secrets.token_bytes(32)
        self._given = key
        self._cipher: Any = None
        self._common = common
        self._order = threading.RLock()
        """Held while a common row and its copy change, so that an older one never follows a newer, and while `written`
        is told."""
        self._leases = FileLeases(folder.expanduser() if folder else None)
        self.written: Callable[[Place, bytes | None], None] = lambda place, sealed: None
        """Told of each row that was changed here, sealed as it is; None for one that is no more."""

    @property
    def is_a_copy(self) -> bool:
        """Whether the truth is in a database that other hubs have, too."""
        return self._common is not None

    def version(self) -> object:
        """Return what is another after another process has written; what was written here is known here.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._file.run("pragma data_version")[0][0] if self.exists() else None

    def rows(self) -> dict[Place, bytes]:
        """Return all that is kept, sealed as it is. Raises StoreError."""
        return {row.place: row.value for row in self._all()}

    def news(self, known: dict[Place, bytes]) -> list[Place]:
        """Bring what is known of the rows to what they are now; return those that were others. Raises StoreError."""
        with self._order:
            now = self.rows()
            changed = sorted(place for place in known.keys() | now.keys() if known.get(place) != now.get(place))
            known.clear()
            known.update(now)
        return changed

    def read(self, person: str, server: str, kind: str) -> dict[str, Any] | None:
        """Return what was kept; None when nothing was. Raises StoreError, ConfigError."""
        if not self.exists():
            return None
        rows = self._file.run(_READ, (person, server, kind))
        return self._opened((person, server, kind), rows[0][0]) if rows else None

    def write(self, person: str, server: str, kind: str, value: dict[str, Any]) -> None:
        """Keep an object in place of what was kept. Raises StoreError, ConfigError."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._box().encrypt(nonce, json.dumps(value).encode(), _bound(person, server, kind))
        row = Sealed((person, server, kind), sealed, int(time.time()))
        with self._order:
            if self._common is not None:
                self._common.write(row)
            self._put(row)
            self.written(row.place, sealed)

    def take(self, person: str, server: str, kind: str) -> dict[str, Any] | None:
        """Return an object and forget it, so that it is had once; None when there is none. Raises StoreError."""
        value = self._take((person, server, kind))
        return None if value is None else self._opened((person, server, kind), value)

    def prune(self, kind: str, seconds: float) -> None:
        """Forget what is of a kind, by its beginning, and older than so many seconds. Raises StoreError."""
        oldest = int(time.time() - seconds)
        if self._common is not None:
            self._common.prune(kind, oldest)
        if not self.exists():
            return
        statement = "delete from sealed where substr(kind, 1, ?) = ? and at < ? returning person, server, kind"
        with self._order:
            for person, server, whole in self._file.run(statement, (len(kind), kind, oldest)):
                self.written((person, server, whole), None)

    def delete(self, person: str, server: str, kind: str) -> bool:
        """Forget an object; tell whether there was one. Raises StoreError."""
        return self._take((person, server, kind)) is not None

    def forget_server(self, server: str) -> None:
        """Forget all that was kept for a server. Raises StoreError."""
        with self._order:
            if self._common is not None:
                self._common.forget_server(server)
            if not self.exists():
                return
            gone = self._file.run("delete from sealed where server = ? returning person, server, kind", (server,))
            for person, name, kind in gone:
                self.written((person, name, kind), None)

    def pull(self, person: str, server: str, kind: str) -> None:
        """Bring the copy of a row to what is common now. Raises StoreError."""
        if self._common is None:
            return
        with self._order:
            row = self._common.read((person, server, kind))
            if row is not None:
                self._put(row)
            elif self.exists():
                self._file.run(_REMOVE, (person, server, kind))

    def join(self) -> Sequence[Place]:
        """Bring the copy to what is common; return what changed. What a vault of its own held is brought in.

        Raises:
            StoreError: the database is away, or the file cannot be written.
        """
        if self._common is None:
            return []
        with self._order:
            self._cipher = None  # the common key may have come meanwhile
            self._common.add([Sealed(_NAME_OF_ALL, secrets.token_bytes(16), int(time.time()))])
            mine = {row.place: row for row in self._all()}
            theirs = {row.place: row for row in self._common.all()}
            before, name = mine.pop(_NAME_OF_ALL, None), theirs[_NAME_OF_ALL]
            if mine and (before is None or before.value != name.value):
                self._bring_in(list(mine.values()))
                theirs = {row.place: row for row in self._common.all()}
            changed = [row for row in theirs.values() if mine.get(row.place) != row]
            for row in changed:
                self._put(row)
            gone = [place for place in mine if place not in theirs]
            for place in gone:
                self._file.run(_REMOVE, place)
        return [*gone, *(row.place for row in changed if row.place != _NAME_OF_ALL)]

    def lease(self, name: str) -> Lease:
        """Return a lease that one process of all those that have this vault can hold at a time."""
        common, leases = self._common, self._leases
        if common is None:
            return Lease(lambda: leases.take(name), lambda: leases.give(name))
        return Lease(lambda: common.lease(name), lambda: common.end_lease(name))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._common is not None:
            self._common.close()

    def _bring_in(self, rows: Sequence[Sealed]) -> None:
        """Give a vault of its own to all hubs, as far as their key opens it; a copy stays as `vault.db.bak`."""
        self._file.copy(self.path.with_name("vault.db.bak"))
        good = [row for row in rows if self._opens(row)]
        assert self._common is not None
        self._common.add(good)
        if len(good) < len(rows):
            logger.warning(
                "%d of what persons gave for servers was sealed with another key than the hubs have in common, and is "
                "in %s.bak: who gave it gives it again.",
                len(rows) - len(good),
                self.path,
            )

    def _opens(self, row: Sealed) -> bool:
        try:
            self._opened(row.place, row.value)
        except UnopenedError:
            return False
        return True

    def _opened(self, place: Place, sealed: bytes) -> dict[str, Any]:
        try:
            opened = self._box().decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _bound(*place))
        except Exception as error:  # `InvalidTag`, whose module is imported with the cipher alone
            raise UnopenedError(
                f"What was kept for {place[1]} in {self.path} cannot be opened: the key is another, or it was changed.",
                remedy="Give the key that it was sealed with (hub.vault_key), or sign in or store it again.",
            ) from error
        found: dict[str, Any] = json.loads(opened)
        return found

    def _all(self) -> list[Sealed]:
        if not self.exists():
            return []
        rows = self._file.run("select person, server, kind, value, at from sealed")
        return [Sealed((person, server, kind), value, at) for person, server, kind, value, at in rows]

    def _put(self, row: Sealed) -> None:
        self._file.run("insert or replace into sealed values (?, ?, ?, ?, ?)", (*row.place, row.value, row.at))

    def _take(self, place: Place) -> bytes | None:
        """Remove a row; return its value to the one who removed it."""
        with self._order:
            value = None if self._common is None else self._common.take(place)
            rows = self._file.run(_REMOVE, place) if self.exists() else []
            if self._common is None and rows:
                value = rows[0][0]
            if value is not None:
                self.written(place, None)
        return value

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
            with file_lock(place):
                if not place.exists():
                    self._check_unsealed(str(place))
                    replace_file(place, secrets.token_hex(32).encode() + b"\n", backup=False)
        return _read(place)

    def _check_unsealed(self, key: str) -> None:
        """Refuse to make another key while something is sealed with the one that is gone."""
        if (
            self._is_kept
            and self.exists()
            and self._file.run("select 1 from sealed where kind <> ? limit 1", _NAME_OF_ALL[2:])
        ):
            raise StoreError(
                f"{key} is gone, and {self.path} was sealed with it.",
                remedy="Put it back. Or stop Naru and move that file away: who signed in at servers or stored secrets "
                "for them does so again.",
            )

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
