"""GBNF of one SELECT over found tables: joined by their keys, with the found columns as the only names.

Each set of tables that can be joined is a rule of its own, so that what stands in SELECT also stands in FROM.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from naru.builtins.data.asking.joins import Link, joined_sets
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.databases.catalogue import Table
from naru.builtins.data.databases.gather import quoted

SETS_AT_MOST = 16
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
column-{n} ::= {columns}
agg-{n} ::= "COUNT(*)" | ("COUNT" | "SUM" | "AVG" | "MIN" | "MAX") "(" ("DISTINCT ")? arith-{n} ")"
simple-{n} ::= column-{n} | literal | function-{n} | agg-{n} | "(" arith-{n} ")" | case-{n}
arith-{n} ::= simple-{n} (sign simple-{n}){{0,3}}
function-{n} ::= ("ROUND" | "COALESCE" | "NULLIF") "(" arith-{n} ", " arith-{n} ")" \
  | ("LOWER" | "UPPER" | "LENGTH" | "ABS") "(" arith-{n} ")" \
  | "CAST(" arith-{n} " AS " type ")" | dialect-{n}
case-{n} ::= "CASE WHEN " where-{n} " THEN " simple-{n} (" ELSE " simple-{n})? " END"
item-{n} ::= arith-{n} (" AS " name)?
test-{n} ::= arith-{n} compare arith-{n} | column-{n} (" NOT")? " IN (" \
  (literal (", " literal){{0,9}} | inner) ")" | \
  arith-{n} (" NOT")? " LIKE " string | column-{n} " IS " ("NOT ")? "NULL" \
  | arith-{n} " BETWEEN " arith-{n} " AND " arith-{n} | \
  arith-{n} compare "(" inner ")" | "(" where-{n} ")"
where-{n} ::= test-{n} ((" AND " | " OR ") test-{n}){{0,5}}
select-{n} ::= "SELECT " ("DISTINCT ")? item-{n} (", " item-{n}){{0,7}} " FROM " from-{n} (" WHERE " where-{n})? \
  (" GROUP BY " arith-{n} (", " arith-{n}){{0,4}} (" HAVING " where-{n})?)? \
  (" ORDER BY " order-{n} (", " order-{n}){{0,2}})? (" LIMIT " count)?
order-{n} ::= (arith-{n} | name) direction
from-{n} ::= {source}
"""
_INNER = """
inner-{n} ::= "SELECT " ("DISTINCT ")? arith-{n} " FROM " from-{n} (" WHERE " where-{n})? \
  (" GROUP BY " column-{n} (" HAVING " where-{n})?)? \
  (" ORDER BY " order-{n})? (" LIMIT " count)?
"""
_DIALECTS = {
    "PostgreSQL": (
        '"EXTRACT(" part " FROM " arith-{n} ")" | "DATE_TRUNC(" string ", " arith-{n} ")" | "CURRENT_DATE" '
        '| "INTERVAL " string | "TO_CHAR(" arith-{n} ", " string ")"'
    ),
    "SQLite": '"STRFTIME(" string ", " arith-{n} ")" | "DATE(" (string | column-{n}) (", " string){{0,2}} ")" '
    '| "JULIANDAY(" arith-{n} ")"',
    "DuckDB": '"EXTRACT(" part " FROM " arith-{n} ")" | "DATE_TRUNC(" string ", " arith-{n} ")" | "CURRENT_DATE" '
    '| "INTERVAL " string',
    "MySQL": '("YEAR" | "MONTH" | "DAY" | "DATE") "(" arith-{n} ")" | "CURDATE()" '
    '| "DATE_FORMAT(" arith-{n} ", " string ")" '
    '| "INTERVAL " number " " part | "DATEDIFF(" arith-{n} ", " arith-{n} ")"',
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
    for number, steps in enumerate(sets):
        members = _members(steps)
        columns = [_written(tables[name], column.name, mark) for name in members for column in tables[name].columns]
        unique = [name for name in _bare_names([tables[one] for one in members], mark) if name not in columns]
        filled = _RULES.format(
            n=number, columns=" | ".join(map(json.dumps, [*columns, *unique])), source=_source(steps, mark)
        )
        rules += [filled, f"dialect-{number} ::= {_DIALECTS[dialect].format(n=number)}\n", _INNER.format(n=number)]
    rules.append(f"inner ::= {' | '.join(f'inner-{number}' for number in range(min(len(sets), 8)))}\n")
    rules.append(f'root ::= ({" | ".join(f"select-{number}" for number in range(len(sets)))}) ";"?\n')
    return "".join(rules)


def _members(steps: Sequence[Link]) -> list[str]:
    return list(dict.fromkeys([steps[0].table, *(step.other for step in steps)]))


def _written(table: Table, column: str, mark: str) -> str:
    return f"{quoted(table.name, mark)}.{quoted(column, mark)}"


def _bare_names(tables: Sequence[Table], mark: str) -> list[str]:
    """Return columns that one of the tables alone has, as they may be written without it."""
    names = [column.name for table in tables for column in table.columns]
    return [quoted(name, mark) for name in names if names.count(name) == 1]


def _source(steps: Sequence[Link], mark: str) -> str:
    whole = json.dumps(quoted(steps[0].table, mark))
    for step in steps:
        if step.columns:
            on = " AND ".join(
                f"{quoted(step.table, mark)}.{quoted(own, mark)} = {quoted(step.other, mark)}.{quoted(theirs, mark)}"
                for own, theirs in step.columns
            )
            whole += f' (" JOIN " | " LEFT JOIN ") {json.dumps(f"{quoted(step.other, mark)} ON {on}")}'
    return whole
