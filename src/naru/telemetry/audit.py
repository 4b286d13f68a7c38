"""The audit log as the rest of Naru uses it: one owned writer task with a bounded queue, and a short way past it.

`commit` returns when the disk has the entry: for what changes this installation. `note` returns when the system has it
(a killed Naru loses nothing that was answered), or at once where `audit.calls` is `queued`. `mention` never waits.
A line is handed to the system without waiting for the disk, as any log does it; a thread waits for the disk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from naru.config import AuditSettings, Settings
from naru.errors import StoreError
from naru.messages import JsonObject
from naru.telemetry.arguments import describer
from naru.telemetry.audit_file import AuditFile, now

logger = logging.getLogger(__name__)

MAX_QUEUED = 10_000
"""Entries that wait for the writer; then callers wait, and what was only mentioned is counted and dropped."""
MAX_BATCH = 500
_COMPLAIN_SECONDS = 60.0


@dataclass(slots=True)
class _Waiting:
    entry: JsonObject
    durable: bool
    written: asyncio.Future[None] | None


class Audit:
    """See the module. Use inside one event loop; `close` writes what is queued."""

    def __init__(self, file: AuditFile, settings: AuditSettings, describe: Callable[[JsonObject], JsonObject]) -> None:
        self.file = file
        self.settings = settings
        self.describe = describe
        self.dropped = 0
        """Mentions that found the queue full."""
        self.failures = 0
        """Batches that could not be written."""
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue()
        """Not bounded by itself: nobody is to wait for a place in it who would come after its end."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="naru-audit")
        self._writer: asyncio.Task[None] | None = None
        self._is_writing = False
        self._closed = False
        self._told_drops = 0
        self._complained = -_COMPLAIN_SECONDS

    @property
    def keeps_calls(self) -> bool:
        """Whether tool calls are written down at all."""
        return self.settings.enabled and self.settings.calls != "off"

    async def commit(self, what: str, who: str, **facts: object) -> None:
        """Write an entry and wait until the disk has it.

        Raises:
            StoreError: it could not be written, and `audit.when_it_fails` does not say to go on.
        """
        if not self.settings.enabled:
            return
        try:
            await self._put(_entry(what, who, facts), durable=True, wait=True)
        except StoreError:
            if self.settings.when_it_fails != "go_on":
                raise

    async def note(self, what: str, who: str, **facts: object) -> None:
        """Write an entry, and wait for it where `audit.calls` says so.

        Raises:
            StoreError: it could not be written, and `audit.when_it_fails` is `refuse_all`.
        """
        if not self.settings.enabled:
            return
        entry, wait = _entry(what, who, facts), self.settings.calls == "written"
        try:
            if not (wait and self._write_at_once(entry)):
                await self._put(entry, durable=False, wait=wait)
        except StoreError:
            if self.settings.when_it_fails == "refuse_all":
                raise

    def mention(self, what: str, who: str, **facts: object) -> None:
        """Write an entry soon, from code that cannot wait; a full queue drops it and counts it."""
        if not self.settings.enabled or self._closed:
            return
        if self._is_full:
            self.dropped += 1
            return
        self._ensure_writer()
        self._queue.put_nowait(_Waiting(_entry(what, who, facts), durable=False, written=None))

    async def close(self) -> None:
        """Write what is queued, then end the writer."""
        self._closed = True
        if self._writer is not None:
            self._queue.put_nowait(None)
            await self._writer
        self._thread.shutdown()
        self.file.close()

    def _write_at_once(self, entry: JsonObject) -> bool:
        """Write a line past the queue, if nothing waits there and no thread is at the file. Raises StoreError."""
        if self._is_writing or self._closed or not self._queue.empty():
            return False
        try:
            return self.file.try_append([entry])
        except StoreError as error:
            self._complain(error)
            raise

    async def _put(self, entry: JsonObject, *, durable: bool, wait: bool) -> None:
        if self._closed:
            raise StoreError("The audit log is closed.")
        self._ensure_writer()
        written: asyncio.Future[None] | None = None
        if wait or self._is_full:
            written = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Waiting(entry, durable, written))
        if written is not None:
            await asyncio.shield(written)

    @property
    def _is_full(self) -> bool:
        return self._queue.qsize() >= MAX_QUEUED

    def _ensure_writer(self) -> None:
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        ended = False
        while not ended:
            batch, ended = self._rest(await self._queue.get())
            if not batch:
                continue
            drops = self.dropped - self._told_drops
            if drops:
                batch.insert(0, _Waiting({"what": "audit.dropped", "at": now(), "entries": drops}, False, None))
            self._is_writing = True
            error: StoreError | None = None
            try:
                await self._append(batch)
                self._told_drops += drops
            except StoreError as failure:
                error = failure
            except Exception as failure:  # the edge: who waits must be told, and the next entries be written
                logger.exception("the audit log's writer failed")
                said = f"The audit log cannot be written: {failure!r}."
                error = StoreError(said, remedy="Report it with Naru's log.")
            self._is_writing = False
            if error is not None:
                self._complain(error)
            _settle(batch, error)

    def _rest(self, first: _Waiting | None) -> tuple[list[_Waiting], bool]:
        """Return what waits, up to a batch, and whether the end was asked for."""
        batch: list[_Waiting] = []
        one = first
        while one is not None:
            batch.append(one)
            if len(batch) == MAX_BATCH or self._queue.empty():
                return batch, False
            one = self._queue.get_nowait()
        return batch, True

    async def _append(self, batch: Sequence[_Waiting]) -> None:
        """Hand the lines to the system at once, as any log does; what the disk must have goes by way of a thread."""
        entries = [one.entry for one in batch]
        durable = any(one.durable for one in batch)
        if durable or not self.file.try_append(entries):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, lambda: self.file.append(entries, durable=durable))

    def _complain(self, error: StoreError) -> None:
        self.failures += 1
        if time.monotonic() - self._complained >= _COMPLAIN_SECONDS:
            self._complained = time.monotonic()
            logger.error("%s (%d batches so far)", error, self.failures)


def open_audit(settings: Settings) -> Audit:
    """Return this installation's audit log; its file is made with the first entry."""
    kept = settings.audit
    file = AuditFile(settings.hub.data_dir / "audit.jsonl", max_bytes=kept.max_file_bytes, keep_files=kept.keep_files)
    return Audit(file, kept, describer(settings.hub.data_dir, with_values=kept.arguments == "values"))


def audit_once(settings: Settings, what: str, **facts: object) -> None:
    """Write one entry of a command that has no event loop; the person is whoever runs it.

    Raises:
        StoreError: it could not be written, and `audit.when_it_fails` does not say to go on.
    """
    if not settings.audit.enabled:
        return
    try:
        open_audit(settings).file.append([_entry(what, "command line", facts)], durable=True)
    except StoreError as error:
        if settings.audit.when_it_fails != "go_on":
            raise
        logger.warning("%s", error)


def _entry(what: str, who: str, facts: dict[str, object]) -> JsonObject:
    return {"at": now(), "what": what, "who": who, **{name: fact for name, fact in facts.items() if fact is not None}}


def _settle(batch: Sequence[_Waiting], error: StoreError | None) -> None:
    for one in batch:
        if one.written is not None:
            with suppress(asyncio.InvalidStateError):
                if error is None:
                    one.written.set_result(None)
                else:
                    one.written.set_exception(error)
                    one.written.exception()
