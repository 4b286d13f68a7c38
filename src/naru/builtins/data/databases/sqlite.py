"""SQLite: the engine itself says what a statement would do, before it does it.

Layers: the file is opened read-only; `query_only`; the engine's authorizer allows reading, functions that the engine
calls innocuous, and nothing else; `Connection.execute` takes one statement; limits on time, rows, bytes, depth and
length. A connection lives for one query, so nothing can be left on it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.checked import CheckedDatabase
from naru.builtins.data.databases.database import Checked, Limits, QueryResult
from naru.builtins.data.databases.errors import (
    DatabaseUnavailableError,
    QueryError,
    RefusedStatementError,
    UnsafeDatabaseError,
    stopped,
)
from naru.builtins.data.databases.gather import gathered, quoted
from naru.builtins.data.databases.open import path_of
from naru.builtins.data.databases.rows import collected
from naru.builtins.data.databases.sqlite_steps import TOO_LONG, bound_steps
from naru.builtins.data.databases.statements import ONE_SELECT, read_asked
from naru.config import DataSettings
from naru.paths import found_at

Result = TypeVar("Result")

MARK = '"'
_INNOCUOUS = 0x200000
"""The engine's own mark (SQLITE_INNOCUOUS): no side effects, nothing of the process shown."""
_HARMLESS = frozenset("-> ->> bm25 highlight snippet match matchinfo offsets rtreedepth rtreenode".split())
"""Not marked so by every version, though they only compute; JSON's functions are told by their name."""
_REFUSED_FUNCTIONS = frozenset("load_extension fts3_tokenizer zeroblob randomblob optimize".split())
"""Of little use to a question, and able to reach out, to write to a log, or to make memory of a number."""
_PRAGMAS = frozenset("table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list".split())
_MODULES = frozenset({"json_each", "json_tree", "generate_series", *(f"pragma_{name}" for name in _PRAGMAS)})
"""Table-valued functions that show the schema, or what they are given."""
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 8 * 2**20),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 400),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 200),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 200_000),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_STEPS_BETWEEN_LOOKS = 1_000
BUSY_SECONDS = 2.0
_BUSY = "Another program is writing to it; ask again when that has ended."
_EXPLAINED = r"QUERY\s+PLAN\b"
_COLUMNS_OF_ALL = "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c"
_DENIED = "not authorized"
_STOPPED = "interrupted"
MUST_BE_REFUSED = (
    "CREATE TABLE naru_self_test (a)",
    "DELETE FROM sqlite_master",
    "SELECT 1; SELECT 2",
    "ATTACH ':memory:' AS naru_self_test",
    "PRAGMA query_only = OFF",
    "SELECT load_extension('naru')",
    "WITH x AS (SELECT 1) INSERT INTO naru_self_test SELECT * FROM x",
    "VACUUM INTO '/tmp/naru_self_test'",
)
MUST_FAIL_IN_THE_ENGINE = ("CREATE TABLE naru_self_test (a)", "PRAGMA user_version = 77")
"""Sent past the authorizer, as a bug in it would."""
_TABLES = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
)


