"""What a written statement lacks and the catalogue knows: its joins, its groups, real division, nothing-known last.

A small model picks the right columns more often than it says where they stand. Each rule is one of SQL's or of the
keys', none is of a question: a column's table stands in FROM, joined by its keys; what is not summed up is grouped by;
a condition on a sum is one of the groups; a ratio is no whole number; what rows are ordered or grouped by is shown.
Values are in `stored`. A statement that cannot be read is left as it is.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.asking.tables import Joins, sources_of, table_named

_DIALECTS = {"PostgreSQL": "postgres", "SQLite": "sqlite", "DuckDB": "duckdb", "MySQL": "mysql"}
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


def mend(tree: exp.Select, scope: Scope, dialect: str) -> None:
    """Mend the tree in place."""
    for select in list(tree.find_all(exp.Select)):
        Joins(select, scope).complete()
        _conditions_of_groups(select)
        _groups(select)
    _shown(tree)
    _once(tree, scope)
    if dialect in _DIVIDES_WHOLE:
        for division in list(tree.find_all(exp.Div)):
            _divide(division)
    for ordered in tree.find_all(exp.Ordered):
        ordered.set("nulls_first", False)


def _sums(expression: exp.Expr, select: exp.Select) -> bool:
    return any(
        one.parent_select is select and not one.find_ancestor(exp.Window) for one in expression.find_all(exp.AggFunc)
    )


def _conditions_of_groups(select: exp.Select) -> None:
    """Move conditions on sums from WHERE to HAVING."""
    where = select.args.get("where")
    if where is None:
        return
    parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
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
    tables = {
        (source.alias or source.name).casefold(): table_named(scope.tables, source.name, source.db)
        for source in sources_of(select)
        if isinstance(source, exp.Table)
    }
    told = tables.get(columns[0].table.casefold())
    referring = [
        one for table in tables.values() if table for one in table.references if told and one.table == told.name
    ]
    order = select.args.get("order")
    ordered = [one.this for one in order.expressions] if order else []
    if not referring or any(not isinstance(one, exp.Column) for one in ordered):
        return
    key = [
        exp.Column(this=exp.to_identifier(name), table=columns[0].args["table"].copy())
        for name in referring[0].other_columns
    ]
    grouped = {one.sql(): one for one in [*key, *(item.unalias() for item in select.expressions), *ordered]}
    select.set("group", exp.Group(expressions=[one.copy() for one in grouped.values()]))


def _divide(division: exp.Div) -> None:
    """Divide as people do: no whole numbers, and nothing where the divisor is nought."""
    left, right = division.this, division.expression
    bare = left.unnest()
    if not isinstance(bare, exp.Cast) and not (bare.is_number and not bare.is_int):
        division.set("this", exp.cast(bare.copy(), exp.DataType.Type.DOUBLE))
    if not right.unnest().is_number and not isinstance(right.unnest(), exp.Nullif):
        division.set("expression", exp.Nullif(this=right.unnest().copy(), expression=exp.Literal.number(0)))
