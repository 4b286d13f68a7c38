"""DuckDB, a file, or tables of CSV, JSON and Parquet files: its parser and catalogue say what a statement would do.

Layers: opened read-only, no access to anything outside (`enable_external_access`), no extensions, settings locked;
the engine's own grammar as JSON, one SELECT; functions by the catalogue's label of their effects, table functions by a
short list; limits on time, memory, rows and bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import duckdb

from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.checked import CheckedDatabase
from naru.builtins.data.databases.database import Checked, Limits, QueryResult
from naru.builtins.data.databases.duckdb.files import called, files_in, holds_tables, view_files
from naru.builtins.data.databases.duckdb.values import columns_of, run_whole
from naru.builtins.data.databases.errors import (
    DatabaseUnavailableError,
    QueryError,
    RefusedStatementError,
    UnsafeDatabaseError,
    stopped,
)
from naru.builtins.data.databases.gather import gathered
from naru.builtins.data.databases.open import path_of
from naru.builtins.data.databases.rows import collected
from naru.builtins.data.databases.statements import ONE_SELECT, Asked, read_asked
from naru.config import DataSettings
from naru.paths import found_at

MARK = '"'
_EXPLAINED = r"\(\s*FORMAT\s+\w+\s*\)"
_FIRST_WORDS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "PIVOT", "UNPIVOT"})
_HARMLESS_VOLATILE = frozenset("random uuid uuidv4 uuidv7 gen_random_uuid error".split())
_REFUSED = frozenset(
    "pg_sleep current_setting current_query getenv getvariable json_serialize_sql json_serialize_plan "
    "json_deserialize_sql add_parquet_key which_secret in_search_path txid_current".split()
)
"""Not labelled as having effects, yet they wait, or tell of the process rather than of the data."""
_DESCRIBING = frozenset(
    "duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables duckdb_types duckdb_views "
    "sqlite_master sqlite_schema pg_attrdef pg_attribute pg_class pg_constraint pg_description pg_enum pg_index "
    "pg_indexes pg_namespace pg_tables pg_type pg_views".split()
)
"""Views and functions of the engine's own that tell of the data; its others tell of files, settings and logs."""
_TABLE_FUNCTIONS = frozenset("range generate_series unnest repeat repeat_row json_each json_tree".split()) | _DESCRIBING
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "512MB",
    "temp_directory": tempfile.gettempdir(),
    "max_temp_directory_size": "1GB",
    "threads": "2",
}
_LOCKED = ("enable_external_access = false", "python_enable_replacements = false", "lock_configuration = true")
"""Set once it is open, in this order."""
_PIVOT = (
    "Name them: PIVOT lot ON line IN ('A', 'B') USING sum(qty); SELECT DISTINCT line FROM lot tells which there are."
)
_WRITER = "{path} may be written to; only the parser keeps a statement from that"
_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""Kinds of queries that only read; a CTE may also be an INSERT, UPDATE, DELETE or COPY TO."""
MAX_DEPTH = 400
MUST_BE_REFUSED = (
    "CREATE TABLE naru_self_test (a INT)",
    "SELECT 1; SELECT 2",
    "ATTACH ':memory:' AS naru_self_test",
    "COPY (SELECT 1) TO '/tmp/naru_self_test'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "SELECT nextval('naru_self_test')",
    "SELECT * FROM query('SELECT 1')",
    "WITH x AS (COPY (SELECT 1) TO '/tmp/naru_self_test') SELECT 1",
)
MUST_FAIL_IN_THE_ENGINE = (
    "SELECT * FROM read_text('/etc/hostname')",
    "COPY (SELECT 1) TO '/tmp/naru_self_test'",
    "SET enable_external_access = true",
    "ATTACH '/tmp/naru_self_test.duckdb' AS naru_self_test",
)
"""Sent past the parser, as a bug in it would."""
_COLUMNS = """
SELECT c.schema_name AS schema, c.table_name AS "table", c.column_name AS "column", lower(c.data_type) AS type,
  c.comment, coalesce(t.comment, v.comment) AS table_comment,
  EXISTS (SELECT 1 FROM duckdb_constraints() k WHERE k.table_oid = c.table_oid
    AND k.constraint_type = 'PRIMARY KEY' AND list_contains(k.constraint_column_names, c.column_name)) AS is_key
