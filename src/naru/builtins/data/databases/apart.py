"""DuckDB or SQLite in a process of its own, so that what a statement takes can be taken back.

Such an engine works inside whoever loads it. A call of one of its functions hears of no interruption (`levenshtein`
of two long texts, SQLite's `MATCH` of one), and takes memory past the engine's own limit (DuckDB's
`rpad('x', 2000000000, 'y')`). Here it is a child whose memory the system limits, and with DuckDB the files that it may
write; it ends itself when a query does not end with its time, and the next query starts another.
What a child cannot do that has worked before is asked once more of a fresh one: what was asked before may hold memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import itertools
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.confined import limit_memory, write_only_in
from naru.builtins.data.databases.database import Checked, QueryResult
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError
from naru.builtins.data.databases.open import TABLE_SUFFIXES, path_of
from naru.builtins.data.databases.worker import CLOSE_SECONDS, GRACE_SECONDS
from naru.config import DataSettings
from naru.errors import NaruError

_ENGINES = {"DuckDB": ("duckdb.database", "DuckDatabase"), "SQLite": ("sqlite", "SqliteDatabase")}
"""Module and class of each, by how a writer of SQL is told."""
PATIENCE_SECONDS = 120.0
"""Beyond a statement's own time: for its start, and for others that it waits for."""
_SIZE_BYTES = 4
_AGAIN = object()
"""The answer to who waited beside a query that made the child end."""
_NO_ROOM = "can't start new thread"
"""The only thing that tells this `RuntimeError`, of a thread that has no room for its stack, from others."""
_LESS = "Filter earlier, aggregate, or ask for less."


class ApartDatabase:
    """The seam `Database`, asked for in the child."""

    dialect = ""

    def __init__(self, settings: DataSettings) -> None:
        self._settings = settings
        self._starting = asyncio.Lock()
        self._child: _Child | None = None
        self._file: tuple[int, ...] = ()
        """The one that the child has open."""

    async def query(self, sql: str) -> QueryResult:
        """Run one SELECT; see `Database.query`."""
        found: QueryResult = await self._ask("query", sql=sql)
        return found

    async def catalogue(self, *, values: bool = True) -> Catalogue:
        """Read tables, views, columns, comments and keys."""
        found: Catalogue = await self._ask("catalogue", values=values)
        return found

    async def check(self) -> Checked:
        """Open it once, and prove that it is only read."""
        found: Checked = await self._ask("check")
        return found

    async def close(self) -> None:
        """End the child."""
        async with self._starting:
            if self._child is not None:
                await self._child.end()
            self._child = None

    async def _ask(self, method: str, **arguments: Any) -> Any:
        """Ask the child, and the one after it when it ended for others or for its age: asking twice changes nothing."""
        is_once_more = False
        while True:
            child = await self._living()
            is_used = child.is_used
            try:
                outcome = await child.ask(method, arguments)
            except QueryError:
                if is_once_more or not (is_used and child.is_broken):
                    raise
                is_once_more = True
            else:
                if outcome is not _AGAIN:
                    return outcome

    async def _living(self) -> _Child:
        async with self._starting:
            file = await asyncio.to_thread(self._file_there)
            if self._child is not None and (self._child.is_ended or file != self._file):
                await self._child.end()
                self._child = None
            if self._child is None:
                self._file = file
                self._child = await _Child.start(self._settings, self.dialect)
            return self._child

    def _file_there(self) -> tuple[int, ...]:
        """Tell the file whose place another may take while a child has it open; nothing where that does no harm."""
        return ()


class ApartDuck(ApartDatabase):
    """A DuckDB file, or a folder's files."""

    dialect = "DuckDB"

    def _file_there(self) -> tuple[int, ...]:
        path = path_of(self._settings.naru_database_url)
        if path.suffix.lower() not in TABLE_SUFFIXES:  # those are looked at by the child
            with contextlib.suppress(OSError, ValueError):
                told = path.stat()
                return () if stat.S_ISDIR(told.st_mode) else (told.st_dev, told.st_ino, told.st_mtime_ns, told.st_size)
        return ()


class ApartSqlite(ApartDatabase):
    """A SQLite file."""

    dialect = "SQLite"