class SqliteDatabase(CheckedDatabase):
    """Read-only access to one SQLite file."""

    dialect = "SQLite"

    def __init__(self, settings: DataSettings) -> None:
        super().__init__(settings)
        self._path = path_of(settings.naru_database_url)

    async def _catalogue(self) -> Catalogue:
        """Read tables, columns, and keys; SQLite keeps no comments."""
        return await self._run(_read_catalogue)

    async def _query(self, sql: str) -> QueryResult:
        asked = read_asked(sql, _EXPLAINED, catalogue=_COLUMNS_OF_ALL)
        limits = self._limits

        def work(connection: sqlite3.Connection) -> QueryResult:
            guard = _Guard(connection)
            _load_virtual_tables(connection)
            told = ""
            try:
                with guard:
                    connection.execute(f"EXPLAIN {asked.query}").close()
                told = bound_steps(connection, guard.used)
                with guard:
                    return self._rows(connection, asked.text)
            except sqlite3.Error as error:
                raise _error(error, guard, limits, told) from error

        return await self._run(work)

    def _rows(self, connection: sqlite3.Connection, text: str) -> QueryResult:
        connection.text_factory = _text
        cursor = connection.execute(text)
        if cursor.description is None:
            raise RefusedStatementError("The statement gives no rows.", remedy=ONE_SELECT)
        columns = [(str(column[0]), "") for column in cursor.description]
        return collected(text.rstrip("; \n"), columns, cursor, self._limits)

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        stop = threading.Event()
        ends = time.monotonic() + self._limits.statement_seconds
        opened: list[sqlite3.Connection] = []

        def interrupt() -> None:
            stop.set()
            for connection in opened:
                with contextlib.suppress(sqlite3.Error):  # closed a moment ago
                    connection.interrupt()

        def whole() -> Result:
            connection = _open(self._path)
            opened.append(connection)
            try:
                connection.set_progress_handler(lambda: stop.is_set() or time.monotonic() > ends, _STEPS_BETWEEN_LOOKS)
                return work(connection)
            except sqlite3.Error as error:
                seconds = self._limits.statement_seconds
                raise stopped(seconds) if str(error) == _STOPPED else QueryError(f"{error} (SQLite)") from error
            finally:
                connection.close()

        return await self._worker.run(whole, interrupt)

    async def _prove(self) -> Checked:
        await self._prove_refused(MUST_BE_REFUSED, or_by_the_engine=True)

        def written(connection: sqlite3.Connection) -> str:
            for sql in MUST_FAIL_IN_THE_ENGINE:
                try:
                    connection.execute(sql)
                except sqlite3.Error:
                    continue
                return sql
            return ""

        if sql := await self._run(written):
            raise UnsafeDatabaseError(f"Self-test: the engine ran {sql!r}.")
        count = len(MUST_BE_REFUSED) + len(MUST_FAIL_IN_THE_ENGINE)
        return Checked(f"SQLite {sqlite3.sqlite_version}", count, await self._run(_left_out))