FROM duckdb_columns() c LEFT JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid
LEFT JOIN duckdb_views() v ON v.view_oid = c.table_oid AND v.database_oid = c.database_oid
WHERE NOT c.internal AND c.database_name = current_database() ORDER BY 1, 2, c.column_index
"""
_KEYS = """
SELECT schema_name AS schema, table_name AS "table", referenced_table AS other,
  constraint_column_names AS columns, referenced_column_names AS other_columns
FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' AND database_name = current_database()
"""


class DuckDatabase(CheckedDatabase):
    """Read-only access to one DuckDB file, to a file that is one table, or to the tables in a folder's files."""

    dialect = "DuckDB"
    breaking = (duckdb.FatalException, duckdb.InternalException, duckdb.OutOfMemoryException)

    def __init__(self, settings: DataSettings) -> None:
        super().__init__(settings)
        self._path = path_of(settings.naru_database_url)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._judge: _Judge | None = None
        self._files: list[tuple[str, int, int]] = []
        """Of tables, as they were when they were opened."""
        self._left_out: list[str] = []
        self._broken: Set[tuple[str, str]] = frozenset()
        """Views that cannot be read, by schema and name."""

    async def check(self) -> Checked:
        """Open it once, files of tables again when they have changed since; and prove that it is only read."""
        if self._files and await asyncio.to_thread(files_in, self._path) != self._files:
            self._checked = None
        return await super().check()

    async def _catalogue(self) -> Catalogue:
        """Read tables, views, columns, comments and keys."""
        assert self._connection is not None, "check has opened it"
        cursor = self._connection.cursor()

        def read() -> Catalogue:
            columns, keys = _dicts(cursor.execute(_COLUMNS)), _dicts(cursor.execute(_KEYS))
            columns = [one for one in columns if (one["schema"], one["table"]) not in self._broken]
            return gathered(columns, [{**key, "other_schema": key["schema"]} for key in keys], usual_schema="main")

        return await self._worker.run(read, functools.partial(_interrupt, cursor))

    async def close(self) -> None:
        """End what still runs, and close the file."""
        await super().close()
        if self._connection:
            # What did not end by then keeps the file open until it does; a second close would only say so.
            with contextlib.suppress(duckdb.Error):
                self._connection.close()
            self._connection = None

    async def _query(self, sql: str) -> QueryResult:
        asked = read_asked(sql, _EXPLAINED, _FIRST_WORDS)
        connection, judge = self._connection, self._judge
        assert connection is not None, "check has opened it"
        assert judge is not None, "check has opened it"
        await asyncio.to_thread(judge.judge, asked.query)
        cursor = connection.cursor()
        work = functools.partial(_run, cursor, asked, self._limits)
        return await self._worker.run(work, functools.partial(_interrupt, cursor))

    async def _prove(self) -> Checked:
        if self._connection is None or self._files:
            copies = Path(tempfile.mkdtemp(prefix="naru-"))
            try:
                connection, self._left_out, self._files = await asyncio.to_thread(_open, self._path, copies)
            except DatabaseUnavailableError:
                shutil.rmtree(copies, ignore_errors=True)
                raise
            self._connection, self._judge = connection, _Judge(connection.cursor())
            weakref.finalize(self._judge, shutil.rmtree, copies, ignore_errors=True)  # a query that runs holds it
            if not holds_tables(self._path):  # whose views have just been made
                broken = await asyncio.to_thread(_broken_views, connection.cursor())
                self._broken = broken.keys()
                self._left_out = [f"{name} is left out: {told}" for (_, name), told in broken.items()]
        if holds_tables(self._path) and await asyncio.to_thread(_may_write, self._path):
            self._left_out.append(_WRITER.format(path=self._path))
        await self._prove_refused(MUST_BE_REFUSED)
        cursor = self._connection.cursor()
        for sql in MUST_FAIL_IN_THE_ENGINE:
            try:
                await asyncio.to_thread(cursor.execute, sql)
            except duckdb.Error:
                continue
            raise UnsafeDatabaseError(f"Self-test: the engine ran {sql!r}.")
        tried = len(MUST_BE_REFUSED) + len(MUST_FAIL_IN_THE_ENGINE)
        return Checked(f"DuckDB {duckdb.__version__}", tried, self._left_out)


