"""Values as the database stores them: `'computer science'` is `'Computer Science'` there, or a part of a longer one.

A text that a column does not hold is looked for without regard to case, then as a part; then among the values that the
question names, which may stand in another column, as what is beside a number always does. What is found nowhere stays
as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from naru.builtins.data.asking.joins import WORDS_TYPE
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.asking.tables import has_column, own_columns, sources_of, table_named
from naru.builtins.data.databases.catalogue import Table, parted_name
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError
from naru.builtins.data.databases.gather import quoted, quoted_table, text_literal

_NUMBER_TYPE = re.compile(
    r"\b(big|small|tiny|medium)?(int(eger)?\d*|serial)\b|numeric|decimal|real|double|float", re.IGNORECASE
)
_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)
COMPARED_AT_MOST = 6
"""Texts of one statement that are looked up."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A column beside a text."""

    column: exp.Column
    text: exp.Literal
    table: Table
    standing: Sequence[str]
    """Tables of the same FROM."""


async def as_stored(tree: exp.Select, scope: Scope, database: Database) -> None:
    """Change compared texts in place to what the database holds."""
    for compared in list(_compared(tree, scope))[:COMPARED_AT_MOST]:
        text, name = compared.text.name, compared.column.name
        holds = await _held(compared.table, name, text, database) if _is_of_words(compared.table, name) else []
        if text in holds or not holds:
            fits = [one for one in scope.values if one.text.casefold() == text.casefold()]
            here = [compared.table.name, *compared.standing]
            named = min(fits, key=lambda one: here.index(one.table) if one.table in here else len(here), default=None)
            if not holds and named is not None:
                compared.column.replace(exp.column(named.column, table=parted_name(named.table)[1]))
                compared.text.replace(exp.Literal.string(named.text))
            continue
        same = [one for one in holds if one.casefold() == text.casefold()]
        if same or len(holds) == 1:
            compared.text.replace(exp.Literal.string((same or holds)[0]))
        elif isinstance(compared.text.parent, exp.EQ):
            part = exp.Literal.string(f"%{text.lower()}%")
            compared.text.parent.replace(exp.Like(this=exp.Lower(this=compared.column.copy()), expression=part))


def _compared(tree: exp.Select, scope: Scope) -> Iterator[_Compared]:
    for select in tree.find_all(exp.Select):
        tables = [
            table
            for source in sources_of(select)
            if isinstance(source, exp.Table) and (table := table_named(scope.tables, source.name, source.db))
        ]
        aliases = {(source.alias or source.name).casefold(): source for source in sources_of(select)}
        for column in own_columns(select):
            source = aliases.get(column.table.casefold())
            said = table_named(scope.tables, source.name if source else column.table) if column.table else None
            fits = [*([said] if said else ()), *tables, *scope.tables]
            table = next((one for one in fits if has_column(one, column.name)), None)
            for text in _texts_beside(column):
                if table is not None and (_is_of_words(table, column.name) or _is_no_number(table, column.name, text)):
                    yield _Compared(column, text, table, [one.name for one in tables])


def _texts_beside(column: exp.Column) -> list[exp.Literal]:
    beside = column.parent
    if isinstance(beside, exp.EQ | exp.NEQ):
        others = [beside.expression if beside.this is column else beside.this]
    elif isinstance(beside, exp.In):
        others = list(beside.expressions)
    else:
        return []
    return [one for one in others if isinstance(one, exp.Literal) and one.is_string]


def _is_of_words(table: Table, name: str) -> bool:
    return any(one.name.casefold() == name.casefold() and WORDS_TYPE.search(one.type) for one in table.columns)


def _is_no_number(table: Table, name: str, text: exp.Literal) -> bool:
    """Whether a column of numbers stands beside a text that is none: no row could hold it."""
    numbers = (one for one in table.columns if one.name.casefold() == name.casefold() and _NUMBER_TYPE.search(one.type))
    return any(numbers) and not _NUMBER.fullmatch(text.name.strip())


async def _held(table: Table, column: str, text: str, database: Database) -> list[str]:
    """Return the column's values that are the text, or have it in them; the text alone when it is one of them."""
    mark = "`" if database.dialect == "MySQL" else '"'
    name, source = quoted(column, mark), quoted_table(table.name, mark)
    whole, part = text_literal(text, database.dialect), text_literal(f"%{text.lower()}%", database.dialect)
    tests = [f"{name} = {whole}"] + ([f"lower({name}) LIKE {part}"] if len(text) > 1 and "\\" not in text else [])
    for test in tests:
        # Names come out of the catalogue, texts are quoted, and the statement passes the guard like any other.
        asked = f"SELECT DISTINCT {name} AS found FROM {source} WHERE {test} LIMIT 20"  # noqa: S608
        try:
            found = [str(row["found"]) for row in (await database.query(asked)).records]
        except (QueryError, RefusedStatementError):
            return []
        if found:
            return found
    return []
