"""MySQL and MariaDB: a parser that knows their grammar, an allow-list of functions, a read-only transaction, limits.

What sqlglot and the server might read differently is refused before: versioned comments, `--` without a blank after
it. The session's `sql_mode` is the one that the parser assumes, and the wire takes one statement.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor

from naru.builtins.data.databases.blanks import plain_blanks
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
from naru.builtins.data.databases.gather import gathered
from naru.builtins.data.databases.mysql.rights import grants_of, strong_rights, writes
from naru.builtins.data.databases.mysql.statement import SYSTEM_SCHEMAS, harmless_calls, judge, without_comments
from naru.builtins.data.databases.mysql.stored import refuse_stored
from naru.builtins.data.databases.mysql.url import options_of
from naru.builtins.data.databases.open import split_of
from naru.builtins.data.databases.rows import collected
from naru.builtins.data.databases.statements import ONE_SELECT, read_asked
from naru.config import DataSettings
from naru.errors import ConfigError

Result = TypeVar("Result")

CONNECT_SECONDS = 5
_CONVERSIONS = {**conversions, FIELD_TYPE.TIME: str, FIELD_TYPE.BIT: int.from_bytes}
"""A TIME is one of a day or hours that have passed, `-25:30:00`, which Python has no type for; BIT(1) is a truth."""
_MODE = "STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,IGNORE_SPACE"
"""The last has `now ()` be the server's own, whatever function is stored under that name, as it is to the parser."""
_EXPLAINED = r"(?:EXTENDED|PARTITIONS|FORMAT\s*=\s*\w+)\b"
_FIRST_WORDS = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
MUST_BE_REFUSED = (
    "CREATE TABLE naru_self_test (a INT)",
    "SELECT 1; SELECT 2",
    "SELECT 1 INTO OUTFILE '/tmp/naru_self_test'",
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT SLEEP(10)",
    "SELECT BENCHMARK(1000000000, MD5('naru'))",
    "SELECT GET_LOCK('naru', 1)",
    "SELECT /*!50000 SLEEP(10) */ 1",
    "SELECT 1 --1 INTO OUTFILE '/tmp/naru_self_test'",
    "SELECT @naru := 1",
    "SELECT 1 FOR UPDATE",
)
MUST_FAIL_IN_THE_SERVER = ("CREATE TABLE naru_self_test (a INT)", "SELECT 1; SELECT 2")
"""Sent past the parser, as a bug in it would. CREATE is refused by the role, or by the read-only session."""
_COLUMNS = """
SELECT c.table_schema AS `schema`, c.table_name AS `table`, c.column_name AS `column`, c.column_type AS `type`,
  c.column_comment AS comment, IF(t.table_comment = 'VIEW', '', t.table_comment) AS table_comment,
  c.column_key = 'PRI' AS is_key
FROM information_schema.columns c JOIN information_schema.tables t
  ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = DATABASE() AND t.table_type <> 'SEQUENCE' ORDER BY c.table_name, c.ordinal_position
"""
_KEYS = """
SELECT table_schema AS `schema`, table_name AS `table`, referenced_table_schema AS other_schema,
  referenced_table_name AS other, constraint_name AS name, column_name AS own, referenced_column_name AS theirs
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL
ORDER BY table_name, constraint_name, ordinal_position
"""
_WRITER = "The user may write, by itself or by a role; only the parser and the read-only transaction keep it from that."