class _Judge:
    """Reads a statement with the engine's own parser, and its names with the engine's own catalogue."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        asked = (
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN "
            "('scalar', 'aggregate', 'window', 'macro') AND (internal OR function_type <> 'macro') "
            "AND coalesce(stability, '') <> 'VOLATILE' AND NOT coalesce(has_side_effects, false)"
        )
        harmless = {name for (name,) in cursor.execute(asked).fetchall()}
        macros = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE NOT internal"
        own = {name for (name,) in cursor.execute(macros).fetchall()}  # the engine's functions of these names too
        self._functions = (harmless | _HARMLESS_VOLATILE) - _REFUSED - own
        self._table_functions = _TABLE_FUNCTIONS - own
        volatile = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE stability = 'VOLATILE'"
        self._functions -= {name for (name,) in cursor.execute(volatile).fetchall()} - _HARMLESS_VOLATILE
        views = (
            "SELECT DISTINCT lower(view_name) FROM duckdb_views() "
            "WHERE internal AND schema_name <> 'information_schema'"
        )
        self._views_of_the_engine = {name for (name,) in cursor.execute(views).fetchall()} - _DESCRIBING
        tables = (
            "SELECT lower(schema_name), lower(table_name) FROM duckdb_tables() WHERE NOT internal "
            "UNION SELECT lower(schema_name), lower(view_name) FROM duckdb_views() WHERE NOT internal"
        )
        self._tables = set(cursor.execute(tables).fetchall())
        self._parser = cursor
        self._one_at_a_time = threading.Lock()

    def judge(self, query: str) -> None:
        """Raise RefusedStatementError unless this is one SELECT of harmless functions over tables."""
        with self._one_at_a_time:
            row = self._parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchone()
        try:
            tree = json.loads(row[0] if row else "{}")
        except RecursionError as error:
            raise RefusedStatementError("The statement is nested too deeply.", remedy="Write it flatter.") from error
        if tree.get("error"):
            told = str(tree.get("error_message", "")).split("\n", 1)[0]
            if tree.get("error_type") == "parser":
                raise QueryError(f"{told} (DuckDB)")
            if _is_made_in_steps(query):
                raise RefusedStatementError("PIVOT without its values is more than a SELECT.", remedy=_PIVOT)
            raise RefusedStatementError(f"Only one SELECT is run here: {told}.", remedy=ONE_SELECT)
        statements = tree.get("statements", [])
        if len(statements) != 1:
            raise RefusedStatementError(
                f"Only one statement is run, and these are {len(statements)}.", remedy=ONE_SELECT
            )
        for depth, named, node in _nodes(statements[0]):
            if depth > MAX_DEPTH:
                raise RefusedStatementError("The statement is nested too deeply.", remedy="Write it flatter.")
            if why := self._refusal(node, named):
                raise RefusedStatementError(f"This tool only reads: {why}.", remedy="Write the query without it.")

    def _refusal(self, node: dict[str, Any], named: Set[str]) -> str:
        kind = str(node.get("type"))
        if kind.endswith("_NODE") and kind not in _QUERIES:
            return f"{kind.partition('_')[0]} is no SELECT"
        if node.get("class") == "PARAMETER":
            return "parameters such as ? have no value here"
        if kind == "SHOW_REF":
            return "SHOW, DESCRIBE and SUMMARIZE are no SELECT"
        if kind == "BASE_TABLE" and node["qualified_name"]["path"] in ([name] for name in named):
            kind = "CTE"
        if kind == "BASE_TABLE" and any(letter in str(node.get("table_name")) for letter in "/\\*:."):
            place = str(node.get("schema_name") or "main").lower(), str(node["table_name"]).lower()
            table = called(Path(str(node["table_name"])))
            is_known = (place[0], table.lower()) in self._tables
            hint = f", whose table is {table}" if is_known else " or called like one"
            return "" if place in self._tables else f"{node['table_name']!r} is a file{hint}"
        if kind == "BASE_TABLE" and str(node.get("table_name")).lower() in self._views_of_the_engine:
            return f"{node['table_name']} tells of the process"
        if kind == "TABLE_FUNCTION":
            function = node.get("function") or {}
            name = str(function.get("function_name", "")).lower()
            return "" if name in self._table_functions else f"{name or 'this'} in FROM reads more than tables"
        if node.get("class") == "FUNCTION" and not node.get("is_operator"):
            name = str(node.get("function_name", "")).lower()
            return "" if name in self._functions or name in self._table_functions else f"function {name}"
        return ""


def _may_write(path: Path) -> bool:
    """Tell whether this process may make files in a folder, or change a file, as a statement could past the parser."""
    try:
        with tempfile.TemporaryFile(dir=path) if path.is_dir() else path.open("r+b"):
            return True
    except OSError:
        return False


def _is_made_in_steps(query: str) -> bool:
    """Tell what the engine itself makes several statements of: a PIVOT whose values it has to look up first."""
    with contextlib.suppress(duckdb.Error):
        return [one.type for one in duckdb.extract_statements(query)] == [duckdb.StatementType.MULTI]
    return False


def _nodes(tree: Any) -> Iterator[tuple[int, Set[str], dict[str, Any]]]:
    """Yield every object of the tree, with its depth and the names that WITH gives there.

    A generic walk cannot miss a kind of node.
    """
    stack: list[tuple[int, Set[str], Any]] = [(0, frozenset(), tree)]
    while stack:
        depth, named, node = stack.pop()
        if isinstance(node, dict):
            yield depth, named, node
            function = node.get("function")
            if node.get("type") == "TABLE_FUNCTION" and isinstance(function, dict):
                # It has been judged as a table function; what it is given is still to come.
                node = {**node, "function": {**function, "class": ""}}
            for one in node.get("cte_map", {}).get("map", ()):
                stack.append((depth + 1, named - {one["key"]}, one["value"]))
                named = named | {one["key"]}
            if node.get("type") == "RECURSIVE_CTE_NODE":  # whose other half begins without it
                stack.append((depth + 1, named | {node["cte_name"]}, node.get("right")))
                node = {**node, "right": None}
            stack.extend((depth + 1, named, value) for name, value in node.items() if name != "cte_map")
        elif isinstance(node, list):
            stack.extend((depth + 1, named, value) for value in node)


def _run(cursor: duckdb.DuckDBPyConnection, asked: Asked, limits: Limits) -> QueryResult:
    try:
        columns = columns_of(cursor.execute(asked.text)) if asked.explain else run_whole(cursor, asked.query)
        rows = iter(cursor.fetchone, None)
        return collected(asked.text.rstrip("; \n"), columns, rows, limits)
    except duckdb.InterruptException as error:
        raise stopped(limits.statement_seconds) from error
    except duckdb.PermissionException as error:
        raise RefusedStatementError(f"DuckDB refuses: {_first_line(error)}.", remedy=ONE_SELECT) from error
    except duckdb.Error as error:
        raise QueryError(f"{_first_line(error)} (DuckDB)") from error
    finally:
        cursor.close()


def _interrupt(cursor: duckdb.DuckDBPyConnection) -> None:
    """End what a cursor runs; it may have ended and closed it a moment ago, which the engine calls an error."""
    with contextlib.suppress(duckdb.Error):
        cursor.interrupt()


def _first_line(error: Exception) -> str:
    """Return the engine's own words, and the names that it proposes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines[1:] if line.startswith(("Candidate", "Did you mean")) and line[-1] != ":"]
    return " ".join([*lines[:1], *told]) or type(error).__name__