class _Guard:
    """The authorizer: asked by the engine about each thing that a statement would do, while it is prepared."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        marked = connection.execute("SELECT name, flags FROM pragma_function_list")
        self._functions = {name for name, flags in marked if flags & _INNOCUOUS}
        self._modules = {name for (name,) in connection.execute("SELECT name FROM pragma_module_list")}
        self._is_select = False
        self.refused = ""
        """What was refused first."""
        self.used: set[str] = set()
        """Functions, by their names in small letters."""

    def __enter__(self) -> None:
        self._is_select = False
        self._connection.set_authorizer(self)

    def __exit__(self, *_: object) -> None:
        self._connection.set_authorizer(None)

    def __call__(self, action: int, one: str | None, two: str | None, *_: str | None) -> int:
        """Allow or deny one action, and keep what was denied."""
        what = self._refusal(action, one or "", two or "")
        self._is_select = True
        if not what:
            return sqlite3.SQLITE_OK
        self.refused = self.refused or what
        return sqlite3.SQLITE_DENY

    def _refusal(self, action: int, one: str, two: str) -> str:
        if action == sqlite3.SQLITE_SELECT:
            return ""
        if not self._is_select:
            return "this is no SELECT"
        if action == sqlite3.SQLITE_RECURSIVE:
            return ""
        if action == sqlite3.SQLITE_READ:
            return f"the internal table {one}" if one in self._modules and one not in _MODULES else ""
        if action == sqlite3.SQLITE_FUNCTION:
            self.used.add(two.lower())
            return "" if self._is_harmless(two.lower()) else f"function {two}"
        if action == sqlite3.SQLITE_PRAGMA:
            is_read = one.lower() in _PRAGMAS or (one == "data_version" and not two)  # which FTS5 asks for itself
            return "" if is_read else f"PRAGMA {one}"
        return "it would do more than read"

    def _is_harmless(self, name: str) -> bool:
        if name in _REFUSED_FUNCTIONS or (name.startswith("sqlite_") and name != "sqlite_version"):
            return False  # under such names the engine tells of itself, and works on its schema
        return name in self._functions or name in _HARMLESS or name.startswith("json")


def _text(raw: bytes) -> str:
    """Read a text; one bad letter, as programs of other encodings write them, costs neither the row nor the rest."""
    return raw.decode(errors="replace")


def _load_virtual_tables(connection: sqlite3.Connection) -> None:
    """Let the engine declare its virtual tables, which it does as if it created them, before the authorizer listens."""
    own = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage = 0")
    for name in [*sorted(_MODULES), *(name for (name,) in own)]:
        with contextlib.suppress(sqlite3.Error):  # of a module that this build lacks: it cannot be asked either
            connection.execute(f"SELECT 1 FROM {quoted(name, MARK)} LIMIT 0")  # noqa: S608  # a quoted name


def _open(path: Path) -> sqlite3.Connection:
    if found_at(path) != "file":
        raise DatabaseUnavailableError(
            f"There is no SQLite file {path}.",
            remedy="Check its URL (--database, NARU_DATABASE_URL): sqlite:///relative.db or sqlite:////path.db.",
        )
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS, check_same_thread=False,
            isolation_level=None, cached_statements=0,
        )  # fmt: skip
        for what, limit in _LIMITS:
            connection.setlimit(what, limit)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        is_busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
        remedy = _BUSY if is_busy else "Check that it is a database and may be read."
        raise DatabaseUnavailableError(f"{path} cannot be read as SQLite: {error}.", remedy=remedy) from error
    return connection


def _error(error: sqlite3.Error, guard: _Guard, limits: Limits, bounds: str) -> Exception:
    """Tell a refusal from a mistake in the statement; `bounds` says what it may not take in one step."""
    told = str(error)
    if guard.refused or told == _DENIED or told.startswith("access to"):
        return RefusedStatementError(
            f"This tool only reads: {guard.refused or told}.", remedy=f"{ONE_SELECT} Leave out what is named."
        )
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.Warning) and "one statement" in told:
        return RefusedStatementError("Only one statement is run, and these are more.", remedy=ONE_SELECT)
    if told == _STOPPED:
        return stopped(limits.statement_seconds)
    if "too big" in told and bounds:
        return QueryError(f"{told} (SQLite): {bounds}.", remedy="Leave the function out, or give it shorter values.")
    if told.startswith("user-defined function"):
        return QueryError(f"{TOO_LONG} (SQLite).", remedy="Write the letters themselves.")
    return QueryError(f"{told} (SQLite)")


def _left_out(connection: sqlite3.Connection) -> list[str]:
    """Name the views and virtual tables whose own tables or modules are not there, with the engine's reason."""
    found = []
    for (table,) in connection.execute(_TABLES).fetchall():
        try:
            connection.execute(_COLUMNS, (table,)).fetchall()
        except sqlite3.Error as error:
            found.append(f"{table} is left out: {error}")
    return found


def _read_catalogue(connection: sqlite3.Connection) -> Catalogue:
    columns, keys = [], []
    for (table,) in connection.execute(_TABLES).fetchall():
        with contextlib.suppress(sqlite3.Error):  # named by the check
            for name, type_, key in connection.execute(_COLUMNS, (table,)).fetchall():
                columns.append({"table": table, "column": name, "type": type_.lower(), "is_key": key})
        asked = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
        parts: dict[int, list[tuple[str, str, str | None]]] = {}
        for id_, other, own, theirs in connection.execute(asked, (table,)):
            parts.setdefault(id_, []).append((other, own, theirs))
        for found in parts.values():
            other_columns = [theirs for _, _, theirs in found if theirs]
            other_columns = other_columns or [name for (name,) in connection.execute(_KEY_OF, (found[0][0],))]
            if len(other_columns) != len(found):
                continue  # it refers to a table that is not there, or to no key of it: there is nothing to join
            keys.append(
                {
                    "table": table,
                    "other": found[0][0],
                    "columns": json.dumps([own for _, own, _ in found]),
                    "other_columns": json.dumps(other_columns),
                }
            )
    return gathered(columns, keys, usual_schema="")


_COLUMNS = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3)"
_KEY_OF = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"
