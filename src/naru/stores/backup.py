"""A copy of all that an installation keeps, in one file: made while the hub runs, put back while it does not (N24).

A database in WAL mode must never be copied file by file: what stands in its log would be missing. Each is copied by
SQLite itself; every other file is replaced as a whole when it changes, so that a plain copy of it is whole.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from naru import __version__
from naru.errors import ConfigError, ConflictError, StoreError
from naru.stores.files.unusable import unusable

MANIFEST = "naru-backup.json"
_FORMAT = 1
_SQLITE = b"SQLite format 3\0"
_NOT_KEPT = ("-wal", "-shm", ".lock", ".hub", ".tmp")
"""Endings of what belongs to a process that runs, or is part of a database's copy."""
_FRESH, _ASIDE = ".restored", ".before-"
"""What a restore's own folders are named, after the data folder."""
_DAMAGED = (
    tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, FileNotFoundError, ValueError, KeyError, TypeError,
)  # fmt: skip
"""What reading a file raises that is no whole backup; any other OSError is one of the disk."""
_PIECE_BYTES = 1 << 20
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds."""

    made_at: int
    """Epoch seconds."""
    version: str
    files: dict[str, str]
    """Path below the data folder → sha256 of its content."""


def make(folder: Path, target: Path, told: Told = lambda done, of: None) -> Backup:
    """Write all files of a data folder into a `.tar.gz`, readable by its owner alone; a hub may run meanwhile.

    Raises:
        StoreError: a file cannot be read, or the target cannot be written; no half file is left.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise StoreError(f"There is no data folder {folder}.", remedy="Nothing is kept yet, or set NARU_HUB__DATA_DIR.")
    if target.exists():
        raise ConflictError(f"{target} is there already.", remedy="Name another file.")
    partial = target.with_name(f".{target.name}.tmp")
    found = sorted(_kept(folder))
    hashes: dict[str, str] = {}
    try:
        with tempfile.TemporaryDirectory() as scratch, _private(partial) as file:
            with tarfile.open(fileobj=file, mode="w:gz") as archive:
                for number, path in enumerate(found):
                    told(number, len(found))
                    try:
                        copy = _copied(path, Path(scratch) / "copy")
                    except FileNotFoundError:
                        continue  # A hub that runs has removed it meanwhile.
                    name = path.relative_to(folder).as_posix()
                    hashes[name] = _digest(copy)
                    archive.add(copy, arcname=f"data/{name}", filter=_plain)
                made = Backup(int(time.time()), __version__, hashes)
                manifest = Path(scratch) / MANIFEST
                told_of = {"format": _FORMAT, "version": made.version, "madeAt": made.made_at, "files": made.files}
                manifest.write_text(json.dumps(told_of, indent=1), encoding="utf-8")
                archive.add(manifest, arcname=MANIFEST, filter=_plain)
            os.fsync(file.fileno())
        partial.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise unusable(target, error, what="The backup cannot be written", elsewhere="name another file") from error
    finally:
        partial.unlink(missing_ok=True)  # of one that failed or was interrupted
    told(len(found), len(found))
    return made


def check_backup(source: Path) -> None:
    """Look at how a file begins: whether it is damaged further on shows when it is put back.

    Raises:
        ConfigError: it is no backup, or cannot be read.
    """
    with _reading(source):
        pass


def restore(source: Path, folder: Path, *, replace: bool = False) -> tuple[Backup, Path | None]:
    """Put a backup's files where the data folder is; what was there is moved aside, never removed.

    It is moved beside the folder, or into it where the folder cannot be moved: a volume, or one in another's folder.

    Returns:
        The backup, and where the old folder is now.

    Raises:
        ConfigError: it is no backup, one of a newer Naru, or damaged; nothing was changed.
        ConflictError: something is kept there already and `replace` was not said.
        StoreError: it cannot be written.
    """
    check_backup(source)
    folder = folder.expanduser()
    inside = folder.is_mount() or (folder.is_dir() and not os.access(folder.parent, os.W_OK))
    held = list(folder.iterdir()) if folder.is_dir() else []
    if inside:
        held = [path for path in held if not _is_of_a_restore(path, folder) and path.name != "lost+found"]
    if held and not replace:
        raise ConflictError(
            f"{folder} holds data already.", remedy="Say --replace: it is moved aside first, not removed."
        )
    place = folder if inside else folder.parent
    fresh = place / f".{folder.name}{_FRESH}"
    aside = place / f"{folder.name}{_ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        found = _unpacked(source, fresh)
        if inside:
            aside.mkdir(mode=0o700)
            _moved([(path, aside / path.name) for path in held] + [(new, folder / new.name) for new in fresh.iterdir()])
        elif held:
            _moved([(folder, aside), (fresh, folder)])
        else:
            _moved([(fresh, folder)])  # in the place of an empty one, too
    except OSError as error:
        raise unusable(fresh, error, what="The backup cannot be put back") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        with contextlib.suppress(OSError):
            aside.rmdir()  # where nothing was moved into it
    return found, aside if held else None