def _open(path: Path, copies: Path) -> tuple[duckdb.DuckDBPyConnection, list[str], list[tuple[str, int, int]]]:
    """Open a file, or files of tables as views; say which of these are left out, and why, and what there was."""
    left_out: list[str] = []
    files: list[tuple[str, int, int]] = []
    if not found_at(path):
        raise DatabaseUnavailableError(
            f"There is no DuckDB file or folder {path}.",
            remedy="Check its URL (--database, NARU_DATABASE_URL): duckdb:///file.duckdb, a folder, or a file of CSV, "
            "JSON or Parquet.",
        )
    try:
        if holds_tables(path):
            files = files_in(path)
            connection = duckdb.connect(":memory:", config=dict(_SETTINGS))
            left_out = view_files(connection, path.resolve(), copies)
        else:
            connection = duckdb.connect(str(path), read_only=True, config=dict(_SETTINGS))
        for setting in _LOCKED:
            connection.execute(f"SET {setting}")
    except duckdb.Error as error:
        raise DatabaseUnavailableError(
            f"{path} cannot be read by DuckDB: {_first_line(error)}",
            remedy="Check that it is what its name says and that no other process writes to it.",
        ) from error
    return connection, left_out, files


def _broken_views(cursor: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], str]:
    """Name the views whose tables, files or extensions are not there for a reader, with the engine's reason."""
    found = {}
    asked = "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
    for schema, view in cursor.execute(asked).fetchall():
        name = ".".join(MARK + part.replace(MARK, MARK * 2) + MARK for part in (schema, view))
        try:
            cursor.execute(f"SELECT * FROM {name} LIMIT 0")  # noqa: S608  # quoted
        except duckdb.Error as error:
            found[schema, view] = _first_line(error)
    return found


def _dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [name for name, *_ in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