class _Child:
    """A process with one database, and who waits for its answers."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        engine: str,
        folder: tempfile.TemporaryDirectory[str],
        patience: float,
    ) -> None:
        """Take a process that runs, the folder that it may write to, and how many seconds it has for an answer."""
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        self._process, self._engine, self._folder = process, engine, folder
        self._patience = patience
        self._to, self._from = process.stdin, process.stdout
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.ensure_future(self._read())
        self.is_used = False
        """Whether it was asked anything yet."""
        self.is_broken = False
        """Whether it ended by what it could not do, rather than by a query that would not end."""
        self.is_ended = False

    @classmethod
    async def start(cls, settings: DataSettings, engine: str) -> _Child:
        """Start it; a session of its own keeps Ctrl-C from it, and the end of its input ends it."""
        folder = tempfile.TemporaryDirectory(prefix="naru-", ignore_cleanup_errors=True)
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "naru.builtins.data.databases.apart", engine, folder.name,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            folder.cleanup()
            raise DatabaseUnavailableError(
                f"No process for {engine} could be started: {error.strerror}.", remedy="Check the limits on processes."
            ) from error
        child = cls(process, engine, folder, settings.postgresql_db_statement_timeout_seconds + PATIENCE_SECONDS)
        child._send(settings)
        return child

    async def ask(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """Have it call a method; raises what that raises."""
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.is_used = True
        try:
            self._send((number, method, arguments))
            async with asyncio.timeout(self._patience):
                outcome = await answer
        except asyncio.CancelledError:
            self._send((number, "", {}))
            raise
        except TimeoutError as error:  # it says nothing of its own limits, which are shorter
            self._end_for_all(_AGAIN)
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            raise QueryError(f"{self._engine} did not answer, and was ended.", remedy=_LESS) from error
        finally:
            del self._waiting[number]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def end(self) -> None:
        """Let it end, or make it."""
        self._to.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._process.wait()
        except TimeoutError:  # to kill what has just ended takes its exit from who waits for it, who complains
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._reading
        await self._process.wait()
        self._folder.cleanup()

    def _send(self, what: object) -> None:
        if not self.is_ended:
            self._to.write(_framed(what))

    async def _read(self) -> None:
        try:
            while (frame := await _frame(self._from)) is not None:
                number, outcome, is_last, is_broken = pickle.loads(frame)  # noqa: S301  # of our own child
                self.is_broken |= is_broken
                if number in self._waiting:
                    _answer(self._waiting[number], outcome)
                if is_last:
                    self._end_for_all(_AGAIN)
        finally:
            self.is_broken |= not self.is_ended
            told = f"{self._engine} ended while it worked, probably out of memory."
            self._end_for_all(QueryError(told, remedy=_LESS))

    def _end_for_all(self, outcome: object) -> None:
        self.is_ended = True
        for waiting in self._waiting.values():
            _answer(waiting, outcome)


def as_told(error: Exception) -> QueryError:
    """Say what the child met that no database tells: no memory, or a mistake of ours."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and str(error) == _NO_ROOM):
        return QueryError("The query took more memory than there is.", remedy=_LESS)
    return QueryError(
        f"What works with the database failed: {type(error).__name__}: {error}.",
        remedy="Ask again, which starts it anew; if it comes again, report it with the query.",
    )


def _answer(waiting: asyncio.Future[Any], outcome: object) -> None:
    if not waiting.done():
        waiting.set_result(outcome)


def _framed(what: object) -> bytes:
    raw = pickle.dumps(what)
    return len(raw).to_bytes(_SIZE_BYTES, "big") + raw


async def _frame(stream: asyncio.StreamReader) -> bytes | None:
    """Read what comes next; nothing when the other end is gone."""
    try:
        size = int.from_bytes(await stream.readexactly(_SIZE_BYTES), "big")
        return await stream.readexactly(size)
    except (asyncio.IncompleteReadError, OSError):
        return None


class _Server:
    """The child's side."""

    def __init__(self, engine: str, settings: DataSettings, out: BinaryIO) -> None:
        module, name = _ENGINES[engine]
        self._database = getattr(importlib.import_module(f"naru.builtins.data.databases.{module}"), name)(settings)
        self._out = out
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def take(self, number: int, method: str, arguments: Mapping[str, Any]) -> None:
        """Begin to answer a call, or stop answering it."""
        if method:
            self._tasks[number] = asyncio.ensure_future(self._answer(number, method, arguments))
        elif task := self._tasks.get(number):
            task.cancel()
            asyncio.get_running_loop().call_later(GRACE_SECONDS, self._end_if_stuck)

    async def _answer(self, number: int, method: str, arguments: Mapping[str, Any]) -> None:
        is_broken = False
        try:
            outcome = await getattr(self._database, method)(**arguments)
        except NaruError as error:
            outcome, is_broken = error, isinstance(error.__cause__, self._database.breaking)
        except Exception as error:  # noqa: BLE001  # who asked hears of it, whatever it is
            outcome, is_broken = as_told(error), True
        finally:
            del self._tasks[number]
        self._tell(number, outcome, is_last=is_broken or self._database.is_stuck, is_broken=is_broken)

    def _end_if_stuck(self) -> None:
        if self._database.is_stuck:
            self._tell(-1, None, is_last=True)

    def _tell(self, number: int, outcome: object, *, is_last: bool, is_broken: bool = False) -> None:
        self._out.write(_framed((number, outcome, is_last, is_broken)))
        self._out.flush()
        if is_last:
            os._exit(1)


def _end(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """End where something failed that answers nobody: whoever waits hears of the end."""
    try:
        loop.default_exception_handler(dict(context))
    finally:
        os._exit(1)


async def _serve(engine: str) -> None:
    asyncio.get_running_loop().set_exception_handler(_end)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else gets among the answers
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
    settings = await _frame(stream)
    if settings is None:
        return
    server = _Server(engine, pickle.loads(settings), out)  # noqa: S301  # of who started us
    while (frame := await _frame(stream)) is not None:
        server.take(*pickle.loads(frame))  # noqa: S301
    os._exit(0)  # whatever still runs ends with us


if __name__ == "__main__":
    limit_memory()
    tempfile.tempdir = sys.argv[2]
    if sys.argv[1] == "DuckDB":  # SQLite writes beside its file what those who read it share
        write_only_in(Path(sys.argv[2]))
    try:
        asyncio.run(_serve(sys.argv[1]))
    finally:
        os._exit(1)  # without waiting for threads
