"""Catalogues from the rows that an engine's own catalogue gives, whatever the engine."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from naru.builtins.data.databases.catalogue import (
    VALUES_TOLD,
    Catalogue,
    Column,
    Reference,
    Table,
    joined_name,
    parted_name,
)
from naru.builtins.data.databases.database import QueryResult
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError

ROWS_LOOKED_AT = 10_000
"""A column's values are told as far as they are in the table's first rows."""
MOST_VALUES = 2 * VALUES_TOLD
"""A column with more different values has none worth telling."""
_WORDS = re.compile(r"char|text|string|enum|bool|clob|set\b", re.IGNORECASE)
_NESTED = re.compile(r"(struct|map|union)\b|.*\]\Z", re.IGNORECASE | re.DOTALL)
"""Types whose values hold others: as a text, none is what a statement compares with."""
PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
RESERVED = frozenset(
    "accessible add all alter analyse analyze and anti any array as asc asensitive asof asymmetric at authorization "
    "before between bigint binary blob both by call cascade case cast change char character check collate collation "
    "column commit concurrently condition constraint continue convert create cross current_date current_role "
    "current_time current_timestamp current_user cursor database databases day_hour day_microsecond day_minute "
    "day_second dec decimal declare default deferrable delayed delete delete_domain_id desc describe deterministic "
    "distinct distinctrow div do do_domain_ids double drop dual each else elseif enclosed end escape escaped except "
    "exists exit explain false fetch filter float for force foreign freeze from full fulltext glob grant group groups "
    "having high_priority hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ilike in index infile "
    "initially inner inout insensitive insert int integer intersect interval into is isnull iterate join key keys "
    "kill lambda lateral leading leave left like limit linear lines load localtime localtimestamp lock long longblob "
    "longtext loop low_priority master_demote_to_replica master_demote_to_slave master_ssl_verify_server_cert match "
    "maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural "
    "no_write_to_binlog not nothing notnull null numeric offset on only optimize optionally or order out outer "
    "outfile over overlaps page_checksum parse_vcol_expr partition pivot pivot_longer pivot_wider placing portion "
    "positional precision primary procedure purge qualify raise range rank read read_write reads real recursive "
    "ref_system_id references regexp release rename repeat replace require resignal restrict return returning revoke "
    "right rlike row row_number rows schema schemas second_microsecond select semi sensitive separator set show "
    "signal similar smallint some spatial specific sql sql_big_result sql_buffer_result sql_cache sql_calc_found_rows "
    "sql_no_cache sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent "
    "stats_sample_pages straight_join summarize symmetric system table tablesample terminated then tinyblob tinyint "
    "tinytext to top trailing transaction trigger true undo union unique unlock unpack unpivot unsigned update usage "
    "use user using utc_date utc_time utc_timestamp values varbinary varchar varcharacter variadic varying verbose "
    "view when where while window with write xor year_month zerofill".split()
)
"""Words that at least one engine takes for its own: what each of them refused of its own list of keywords as a name."""


def gathered(
    columns: Sequence[Mapping[str, Any]], keys: Sequence[Mapping[str, Any]], *, usual_schema: str
) -> Catalogue:
    """Build a catalogue of rows: schema, table, column, type, comment, table_comment, is_key; and of foreign keys.

    A key's `columns` and `other_columns` are lists, in one order.
    """

    def name_of(schema: Any, table: Any) -> str:
        return joined_name("" if not schema or schema == usual_schema else str(schema), str(table))

    tables: dict[str, list[Column]] = {}
    comments: dict[str, str] = {}
    references: dict[str, list[Reference]] = {}
    for row in columns:
        name = name_of(row.get("schema"), row["table"])
        comments[name] = str(row.get("table_comment") or "")
        comment, is_key = str(row.get("comment") or ""), bool(row.get("is_key"))
        tables.setdefault(name, []).append(Column(str(row["column"]), str(row["type"] or "any"), comment, is_key))
    for row in keys:
        other = name_of(row.get("other_schema"), row["other"])
        found = Reference(_names(row["columns"]), other, _names(row["other_columns"]))
        references.setdefault(name_of(row.get("schema"), row["table"]), []).append(found)
    return Catalogue(
        tuple(
            Table(name, tuple(parts), comments[name], tuple(references.get(name, ()))) for name, parts in tables.items()
        )
    )


def quoted(name: str, mark: str) -> str:
    """Write a name as a statement must: between marks unless it is a plain one."""
    is_plain = PLAIN_NAME.fullmatch(name) and name not in RESERVED
    return name if is_plain else f"{mark}{name.replace(mark, mark * 2)}{mark}"


def quoted_table(name: str, mark: str) -> str:
    """Write a table's name, as `Table.name` has it, as a statement must."""
    return ".".join(quoted(part, mark) for part in parted_name(name) if part)


def text_literal(text: str, dialect: str) -> str:
    """Write a text as a statement must; only MySQL reads backslashes in it."""
    plain = text.replace("\\", "\\\\") if dialect == "MySQL" else text
    return "'" + plain.replace("'", "''") + "'"


async def with_values(catalogue: Catalogue, query: Callable[[str], Awaitable[QueryResult]], mark: str) -> Catalogue:
    """Add the values of columns of words that have few; a column that cannot be read goes without."""
    tables = []
    for table in catalogue.tables:
        columns = [replace(column, values=await _values(table, column, query, mark)) for column in table.columns]
        tables.append(replace(table, columns=tuple(columns)))
    return replace(catalogue, tables=tuple(tables))


async def _values(
    table: Table, column: Column, query: Callable[[str], Awaitable[QueryResult]], mark: str
) -> tuple[str, ...]:
    if not _WORDS.search(column.type) or _NESTED.match(column.type):
        return ()
    name, source = quoted(column.name, mark), quoted_table(table.name, mark)
    # Names come out of the catalogue and are quoted; the statement passes the guard like any other.
    asked = (
        f"SELECT DISTINCT {name} AS found FROM (SELECT {name} FROM {source} LIMIT {ROWS_LOOKED_AT}) part "  # noqa: S608
        f"WHERE {name} IS NOT NULL ORDER BY 1 LIMIT {MOST_VALUES + 1}"
    )
    try:
        rows = (await query(asked)).records
    except (QueryError, RefusedStatementError):
        return ()
    return () if len(rows) > MOST_VALUES else tuple(str(row["found"]) for row in rows)


def _names(value: Any) -> tuple[str, ...]:
    found = json.loads(value) if isinstance(value, str) else value
    return tuple(str(one) for one in found)