def _is_of_a_restore(path: Path, folder: Path) -> bool:
    """Whether an entry of a data folder is what was moved aside within it, or half of what was to come."""
    return path.name == f".{folder.name}{_FRESH}" or path.name.startswith(f"{folder.name}{_ASIDE}")


def _moved(moves: Sequence[tuple[Path, Path]]) -> None:
    """Rename each, or none. Raises OSError."""
    with contextlib.ExitStack() as undo:
        for old, new in moves:
            old.rename(new)
            undo.callback(new.rename, old)
        undo.pop_all()


def _kept(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        is_own = path.name.startswith(".") or path.name.endswith(_NOT_KEPT)
        is_own = is_own or _is_of_a_restore(Path(path.relative_to(folder).parts[0]), folder)
        if not is_own and not path.is_symlink() and path.is_file():
            yield path


def _copied(path: Path, copy: Path) -> Path:
    """Return a whole copy of a file; of a database the one that SQLite makes."""
    copy.unlink(missing_ok=True)
    with path.open("rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    if not is_database:
        shutil.copyfile(path, copy)
        return copy
    with (
        contextlib.closing(sqlite3.connect(path, timeout=30)) as source,
        contextlib.closing(sqlite3.connect(copy)) as to,
    ):
        source.backup(to)
    return copy


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    """Make a file that nobody else has laid there before, with eyes of his own or as a link to elsewhere."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as file:
        yield file


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = stat.S_IRUSR | stat.S_IWUSR
    return member


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, fresh: Path) -> None:
    """Write one plain file below `fresh`; a name that leads out of it, or a link, is none of ours."""
    path = fresh / member.name
    file = archive.extractfile(member) if member.isfile() else None
    if file is None or ".." in path.parts or not path.is_relative_to(fresh):
        raise ValueError(member.name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    with path.open("wb") as written:
        shutil.copyfileobj(file, written)


@contextlib.contextmanager
def _reading(source: Path) -> Iterator[tuple[tarfile.TarFile, gzip.GzipFile]]:
    """Open a backup; what its reader finds wrong with it is told as that. Raises ConfigError."""
    try:
        file = source.open("rb")
    except OSError as error:
        raise ConfigError(f"{source} cannot be read: {error.strerror}.", remedy="Let this user read it.") from error
    try:
        with file, gzip.open(file) as whole, tarfile.open(fileobj=whole, mode="r:") as archive:
            yield archive, whole
    except _DAMAGED as error:
        raise ConfigError(
            f"{source} is no backup of Naru, or it is damaged.", remedy="Make one with: naru backup FILE"
        ) from error


def _unpacked(source: Path, fresh: Path) -> Backup:
    """Write a backup's files below `fresh`, each checked against its hash. Raises ConfigError, OSError."""
    with _reading(source) as (archive, whole):
        for member in archive:
            _put(archive, member, fresh)
        while whole.read(_PIECE_BYTES):
            pass  # to its end, where the checksum of all of it stands
        manifest = json.loads((fresh / MANIFEST).read_text(encoding="utf-8"))
        found = Backup(manifest["madeAt"], manifest["version"], manifest["files"])
    if manifest.get("format") != _FORMAT:
        raise ConfigError(f"{source} was made by a newer Naru ({found.version}).", remedy="Restore it with that one.")
    data = fresh / "data"
    for name, digest in found.files.items():
        path = data / name
        if not path.is_file() or _digest(path) != digest:
            raise ConfigError(f"{source} is damaged: {name} is not what was put in.", remedy="Take another backup.")
    (fresh / MANIFEST).unlink()
    if data.is_dir():
        for path in list(data.iterdir()):
            path.rename(fresh / path.name)
        data.rmdir()
    return found
