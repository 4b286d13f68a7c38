"""GBNF of one SELECT over found tables: joined by their keys, with the found columns as the only names.

That a column's table also stands in FROM is left to the database and the repair: a set of rules for each way to join
says it too, and makes an engine try each of its words against all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from naru.builtins.data.asking.joins import Link, joined_sets
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.databases.catalogue import Table
from naru.builtins.data.databases.gather import quoted

SETS_AT_MOST = 24
JOINED_AT_MOST = 4
_COMMON = r"""
number ::= "-"? [0-9]{1,12} ("." [0-9]{1,6})?
string ::= "'" ([^'\n\x00] | "''"){0,60} "'"
literal ::= number | string
compare ::= " = " | " > " | " < " | " >= " | " <= " | " <> "
sign ::= " + " | " - " | " * " | " / "
name ::= [a-z] [a-z0-9_]{1,28}
count ::= [1-9] [0-9]{0,2}
direction ::= "" | " ASC" | " DESC"
"""
_RULES = """\
column ::= {columns}
agg ::= "COUNT(*)" | ("COUNT" | "SUM" | "AVG" | "MIN" | "MAX") "(" ("DISTINCT ")? arith ")"
simple ::= column | literal | function | agg | "(" arith ")" | case
arith ::= simple (sign simple){{0,3}}
function ::= ("ROUND" | "COALESCE" | "NULLIF") "(" arith ", " arith ")" \
  | ("LOWER" | "UPPER" | "LENGTH" | "ABS") "(" arith ")" \
  | "CAST(" arith " AS " type ")" | dialect
case ::= "CASE WHEN " where " THEN " simple (" ELSE " simple)? " END"
item ::= arith (" AS " name)?
test ::= arith compare arith | column (" NOT")? " IN (" \
  (literal (", " literal){{0,9}} | inner) ")" | \
  arith (" NOT")? " LIKE " string | column " IS " ("NOT ")? "NULL" \
  | arith " BETWEEN " arith " AND " arith | \
  arith compare "(" inner ")" | "(" where ")"
where ::= test ((" AND " | " OR ") test){{0,5}}
select ::= "SELECT " ("DISTINCT ")? item (", " item){{0,7}} " FROM " from (" WHERE " where)? \
  (" GROUP BY " arith (", " arith){{0,4}} (" HAVING " where)?)? \
  (" ORDER BY " order (", " order){{0,2}})? (" LIMIT " count)?
order ::= (arith | name) direction
inner ::= "SELECT " ("DISTINCT ")? arith " FROM " from (" WHERE " where)? \
  (" GROUP BY " column (" HAVING " where)?)? \
  (" ORDER BY " order)? (" LIMIT " count)?
from ::= {source}
root ::= select ";"?
"""
_DIALECTS = {
    "PostgreSQL": (
        '"EXTRACT(" part " FROM " arith ")" | "DATE_TRUNC(" string ", " arith ")" | "CURRENT_DATE" '
        '| "INTERVAL " string | "TO_CHAR(" arith ", " string ")"'
    ),
    "SQLite": '"STRFTIME(" string ", " arith ")" | "DATE(" (string | column) (", " string){0,2} ")" '
    '| "JULIANDAY(" arith ")"',
    "DuckDB": '"EXTRACT(" part " FROM " arith ")" | "DATE_TRUNC(" string ", " arith ")" | "CURRENT_DATE" '
    '| "INTERVAL " string',
    "MySQL": '("YEAR" | "MONTH" | "DAY" | "DATE") "(" arith ")" | "CURDATE()" '
    '| "DATE_FORMAT(" arith ", " string ")" '
    '| "INTERVAL " number " " part | "DATEDIFF(" arith ", " arith ")"',
}
_TYPES = {
    "PostgreSQL": '"float" | "numeric" | "integer" | "text" | "date"',
    "MySQL": '"DECIMAL(20, 6)" | "SIGNED" | "CHAR" | "DATE"',
}
_TYPE = '"REAL" | "INTEGER" | "TEXT" | "DATE"'
_PART = 'part ::= "YEAR" | "MONTH" | "DAY" | "HOUR" | "QUARTER" | "DOW"\n'


def select_grammar(scope: Scope, dialect: str) -> str:
    """Return the grammar of one SELECT over the scope's tables, in this engine's words."""
    tables = {table.name: table for table in scope.tables}
    sets = joined_sets(list(tables), scope.links, most=JOINED_AT_MOST)[:SETS_AT_MOST]
    mark = "`" if dialect == "MySQL" else '"'
    rules = [_COMMON, _PART, f"type ::= {_TYPES.get(dialect, _TYPE)}\n"]
    columns = [_written(table, column.name, mark) for table in scope.tables for column in table.columns]
    columns += [name for name in _bare_names(scope.tables, mark) if name not in columns]
    rules.append(_RULES.format(columns=_literals(columns), source=" | ".join(_source(steps, mark) for steps in sets)))
    rules.append(f"dialect ::= {_DIALECTS[dialect]}\n")
    return "".join(rules)


def _literals(texts: Sequence[str]) -> str:
    return " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def _written(table: Table, column: str, mark: str) -> str:
    return f"{quoted(table.name, mark)}.{quoted(column, mark)}"


def _bare_names(tables: Sequence[Table], mark: str) -> list[str]:
    """Return columns that one of the tables alone has, as they may be written without it."""
    names = [column.name for table in tables for column in table.columns]
    return [quoted(name, mark) for name in names if names.count(name) == 1]


def _source(steps: Sequence[Link], mark: str) -> str:
    whole = json.dumps(quoted(steps[0].table, mark), ensure_ascii=False)
    for step in steps:
        if step.columns:
            on = " AND ".join(
                f"{quoted(step.table, mark)}.{quoted(own, mark)} = {quoted(step.other, mark)}.{quoted(theirs, mark)}"
                for own, theirs in step.columns
            )
            whole += (
                f' (" JOIN " | " LEFT JOIN ") {json.dumps(f"{quoted(step.other, mark)} ON {on}", ensure_ascii=False)}'
            )
    return whole