class MysqlDatabase(CheckedDatabase):
    """Read-only access to one MySQL or MariaDB database; a connection for each query."""

    dialect = "MySQL"
    mark = "`"

    def __init__(self, settings: DataSettings) -> None:
        super().__init__(settings)
        split = split_of(settings.naru_database_url, of_one_host=True)
        self._schema = unquote(split.path.strip("/"))
        if self._schema.lower() in {*SYSTEM_SCHEMAS, "information_schema"}:  # whose tables go by their bare names then
            raise ConfigError(
                f"The database's URL names {self._schema}, which is the server's own.",
                remedy="Name the database that you ask: mysql://reader:password@host/NAME.",
            )
        self._options: dict[str, Any] = {
            "host": split.hostname or "localhost",
            "port": split.port or 3306,
            "user": unquote(split.username or ""),
            "password": unquote(split.password or ""),
            "database": self._schema or None,
            **options_of(split.query),
        }
        self._allows_superuser = settings.postgresql_db_allow_superuser

    async def _catalogue(self) -> Catalogue:
        """Read tables, columns, comments and keys of the URL's database."""
        columns, parts = await asyncio.to_thread(self._read, _COLUMNS), await asyncio.to_thread(self._read, _KEYS)
        keys: dict[tuple[str, str], dict[str, Any]] = {}
        for part in parts:
            key = keys.setdefault((part["table"], part["name"]), {**part, "columns": [], "other_columns": []})
            key["columns"].append(part["own"])
            key["other_columns"].append(part["theirs"])
        return gathered(columns, list(keys.values()), usual_schema=self._schema)

    async def _query(self, sql: str) -> QueryResult:
        asked = read_asked(without_comments(plain_blanks(sql)), _EXPLAINED, _FIRST_WORDS)
        query = judge(asked.query)
        connection = await asyncio.to_thread(self._connect)
        called = harmless_calls(query)
        work = functools.partial(_run, connection, replace(asked, query=query).text, self._limits, called)
        return await self._worker.run(work, functools.partial(self._kill, connection))

    def _connect(self) -> Any:
        seconds = self._limits.statement_seconds
        try:
            connection = pymysql.connect(
                **self._options, charset="utf8mb4", connect_timeout=CONNECT_SECONDS, autocommit=True,
                read_timeout=seconds + CONNECT_SECONDS, local_infile=False, cursorclass=SSCursor, conv=_CONVERSIONS,
            )  # fmt: skip
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION sql_mode = %s, sql_select_limit = %s", [_MODE, self._limits.rows + 1])
                if "mariadb" in connection.get_server_info().lower():
                    cursor.execute("SET SESSION max_statement_time = %s", [seconds])
                else:
                    cursor.execute("SET SESSION max_execution_time = %s", [int(seconds * 1000)])
                cursor.execute("SET SESSION group_concat_max_len = %s", [self._limits.bytes])
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("START TRANSACTION READ ONLY")
        except (pymysql.Error, OSError) as error:
            raise DatabaseUnavailableError(
                f"No connection to MySQL: {_told(error)}.",
                remedy="Check that it runs and that NARU_DATABASE_URL is right; the next call tries again.",
            ) from error
        return connection

    def _kill(self, connection: Any) -> None:
        """Stop a query on the server; the socket is cut whatever comes of it."""
        with contextlib.suppress(pymysql.Error, OSError, DatabaseUnavailableError):
            other = self._connect()
            try:
                with other.cursor() as cursor:
                    cursor.execute(f"KILL QUERY {int(connection.thread_id())}")
            finally:
                other.close()

    def _read(self, sql: str) -> list[dict[str, Any]]:
        def rows(connection: Any) -> list[dict[str, Any]]:
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION sql_select_limit = DEFAULT")
                cursor.execute(sql)
                names = [str(column[0]) for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        return self._on_its_own(rows)

    def _on_its_own(self, work: Callable[[Any], Result]) -> Result:
        """Do what is Naru's own on a connection of its own."""
        connection = self._connect()
        try:
            return work(connection)
        except (pymysql.Error, OSError) as error:
            raise QueryError(f"{_told(error)} (MySQL)") from error
        finally:
            connection.close()

    async def _prove(self) -> Checked:
        (facts,) = await asyncio.to_thread(self._read, "SELECT VERSION() AS version")
        grants = await asyncio.to_thread(self._on_its_own, grants_of)
        strong = strong_rights(grants)
        if strong and not self._allows_superuser:
            raise UnsafeDatabaseError(
                f"The user of NARU_DATABASE_URL has the rights {', '.join(strong)}, by itself or by a role; "
                "a query tool must not.",
                remedy="Create one that only reads (`naru data reader-sql --engine mysql` prints how).",
            )
        await self._prove_refused(MUST_BE_REFUSED)
        for sql in MUST_FAIL_IN_THE_SERVER:
            connection = await asyncio.to_thread(self._connect)
            try:
                await asyncio.to_thread(_run, connection, sql, self._limits)
            except (QueryError, RefusedStatementError):
                continue
            raise UnsafeDatabaseError(f"Self-test: the server ran {sql!r}.")
        warnings = [_WRITER] * writes(grants)
        return Checked(f"MySQL {facts['version']}", len(MUST_BE_REFUSED) + len(MUST_FAIL_IN_THE_SERVER), warnings)


def _run(connection: Any, text: str, limits: Limits, called: Set[str] = frozenset()) -> QueryResult:
    try:
        refuse_stored(connection, called)
        with connection.cursor() as cursor:
            cursor.execute(text)
            columns = [(str(column[0]), _type(column[1])) for column in cursor.description or ()]
            result = collected(text, columns, cursor.fetchall_unbuffered(), limits)
            if not result.is_truncated:
                cursor.execute("SHOW WARNINGS")
                _whole([(int(code), str(told)) for _, code, told in cursor.fetchall()])
            return result
    except (pymysql.Error, OSError) as error:
        if isinstance(error, pymysql.Error) and error.args and error.args[0] in (1792, 1142, 1044, 1227, 1290):
            raise RefusedStatementError(f"The server refuses: {_told(error)}.", remedy=ONE_SELECT) from error
        if isinstance(error, pymysql.Error) and error.args and error.args[0] in (1969, 3024, 1317, 2013):
            raise stopped(limits.statement_seconds) from error
        raise QueryError(f"{_told(error)} (MySQL)") from error
    finally:
        connection.close()


def _whole(warnings: Sequence[tuple[int, str]]) -> None:
    """Raise where the server made less of a value than was asked and only warned of it: the answer would be wrong."""
    if cut := next((told for code, told in warnings if code in _CUT), ""):
        raise QueryError(
            f"The server cut the answer short: {cut} (MySQL)",
            remedy="Ask for less of it: fewer steps of WITH RECURSIVE, fewer rows in GROUP_CONCAT, shorter texts.",
        )


_CUT = (1260, 1301, 1931)
"""GROUP_CONCAT's length, a text longer than a packet (it becomes NULL), MariaDB's steps of a recursion (1000)."""


def _type(code: int) -> str:
    return _TYPES.get(code, str(code))


_TYPES: dict[int, str] = {
    value: name.lower() for name, value in vars(FIELD_TYPE).items() if isinstance(value, int) and name.isupper()
}
_TYPES |= {
    FIELD_TYPE.TINY: "tinyint",
    FIELD_TYPE.SHORT: "smallint",
    FIELD_TYPE.INT24: "mediumint",
    FIELD_TYPE.LONG: "int",
    FIELD_TYPE.LONGLONG: "bigint",
    FIELD_TYPE.NEWDECIMAL: "decimal",
    FIELD_TYPE.VAR_STRING: "varchar",
    FIELD_TYPE.STRING: "char",
    # A text or bytes, which its first value tells.
    **dict.fromkeys((FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB, FIELD_TYPE.BLOB), ""),
}
"""As people write them, where the wire calls them otherwise."""


def _told(error: BaseException) -> str:
    if len(error.args) > 1:
        code, text = error.args[:2]
        return f"{text} ({code})"
    return str(error) or type(error).__name__
