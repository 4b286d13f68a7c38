"""Server records in an `mcp.json` that people edit too (R4): unknown keys and placeholders are kept, hand edits win."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from naru.config import check_private
from naru.errors import ConfigError, NotFoundError, StoreError
from naru.records import ServerRecord, now_ms
from naru.stores.base import changed_meanwhile, name_taken
from naru.stores.files.atomic import file_lock, remove_leftovers, replace_file
from naru.stores.files.watch import files_version, version_of
from naru.stores.formats.shapes import Document, Problem, decode_text, parse_document, read_record, write_entry

logger = logging.getLogger(__name__)
T = TypeVar("T")


class JsonFileStore:
    """Keeps server records in one configuration file; every change re-reads it under a lock that spans processes.

    A broken file is copied aside and never becomes an empty registry: the last good state, or the backup's, is served
    read-only until the file is mended (R-26).
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()  # a link stays one; its file is replaced
        self._mutex = threading.RLock()
        self._document = Document([], None)
        self._records: dict[str, ServerRecord] = {}
        self._seen: dict[str, tuple[str, int]] = {}
        self._problems: tuple[Problem, ...] = ()
        self._signature: object = None
        self._broken = ""

    async def open(self) -> None:
        """Read the file, or make one holding `[]`. Raises StoreError."""
        await asyncio.to_thread(self._open)

    async def list(self) -> Sequence[ServerRecord]:
        """Return all usable records in the file's order; `problems` tells about the others."""
        return await asyncio.to_thread(self._list)

    async def find_by_name(self, name: str) -> ServerRecord | None:
        """Return the record of that name, or None."""
        return next((record for record in await self.list() if record.name == name), None)

    async def save(self, record: ServerRecord) -> None:
        """Add a record. Raises ConflictError, StoreError."""

        def add(document: Document) -> None:
            if any(name == record.name for name, _, _ in document.entries()):
                raise name_taken(record.name)
            document.put(record.name, write_entry(record, None))

        await asyncio.to_thread(self._change, add)

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> None:
        """Replace the record of that name. Raises NotFoundError, ConflictError, StoreError."""

        def replace(document: Document) -> None:
            entry = document.find(record.name)
            kept = self._records.get(record.name)
            if entry is None or kept is None:
                raise NotFoundError(f"No server named {record.name!r} is registered.")
            if expected_updated_at is not None and kept.updated_at != expected_updated_at:
                raise changed_meanwhile(record.name)
            same = record.model_copy(update={"id": kept.id, "created_at": kept.created_at})
            document.put(record.name, write_entry(same, entry))

        await asyncio.to_thread(self._change, replace)

    async def delete(self, name: str) -> bool:
        """Remove a record; tell whether there was one."""
        return await asyncio.to_thread(self._change, lambda document: document.remove(name))

    async def close(self) -> None:
        """Do nothing: no file is held open."""

    async def version(self) -> object:
        """Return which file it is, and when it was written."""
        return await files_version([self.path])

    def problems(self) -> Sequence[Problem]:
        """Return what in the file cannot be used, and why."""
        return self._problems

    def _open(self) -> None:
        with self._mutex:
            if self.path.suffix == ".toml":
                raise StoreError(f"{self.path} can be read but not written.", remedy="Import it: naru servers import.")
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with file_lock(self.path):
                remove_leftovers(self.path)
                if not self.path.exists():
                    replace_file(self.path, b"[]\n")
            check_private(self.path)
            self._refresh()

    def _list(self) -> Sequence[ServerRecord]:
        with self._mutex:
            self._refresh()
            return tuple(self._records.values())

    def _change(self, edit: Callable[[Document], T]) -> T:
        with self._mutex, file_lock(self.path):
            self._refresh()
            if self._broken:
                raise StoreError(f"{self._broken} Until it is mended nothing is written to it.")
            changed = self._document.copy()
            result = edit(changed)
            if result is not False:  # a delete that found nothing writes nothing
                text = json.dumps(changed.root, indent=2, ensure_ascii=False) + "\n"
                replace_file(self.path, text.encode())
                self._refresh()
            return result

    def _refresh(self) -> None:
        """Read the file again when it is another one than last time."""
        try:
            info = self.path.stat()
            signature = version_of(info)
            if signature == self._signature:
                return
            check_private(self.path)  # it may not have been so when it was opened (S-24)
            content = self.path.read_bytes()
        except (OSError, ConfigError) as error:
            self._signature = None  # the same file may come back
            why = str(error) if isinstance(error, ConfigError) else f"Cannot read {self.path}: {error.strerror}."
            self._set_broken(why, None)
            return
        self._signature = signature
        try:
            text = decode_text(content)
            if not text.strip() and self._backup_has_servers():
                raise ValueError("it is empty, and its backup is not")
            document = parse_document(text)
        except ValueError as error:
            self._set_broken(f"{self.path} cannot be read: {error}.", content)
            return
        self._broken = ""
        self._adopt(document, int(info.st_mtime_ns // 1_000_000))

    def _adopt(self, document: Document, changed_ms: int) -> None:
        problems: list[Problem] = []
        records: dict[str, ServerRecord] = {}
        seen: dict[str, tuple[str, int]] = {}
        for name, place, entry in document.entries():
            digest = json.dumps(entry, sort_keys=True, ensure_ascii=False)
            known = self._seen.get(name)
            is_same = known is not None and known[0] == digest
            moment = known[1] if known and is_same else self._newer(changed_ms, known)
            outcome: ServerRecord | Problem | None = self._records.get(name) if is_same else None
            if outcome is None:
                outcome = read_record(name, place, entry, lambda moment=moment: moment)  # type: ignore[misc]  # bound now
            if isinstance(outcome, ServerRecord) and known and known[0] != digest:
                previous = self._records.get(name)
                if previous and previous.updated_at == outcome.updated_at and previous != outcome:
                    outcome = outcome.model_copy(update={"updated_at": self._newer(changed_ms, known)})
            if isinstance(outcome, Problem):
                problems.append(outcome)
            elif name in records:
                problems.append(Problem(place, f"{place}: the name {name!r} stands twice; the first entry is used"))
            else:
                records[name] = outcome
                seen[name] = (digest, moment)
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s: %s", self.path, problem.reason)
        self._document, self._records, self._seen, self._problems = document, records, seen, tuple(problems)

    @staticmethod
    def _newer(changed_ms: int, known: tuple[str, int] | None) -> int:
        return max(changed_ms, known[1] + 1) if known else changed_ms

    def _set_broken(self, reason: str, content: bytes | None) -> None:
        aside = self._put_aside(content) if content else None
        if not self._seen and not self._records:
            self._adopt_backup()
        where = f" A copy is at {aside}." if aside else ""
        remedy = f" The last good version is {self.path.name}.bak." if self._backup_has_servers() else ""
        before, self._broken = self._broken, f"{reason}{where}{remedy} Mend the file; it is read again at once."
        if self._broken != before:
            logger.error("%s", self._broken)
        self._problems = (Problem(str(self.path), self._broken),)

    def _put_aside(self, content: bytes) -> Path | None:
        digest = hashlib.sha256(content).hexdigest()[:12]
        aside = self.path.with_name(f"{self.path.name}.broken-{digest}")
        if not aside.exists():
            try:
                replace_file(aside, content, backup=False)
            except StoreError:
                return None
        return aside

    def _read_backup(self) -> Document | None:
        try:
            return parse_document(self.path.with_name(f"{self.path.name}.bak").read_text(encoding="utf-8-sig"))
        except (OSError, ValueError):
            return None

    def _backup_has_servers(self) -> bool:
        document = self._read_backup()
        return document is not None and any(True for _ in document.entries())

    def _adopt_backup(self) -> None:
        document = self._read_backup()
        if document is not None:
            self._adopt(document, now_ms())
