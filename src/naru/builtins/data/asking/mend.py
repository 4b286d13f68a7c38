"""What a written statement lacks and the catalogue knows: its joins, its groups, real division, nothing-known last.

A small model picks the right columns more often than it says where they stand. Each rule is one of SQL's or of the
keys', none is of a question: a column's table stands in FROM, joined by its keys; what is not summed up is grouped by;
a condition on a sum is one of the groups; a ratio is no whole number; what rows are ordered or grouped by is shown.
A table that nothing is asked of repeats rows and stands in no sum. Two read the question: a sum that it wants for each
of a column (`each`) is grouped by it, and rows are counted of the table that it names.
Values are in `stored`. A statement that cannot be read is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from naru.builtins.data.asking.each import each_of
from naru.builtins.data.asking.joins import WORDS_TYPE, ways
from naru.builtins.data.asking.scope import Scope, is_named
from naru.builtins.data.asking.tables import Joins, identifier, own_columns, sources_of, table_named
from naru.builtins.data.databases.catalogue import Table, parted_name

_DIALECTS = {"PostgreSQL": "postgres", "SQLite": "sqlite", "DuckDB": "duckdb", "MySQL": "mysql"}
_COMPARES_TEXTS = ("PostgreSQL", "DuckDB")
"""Engines that know LIKE of texts alone."""
_DIVIDES_WHOLE = ("PostgreSQL", "SQLite")
"""Engines where 1 / 2 is 0."""


def parsed(sql: str, dialect: str) -> exp.Select | None:
    """Return the statement as a tree; None for what is no single SELECT."""
    try:
        trees = sqlglot.parse(sql, read=_DIALECTS[dialect])
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    return trees[0] if len(trees) == 1 and isinstance(trees[0], exp.Select) else None


def written(tree: exp.Select, dialect: str) -> str:
    """Write the tree as the engine reads it."""
    return tree.sql(_DIALECTS[dialect])


def mend(tree: exp.Select, scope: Scope, dialect: str, question: str = "") -> None:
    """Mend the tree in place."""
    _for_each(tree, scope, question)
    for select in list(tree.find_all(exp.Select)):
        named = _named(select, scope, question) if select is tree else []
        Joins(select, scope).complete(named)
        _spare(select, scope, named)
        _without(select)
        _conditions_of_groups(select)
        _groups(select)
    _shown(tree)
    _once(tree, scope)
    if dialect in _DIVIDES_WHOLE:
        for division in list(tree.find_all(exp.Div)):
            _divide(division)
    if dialect == "PostgreSQL":
        _truths(tree, scope)
    if dialect in _COMPARES_TEXTS:
        _texts(tree, scope)
    for ordered in tree.find_all(exp.Ordered):
        ordered.set("nulls_first", False)


def _named(select: exp.Select, scope: Scope, question: str) -> list[str]:
    """Return the tables that the question and the statement name; the one it names, where it counts rows of none."""
    standing = _tables_of(select, scope).values()
    both = [table.name for table in standing if is_named(table, question, wholly=True)]
    if not standing or any(is_named(table, question) for table in standing):
        return both
    if not any(count.find(exp.Star) for count in select.find_all(exp.Count)):
        return both
    named = [table.name for table in scope.tables if is_named(table, question)]
    around = ways(scope.links, [table.name for table in scope.tables])
    near = {link.other for table in standing for link in around[table.name]}
    return named if len(named) == 1 and named[0] in near else []


def _spare(select: exp.Select, scope: Scope, named: Sequence[str]) -> None:
    """Leave out joined tables that nothing is asked of where something is summed up: they only repeat rows.

    Where rows are counted, those of one table are meant only if the question names it.
    """
    joins = list(select.args.get("joins") or ())
    columns = list(select.find_all(exp.Column))
    if not (joins and all(column.table for column in columns)):
        return
    tables = {alias.casefold(): table.name for alias, table in _tables_of(select, scope).items()}
    if any(select.find_all(exp.Star)) and not named:
        return
    if not any(_sums(item, select) for item in select.expressions):
        return
    for join in reversed(list(joins)):
        alias = join.this.alias_or_name.casefold()
        asked = (column for column in columns if column.table.casefold() == alias)
        is_spare = isinstance(join.this, exp.Table) and tables.get(alias) not in named
        if is_spare and all(column.find_ancestor(exp.Join) is join for column in asked):
            joins.remove(join)
            columns = [column for column in columns if column.find_ancestor(exp.Join) is not join]
    select.set("joins", joins)


def _without(select: exp.Select) -> None:
    """Keep the rows that a join finds nothing for, where its own key is asked to be NULL: else there would be none."""
    where = select.args.get("where")
    asked = {
        test.this.sql()
        for test in _parts(where)
        if isinstance(test, exp.Is) and isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Null)
    }
    for join in select.args.get("joins") or ():
        alias, on = join.this.alias_or_name.casefold(), join.args.get("on")
        keys = on.find_all(exp.Column) if on else ()
        if not join.side and any(key.table.casefold() == alias and key.sql() in asked for key in keys):
            join.set("side", "LEFT")


def _sums(expression: exp.Expr, select: exp.Select) -> bool:
    return any(
        one.parent_select is select and not one.find_ancestor(exp.Window) for one in expression.find_all(exp.AggFunc)
    )


def _parts(where: exp.Where | None) -> list[exp.Expr]:
    """Return the conditions that all hold."""
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _conditions_of_groups(select: exp.Select) -> None:
    """Move conditions on sums from WHERE to HAVING."""
    where = select.args.get("where")
    parts = _parts(where)
    moved = [part for part in parts if _sums(part, select)]
    if not moved:
        return
    stay = [part.copy() for part in parts if part not in moved]
    having = select.args.get("having")
    conditions = [part.copy() for part in moved] + ([having.this.copy()] if having else [])
    select.set("where", exp.Where(this=exp.and_(*stay)) if stay else None)
    select.set("having", exp.Having(this=exp.and_(*conditions)))


def _groups(select: exp.Select) -> None:
    """Group by what stands beside a sum."""
    sums = any(_sums(item, select) for item in select.expressions) or select.args.get("having") is not None
    group = select.args.get("group")
    if not sums:
        return
    plain = [
        item.unalias()
        for item in select.expressions
        if not _sums(item, select) and not item.unalias().is_star and any(item.find_all(exp.Column))
    ]
    names = {item.alias for item in select.expressions if item.alias}
    grouped = list(group.expressions) if group else []
    told = [one.sql() for one in grouped]
    by_name = any(one.is_int or (isinstance(one, exp.Column) and one.name in names) for one in grouped)
    missing = [item.copy() for item in plain if item.sql() not in told] if not by_name else []
    if missing:
        select.set("group", exp.Group(expressions=[*grouped, *missing]))


def _for_each(select: exp.Select, scope: Scope, question: str) -> None:
    """Group sums that stand alone by what the question wants one for each of."""
    if select.args.get("group") or not all(_sums(item, select) for item in select.expressions):
        return
    tables = list(_tables_of(select, scope).values())
    if found := each_of(question, tables) or each_of(question, scope.tables):
        table = identifier(parted_name(found[0].name)[1])  # `Joins` says it by its alias, or joins it
        column = exp.Column(this=identifier(found[1].name), table=table)
        select.set("group", exp.Group(expressions=[column]))


def _tables_of(select: exp.Select, scope: Scope) -> dict[str, Table]:
    """Return the known tables of FROM by the names they go by."""
    found = {
        (source.alias or source.name): table_named(scope.tables, source.name, source.db)
        for source in sources_of(select)
        if isinstance(source, exp.Table)
    }
    return {alias: table for alias, table in found.items() if table}


def _truths(tree: exp.Select, scope: Scope) -> None:
    """Compare a column of truths with a truth, where it is compared with 0 or 1."""
    for select in tree.find_all(exp.Select):
        tables = _tables_of(select, scope)
        for column in own_columns(select):
            beside = column.parent
            if not isinstance(beside, exp.EQ | exp.NEQ):
                continue
            other = beside.expression if beside.this is column else beside.this
            table = tables.get(column.table)
            known = table.column(column.name) if table else None
            if known and known.type.startswith("bool") and other.is_int and other.name in ("0", "1"):
                other.replace(exp.Boolean(this=other.name == "1"))


def _texts(tree: exp.Select, scope: Scope) -> None:
    """Look for letters in what a number or a day is as a text."""
    for select in tree.find_all(exp.Select):
        tables = _tables_of(select, scope)
        for column in own_columns(select):
            table = tables.get(column.table)
            known = table.column(column.name) if table else None
            beside = column.parent
            if not isinstance(beside, exp.Like | exp.ILike) or beside.this is not column:
                continue
            if known and not WORDS_TYPE.search(known.type):
                beside.set("this", exp.cast(column.copy(), exp.DataType.Type.TEXT))


def _shown(select: exp.Select) -> None:
    """Show the groups and what the rows are ordered by, where the statement shows neither."""
    if select.args.get("distinct") or any(item.is_star for item in select.expressions):
        return
    names = {item.alias.casefold() for item in select.expressions if item.alias}
    names |= {item.name.casefold() for item in select.expressions if isinstance(item, exp.Column)}
    shown = {item.unalias().sql() for item in select.expressions}
    group, order = select.args.get("group"), select.args.get("order")
    ordered = [one.this for one in (order.expressions if order else ())]
    is_summed = any(_sums(item, select) for item in select.expressions)
    if group or is_summed:
        ordered = [part for part in ordered if _sums(part, select)]
    for part in [*(group.expressions if group and is_summed else ()), *ordered]:
        is_named = isinstance(part, exp.Column) and part.name.casefold() in names
        if is_named or part.is_number or part.sql() in shown:
            continue
        select.append("expressions", part.copy())
        shown.add(part.sql())


def _once(select: exp.Select, scope: Scope) -> None:
    """Tell a row of one table once, however many rows of a joined table refer to it."""
    columns = [column for item in select.expressions for column in item.find_all(exp.Column)]
    is_grouped = select.args.get("group") or any(_sums(item, select) for item in select.expressions)
    if is_grouped or select.args.get("distinct") or len({column.table.casefold() for column in columns}) != 1:
        return
    tables = {alias.casefold(): table for alias, table in _tables_of(select, scope).items()}
    told = tables.get(columns[0].table.casefold())
    key_of_told = _key(told, list(tables.values()), scope) if told else ()
    order = select.args.get("order")
    ordered = [one.this for one in order.expressions] if order else []
    if not key_of_told or any(not isinstance(one, exp.Column) for one in ordered):
        return
    key = [exp.Column(this=exp.to_identifier(name), table=columns[0].args["table"].copy()) for name in key_of_told]
    grouped = {one.sql(): one for one in [*key, *(item.unalias() for item in select.expressions), *ordered]}
    select.set("group", exp.Group(expressions=[one.copy() for one in grouped.values()]))


def _key(told: Table, tables: Sequence[Table], scope: Scope) -> Sequence[str]:
    """Return the columns by which other tables' rows refer to a table's; its first one, where no key is declared."""
    declared = [one.other_columns for table in tables for one in table.references if one.table == told.name]
    if declared or any(table.references for table in scope.tables):
        return declared[0] if declared else ()
    first = told.columns[0].name
    links = ways(scope.links, [table.name for table in tables])[told.name]
    return (first,) if any(own == first for link in links for own, _ in link.columns) else ()


def _divide(division: exp.Div) -> None:
    """Divide as people do: no whole numbers, and nothing where the divisor is nought."""
    left, right = division.this, division.expression
    bare = left.unnest()
    if not isinstance(bare, exp.Cast) and not (bare.is_number and not bare.is_int):
        division.set("this", exp.cast(bare.copy(), exp.DataType.Type.DOUBLE))
    if not right.unnest().is_number and not isinstance(right.unnest(), exp.Nullif):
        division.set("expression", exp.Nullif(this=right.unnest().copy(), expression=exp.Literal.number(0)))
