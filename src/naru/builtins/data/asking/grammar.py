"""GBNF of one SELECT over found tables, with the found columns as its only names.

A model writes as it learned to, aliases included: forced to other words it picks worse ones. That each column's table
stands in FROM, joined by its keys, is `mend`'s matter. Calls stand in one another only as far as the rules name them:
a rule that holds itself is one that a small model never leaves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from naru.builtins.data.asking.joins import WORDS_TYPE
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.databases.catalogue import Column
from naru.builtins.data.databases.gather import quoted, quoted_table

_RULES = r"""
root ::= select ";"?
select ::= "SELECT " ("DISTINCT ")? item ("," sp item){0,7} sp "FROM " from (sp "WHERE " where)? \
  (sp "GROUP BY " plain (", " plain){0,4} (sp "HAVING " where)?)? \
  (sp "ORDER BY " order (", " order){0,2})? (sp "LIMIT " count)?
inner ::= "SELECT " ("DISTINCT ")? whole sp "FROM " from (sp "WHERE " where)? \
  (sp "GROUP BY " column (sp "HAVING " where)?)? (sp "ORDER BY " order)? (sp "LIMIT " count)?
from ::= source (sp ("LEFT ")? "JOIN " source " ON " column " = " column (" AND " column " = " column)?){0,4}
source ::= table ((" AS " | " ") alias)?
item ::= whole (" AS " word)?
order ::= (whole | word) ("" | " ASC" | " DESC") (" NULLS LAST")?
where ::= test (sp ("AND " | "OR ") test){0,5}
test ::= flat | "(" flat (" AND " | " OR ") flat ((" AND " | " OR ") flat)? ")" | ("NOT ")? "EXISTS (" inner ")"
flat ::= whole compare whole | column (" NOT")? " IN (" (leaf (", " leaf){0,9} | inner) ")" \
  | (column | "LOWER(" column ")") (" NOT")? like string | column " IS " ("NOT ")? "NULL" \
  | plain " BETWEEN " plain " AND " plain
whole ::= term (sign term){0,3}
term ::= base | "ROUND(" base (sign base){0,2} (", " [0-9])? ")" | "(" base (sign base){1,2} ")" | "(" inner ")"
base ::= plain | aggregate | "CAST(" aggregate " AS " type ")" | "NULLIF(" aggregate ", 0)"
aggregate ::= "COUNT(*)" | ("COUNT" | "MIN" | "MAX") "(" ("DISTINCT ")? plain (sign plain){0,2} ")" \
  | ("SUM" | "AVG") "(" ("DISTINCT ")? amount (sign amount){0,2} ")"
plain ::= leaf | made
amount ::= figure | made
made ::= "CASE WHEN " flat (" AND " flat){0,2} " THEN " leaf (" ELSE " (leaf | "NULL"))? " END" \
  | "CAST(" leaf " AS " type ")" | ("COALESCE" | "NULLIF") "(" leaf ", " leaf ")" \
  | ("LOWER" | "UPPER" | "LENGTH" | "ABS") "(" leaf ")"
figure ::= (owner ".")? measure | number
leaf ::= column | number | string | truth
truth ::= "TRUE" | "FALSE" | "true" | "false"
number ::= "-"? [0-9]{1,12} ("." [0-9]{1,6})?
string ::= "'" ([^'\n\x00] | "''"){0,60} "'"
compare ::= " = " | " > " | " < " | " >= " | " <= " | " <> "
sign ::= " + " | " - " | " * " | " / "
sp ::= " " | "\n" " "{0,4}
word ::= [a-z] [a-z0-9_]{1,28}
alias ::= [a-z] [a-z0-9]{0,3} | [A-Z] [0-9]?
count ::= [1-9] [0-9]{0,2}
column ::= (owner ".")? name
owner ::= table | alias
""".replace("\\\n  ", "")
_DATED = {
    "PostgreSQL": (
        '"EXTRACT(" part " FROM " day ")" | "DATE_TRUNC(" string ", " day ")" | "TO_CHAR(" day ", " string ")" '
        '| day (" + " | " - ") "INTERVAL " string | "CURRENT_DATE"'
    ),
    "SQLite": '"STRFTIME(" string ", " day ")" | "DATE(" day (", " string){0,2} ")" | "JULIANDAY(" day ")"',
    "DuckDB": (
        '"EXTRACT(" part " FROM " day ")" | "DATE_TRUNC(" string ", " day ")" '
        '| day (" + " | " - ") "INTERVAL " string | "CURRENT_DATE"'
    ),
    "MySQL": (
        '("YEAR" | "MONTH" | "DAY" | "DATE") "(" day ")" | "DATE_FORMAT(" day ", " string ")" '
        '| day (" + " | " - ") "INTERVAL " number " " part | "DATEDIFF(" day ", " day ")" | "CURDATE()"'
    ),
}
_TODAY = {"SQLite": "\"'now'\"", "MySQL": '"CURDATE()"'}
_TYPES = {
    "PostgreSQL": '"float" | "numeric" | "integer" | "text" | "date"',
    "MySQL": '"DECIMAL(20, 6)" | "SIGNED" | "CHAR" | "DATE"',
}
_TYPE = '"REAL" | "INTEGER" | "TEXT" | "DATE"'
_NO_AMOUNT = re.compile(f"{WORDS_TYPE.pattern}|bool", re.IGNORECASE)
"""Columns that are never summed up."""
_DATES = re.compile(r"date|time", re.IGNORECASE)
_DATES_OF_SQLITE = re.compile(r"date|time|text|char|any", re.IGNORECASE)
"""SQLite keeps days as texts."""


def select_grammar(scope: Scope, dialect: str) -> str:
    """Return the grammar of one SELECT over the scope's tables, in this engine's words."""
    mark = "`" if dialect == "MySQL" else '"'
    columns = [column for table in scope.tables for column in table.columns]
    dates = _DATES_OF_SQLITE if dialect == "SQLite" else _DATES
    days = [column for column in columns if dates.search(column.type)]
    rules = [
        f"table ::= {_literals(quoted_table(table.name, mark) for table in scope.tables)}",
        f"name ::= {_names(columns, mark)}",
        f"measure ::= {_names([one for one in columns if not _NO_AMOUNT.search(one.type)] or columns, mark)}",
        f"type ::= {_TYPES.get(dialect, _TYPE)}",
        'like ::= " LIKE "' + (' | " ILIKE "' if dialect in ("PostgreSQL", "DuckDB") else ""),
    ]
    main = _RULES
    if days:
        main = main.replace("leaf ::= ", "leaf ::= dated | ").replace("figure ::= ", "figure ::= dated | ")
        today = _TODAY.get(dialect, '"CURRENT_DATE"')
        rules += [
            f"dated ::= {_DATED[dialect]}",
            f'day ::= (owner ".")? ({_names(days, mark)}) | {today}',
            'part ::= "YEAR" | "MONTH" | "DAY" | "HOUR" | "QUARTER" | "DOW"',
        ]
    return main + "\n".join(rules) + "\n"


def _names(columns: Iterable[Column], mark: str) -> str:
    return _literals(quoted(column.name, mark) for column in columns)


def _literals(texts: Iterable[str]) -> str:
    return " | ".join(json.dumps(text, ensure_ascii=False) for text in dict.fromkeys(texts))
