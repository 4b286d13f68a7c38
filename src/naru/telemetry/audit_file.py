"""The audit log on disk: append-only JSON lines, each with the hash of the one before it (S-61).

A line ends in `"hash":"…"}`: SHA-256 of everything before that member. Several processes may write one log in turn.
A chain shows that lines were changed, taken out or put in; that the end was cut off shows only against a head that was
kept elsewhere (`naru audit verify --expect`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from naru.errors import StoreError
from naru.messages import JsonObject
from naru.stores.files.unusable import unusable

LOCK_SECONDS = 20.0
"""How long a writer waits for its turn among processes."""
FIRST = "0" * 64
"""What the first line of all has in the place of an earlier hash."""
_HASH_MEMBER = b',"hash":"'
_TAIL_BYTES = len(_HASH_MEMBER) + 64 + len(b'"}')
_NUMBERED = "audit-*.jsonl"
_ESCAPING = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_MAX_LINE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain."""

    seq: int = 0
    sha256: str = FIRST

    def __str__(self) -> str:
        return f"{self.seq}:{self.sha256}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a walk through the chain found."""

    entries: int
    first_seq: int
    head: Head
    problems: tuple[str, ...]
    torn_bytes: int = 0
    """Of an unfinished last line, as a crash leaves it; nothing that was promised stands there."""

    @property
    def holds(self) -> bool:
        """Tell whether no line was changed, taken out or put in."""
        return not self.problems


class AuditFile:
    """Appends to the log, one append at a time; files stay open in between."""

    def __init__(self, path: Path, *, max_bytes: int = 16 * 1024 * 1024, keep_files: int = 10) -> None:
        self.path = path.expanduser()
        self._name = str(self.path)
        self._max_bytes = max_bytes
        self._keep_files = keep_files
        self._head = Head()
        self._size = -1
        """Where the next line goes, as far as this process knows; another one may have been here meanwhile."""
        self._inode = -1
        self._descriptor = -1
        self._lock = -1

    def append(self, entries: Sequence[JsonObject], *, durable: bool = False) -> None:
        """Write entries in order with one write. Blocks: call it from a thread.

        Args:
            entries: without number and hashes.
            durable: wait until the disk has them.

        Raises:
            StoreError: they could not be written; then none of them stands in the log.
        """
        deadline = time.monotonic() + LOCK_SECONDS
        while not self._attempt(entries, durable=durable):
            if time.monotonic() >= deadline:
                raise StoreError(f"The audit log {self.path} is locked by another process for {LOCK_SECONDS:g} s.")
            time.sleep(0.002)

    def try_append(self, entries: Sequence[JsonObject]) -> bool:
        """Hand entries to the system by one write, if nothing else has to be done: no file opened, read or put aside.

        For the event loop: it never waits for the disk or for another process (R-38).

        Raises:
            StoreError: they could not be written; then none of them stands in the log.
        """
        return self._lock >= 0 and self._attempt(entries, durable=False, quick=True)

    def close(self) -> None:
        """Let go of the files."""
        for descriptor in (self._descriptor, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._lock = self._inode = -1

    def _attempt(self, entries: Sequence[JsonObject], *, durable: bool, quick: bool = False) -> bool:
        try:
            if self._lock < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock_path = self.path.with_name(f".{self.path.name}.lock")
                self._lock = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            try:
                if not self._is_where_we_left_it():
                    if quick:
                        return False
                    entries = (*self._make_ready(), *entries)
                self._append(entries, durable=durable)
            finally:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
        except OSError as error:
            self.close()
            raise unusable(
                self.path,
                error,
                what="The audit log cannot be written",
                else_do="What is done meanwhile: audit.when_it_fails.",
            ) from error
        return True

    def _append(self, entries: Sequence[JsonObject], *, durable: bool) -> None:
        head, lines = self._head, bytearray()
        for entry in entries:
            head, line = chained(head, entry)
            lines += line
        _write_all(self._descriptor, bytes(lines), self._size, durable=durable)
        self._head, self._size = head, self._size + len(lines)

    def _make_ready(self) -> list[JsonObject]:
        """Find the end of the chain, put a full file aside; return what is to be said about a torn line."""
        size = self._find_end()
        before = self._find_head(size) if size != self._size else []
        self._size = os.fstat(self._descriptor).st_size
        if self._size >= self._max_bytes:
            self._put_aside()
            self._size = self._find_end()
        return before

    def _is_where_we_left_it(self) -> bool:
        """Tell whether the file is the one that is open, ends where we ended it, and has room."""
        try:
            info = os.stat(self._name)  # noqa: PTH116  # Path.stat costs twice as much, at each call
        except FileNotFoundError:
            return False
        return (info.st_ino, info.st_size) == (self._inode, self._size) and self._size < self._max_bytes

    def _find_end(self) -> int:
        """Have the present file open, and return its length."""
        try:
            info = self.path.stat()
        except FileNotFoundError:
            info = None
        if info is not None and info.st_ino == self._inode:
            return info.st_size
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        info = os.fstat(self._descriptor)
        self._inode, self._size = info.st_ino, -1
        return info.st_size

    def _find_head(self, size: int) -> list[JsonObject]:
        """Read the end of the chain; cut off what a crash left unfinished, and return the entry that says so."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            _, torn, last = _last_line(file)
        self._head = _head_of(last) if last else _last_head(older_files(self.path))
        if not torn:
            return []
        os.ftruncate(self._descriptor, size - torn)
        return [{"what": "audit.recovered", "at": now(), "torn_bytes": torn}]

    def _put_aside(self) -> None:
        with self.path.open("rb") as file:
            first = parsed(file.readline(_MAX_LINE))
        number = first["seq"] if first is not None else self._head.seq  # changed by hand: its last one sorts as well
        self.path.rename(self.path.with_name(f"audit-{number:012d}.jsonl"))
        for old in older_files(self.path)[: -self._keep_files]:
            old.unlink()


def older_files(path: Path) -> list[Path]:
    """Return the files that were put aside, oldest first."""
    return sorted(path.parent.glob(_NUMBERED))


def now() -> str:
    """Return the time as an entry has it: UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chained(head: Head, entry: JsonObject) -> tuple[Head, bytes]:
    """Return the new end of the chain and the line that makes it; control characters are escaped (S-36)."""
    seq = head.seq + 1
    start = _ascii_json({"seq": seq, **entry, "prev": head.sha256})[:-1]
    digest = hashlib.sha256(start).hexdigest()
    return Head(seq, digest), b'%s,"hash":"%s"}\n' % (start, digest.encode("ascii"))


def _ascii_json(entry: JsonObject) -> bytes:
    with contextlib.suppress(TypeError):  # a lone surrogate
        data = orjson.dumps(entry)
        if data.isascii():
            return data.replace(b"\x7f", b"\\u007f")
    return _ESCAPING.encode(entry).encode("ascii").replace(b"\x7f", b"\\u007f")


def read_entries(path: Path) -> Iterator[JsonObject]:
    """Give the entries of all files, oldest first; lines that are no entries are left out. Raises OSError."""
    for file in all_files(path):
        with file.open("rb") as lines:
            for line in lines:
                entry = parsed(line)
                if entry is not None:
                    yield entry


def verify(path: Path, *, expect: Head | None = None) -> Verdict:
    """Walk the chain over all files.

    Args:
        path: of `audit.jsonl`; files put aside are found beside it.
        expect: a head noted earlier; the chain must pass through it.

    Raises:
        StoreError: a file cannot be read.
    """
    walk = _Walk(expect)
    try:
        for file in all_files(path.expanduser()):
            walk.file(file)
    except OSError as error:
        raise StoreError(f"The audit log cannot be read: {error}.") from error
    if expect is not None and not walk.passed and expect != Head():
        walk.problems.append(f"the chain does not pass through {expect}: lines are missing, or it was written anew")
    return Verdict(walk.entries, walk.first_seq, walk.head, tuple(walk.problems), walk.torn_bytes)


class _Walk:
    def __init__(self, expect: Head | None) -> None:
        self.expect = expect
        self.passed = False
        self.head = Head()
        self.entries = 0
        self.first_seq = 0
        self.torn_bytes = 0
        self.problems: list[str] = []

    def file(self, path: Path) -> None:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if self.torn_bytes:
                    self.problems.append(f"{path.name}: an unfinished line stands before its end")
                    self.torn_bytes = 0
                if not line.endswith(b"\n"):
                    self.torn_bytes = len(line)
                else:
                    self._line(f"{path.name}:{number}", line)

    def _line(self, place: str, line: bytes) -> None:
        entry = parsed(line)
        if entry is None:
            self.problems.append(f"{place}: this is not an entry, or its hash is not that of its text")
            return
        if self.entries == 0:
            self.first_seq = entry["seq"]
            if entry["seq"] == 1 and entry["prev"] != FIRST:
                self.problems.append(f"{place}: the first line names an earlier one")
        elif entry["seq"] != self.head.seq + 1:
            self.problems.append(f"{place}: number {entry['seq']} follows {self.head.seq}")
        elif entry["prev"] != self.head.sha256:
            self.problems.append(f"{place}: it does not follow from the line before it")
        self.entries += 1
        self.head = Head(entry["seq"], entry["hash"])
        self.passed = self.passed or self.head == self.expect


def all_files(path: Path) -> list[Path]:
    """Return every file of a log, oldest first."""
    return [*older_files(path), *([path] if path.exists() else [])]


def parsed(line: bytes) -> dict[str, Any] | None:
    """Read a line whose hash is right; None for any other."""
    start, tail = line[: -_TAIL_BYTES - 1], line[-_TAIL_BYTES - 1 :]
    if not tail.startswith(_HASH_MEMBER) or not tail.endswith(b'"}\n'):
        return None
    digest = tail[len(_HASH_MEMBER) :][:64].decode("ascii", "replace")
    if hashlib.sha256(start).hexdigest() != digest:
        return None
    try:
        entry = json.loads(start + b"}")
    except ValueError:
        return None
    is_entry = isinstance(entry, dict) and isinstance(entry.get("seq"), int) and isinstance(entry.get("prev"), str)
    return {**entry, "hash": digest} if is_entry else None


def _head_of(line: bytes) -> Head:
    entry = parsed(line)
    if entry is None:
        raise StoreError(
            "The last line of the audit log was changed by hand; nothing is added to it.",
            remedy="See `naru audit verify`; move audit.jsonl away to begin a new chain.",
        )
    return Head(entry["seq"], entry["hash"])


def _last_line(file: BinaryIO) -> tuple[int, int, bytes]:
    """Return the bytes of whole lines, those of an unfinished one behind them, and the last whole line."""
    size = file.seek(0, os.SEEK_END)
    block = b""
    start = size
    while start > 0 and block.count(b"\n") < 2:
        step = min(64 * 1024, start)
        start -= step
        file.seek(start)
        block = file.read(step) + block
    end = block.rfind(b"\n") + 1
    whole = block[:end]
    last = whole[whole.rfind(b"\n", 0, -1) + 1 :] if whole else b""
    return size - (len(block) - end), len(block) - end, last


def _last_head(files: Sequence[Path]) -> Head:
    for path in reversed(files):
        with path.open("rb") as file:
            _, _, last = _last_line(file)
        if last:
            return _head_of(last)
    return Head()


def _write_all(descriptor: int, data: bytes, size: int, *, durable: bool) -> None:
    """Write everything, or nothing: what a full disk took of it is cut off again."""
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, data[written:])
        if durable:
            os.fdatasync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
