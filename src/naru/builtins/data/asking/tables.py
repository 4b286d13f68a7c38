"""Whose each column of a SELECT is, and FROM with what its columns need, joined by keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from naru.builtins.data.asking.joins import Link, connected, ways
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.databases.catalogue import Table, joined_name, parted_name
from naru.builtins.data.databases.gather import PLAIN_NAME, RESERVED

JOINED_AT_MOST = 6


def sources_of(select: exp.Select) -> Iterator[exp.Expr]:
    """Give what stands in FROM and JOIN, in order."""
    if first := select.args.get("from_"):
        yield first.this
    for join in select.args.get("joins") or ():
        yield join.this


def own_columns(select: exp.Select) -> list[exp.Column]:
    """Return the columns of this SELECT, without those of the ones in it."""
    return [column for column in select.find_all(exp.Column) if column.parent_select is select]


def table_named(tables: Sequence[Table], name: str, schema: str = "") -> Table | None:
    """Return the scope's table that a statement calls so; letters' case is the engine's matter."""
    wanted = joined_name(schema, name)
    fits = [table for table in tables if wanted.casefold() in (table.name.casefold(), _bare(table.name).casefold())]
    return fits[0] if fits else None


def has_column(table: Table, name: str) -> bool:
    """Whether the table has a column of that name."""
    return any(column.name.casefold() == name.casefold() for column in table.columns)


def _bare(name: str) -> str:
    return parted_name(name)[1]


@dataclass(slots=True)
class Joins:
    """One SELECT and the tables that its columns need."""

    select: exp.Select
    scope: Scope

    def complete(self, named: Sequence[str] = ()) -> None:
        """Say of each column whose it is, and join by keys what its columns need, and the tables that are meant so.

        A FROM with a join that no key and no comparison of two tables makes is written anew, from the tables that
        columns are used of.
        """
        self._tell_apart()
        self._join_none_to_itself()
        known = self._known()
        if known is None:
            return
        is_sound = self._by_keys(known)
        outer = self._outer()
        aliases = {item.alias.casefold() for item in self.select.expressions if item.alias}
        owned = [(column, self._owner(column, known, outer, aliases)) for column in own_columns(self.select)]
        if len({owner.name for _, owner in owned if owner}) > 1 and (alone := self._alone(owned, known)):
            owned, is_sound = [(column, owner and alone) for column, owner in owned], False
        used = list(dict.fromkeys(owner.name for column, owner in owned if owner and not _in_join(column, self.select)))
        used += [name for name in named if name not in used]
        if not is_sound or any(name not in known.values() for name in used):
            known = self._join(used, known, is_sound=is_sound)
        for column, owner in owned:
            if owner is not None:
                self._say(column, owner, known)

    def _tell_apart(self) -> None:
        """Let a second table that took the name of a first one go by its own, and columns of that name by their own."""
        taken: set[str] = set()
        for source in sources_of(self.select):
            name = source.alias_or_name.casefold()
            table = table_named(self.scope.tables, source.name, source.db) if isinstance(source, exp.Table) else None
            if name in taken and table is not None and source.alias and source.name.casefold() not in taken:
                source.set("alias", None)
                for column in (one for one in own_columns(self.select) if one.table.casefold() == name):
                    join = column.find_ancestor(exp.Join)
                    if join is None or join is source.parent:
                        is_here = join is not None and has_column(table, column.name)
                        column.set("table", source.this.copy() if is_here else None)
            taken.add(source.alias_or_name.casefold())

    def _join_none_to_itself(self) -> None:
        """Leave out a table that is joined to itself by its own key: both are one row, and what is of it stays."""
        first: dict[str, exp.Expr] = {}
        for source in list(sources_of(self.select)):
            table = table_named(self.scope.tables, source.name, source.db) if isinstance(source, exp.Table) else None
            if table is None or (before := first.setdefault(table.name, source)) is source:
                continue
            join, own = source.parent, source.alias_or_name.casefold()
            if isinstance(join, exp.Join) and _is_one_row(join.args.get("on"), own, before, table):
                join.pop()
                for column in (one for one in self.select.find_all(exp.Column) if one.table.casefold() == own):
                    column.set("table", exp.to_identifier(before.alias_or_name))
                    column.set("db", None)

    def _alone(self, owned: Sequence[tuple[exp.Column, Table | None]], known: dict[str, str]) -> Table | None:
        """Return the one table that has all columns, where FROM lacks one of them: it was meant."""
        if all(owner is None or owner.name in known.values() for _, owner in owned):
            return None
        names = {column.name for column, owner in owned if owner}
        fits = (table for table in self.scope.tables if all(has_column(table, name) for name in names))
        return next(fits, None)

    def _by_keys(self, known: dict[str, str]) -> bool:
        """Put keys in the place of conditions that compare other columns; tell whether each join has a reason."""
        is_sound, standing = True, list(known)[:1]
        for join in self.select.args.get("joins") or ():
            own = (join.this.alias or join.this.name).casefold()
            links = [
                (alias, link)
                for link in ways(self.scope.links, list(dict.fromkeys(known.values())))[known[own]]
                for alias in standing
                if known[alias] == link.other
            ]
            on = join.args.get("on")
            if links and not any(_says(on, link) for _, link in links):
                alias, link = links[0]
                join.set("on", _condition(self._called(own), self._called(alias), link))
            elif not links:
                is_sound = is_sound and self._compares(on, own, known)
            standing.append(own)
        return is_sound

    def _compares(self, on: exp.Expr | None, own: str, known: dict[str, str]) -> bool:
        """Whether a condition compares a column of the joined table with one of another."""
        for one in on.find_all(exp.EQ) if on else ():
            sides = (one.this, one.expression)
            names = [side.table.casefold() for side in sides if isinstance(side, exp.Column)]
            tables = [table_named(self.scope.tables, known[name]) for name in names if name in known]
            if len(set(names)) == 2 and own in names and len(tables) == 2:
                return all(
                    table is not None and has_column(table, side.name)
                    for table, side in zip(tables, sides, strict=True)
                )
        return False

    def _known(self) -> dict[str, str] | None:
        """Return the tables of FROM by the names they go by here; None when anything else, or one twice, is there."""
        known: dict[str, str] = {}
        for source in sources_of(self.select):
            table = table_named(self.scope.tables, source.name, source.db) if isinstance(source, exp.Table) else None
            if table is None or table.name in known.values():
                return None
            known[(source.alias or source.name).casefold()] = table.name
        return known

    def _outer(self) -> set[str]:
        found: set[str] = set()
        above = self.select.parent_select
        while above is not None:
            found |= {(source.alias or source.name).casefold() for source in sources_of(above)}
            above = above.parent_select
        return found

    def _owner(self, column: exp.Column, known: dict[str, str], outer: set[str], aliases: set[str]) -> Table | None:
        """Return the table that a column is of; None for another SELECT's, a name given here, or nobody's."""
        name, said = column.name, column.table.casefold()
        if said in outer and said not in known:
            return None
        if said:
            table = table_named(self.scope.tables, known.get(said, column.table), "" if said in known else column.db)
            if table is not None and has_column(table, name):
                return table
        elif name.casefold() in aliases and _is_after_select(column, self.select):
            return None
        tables = {table.name: table for table in self.scope.tables}
        here = [tables[one] for one in known.values() if has_column(tables[one], name)]
        if here:
            return here[0]
        if not said and outer:
            return None
        others = [table for table in self.scope.tables if has_column(table, name)]
        return min(others, key=lambda table: self._distance(table.name, known), default=None)

    def _distance(self, table: str, known: dict[str, str]) -> int:
        starts = list(dict.fromkeys(known.values()))
        if not starts:
            return 0
        path = connected([*starts, table], self.scope.links, self._names(), most=len(starts) + JOINED_AT_MOST)
        return len(path) if self._touches(path, table) else len(path) + JOINED_AT_MOST

    def _touches(self, path: Sequence[str], table: str) -> bool:
        return len(path) == 1 or any(link.other in path for link in ways(self.scope.links, path)[table])

    def _names(self) -> list[str]:
        return [table.name for table in self.scope.tables]

    def _say(self, column: exp.Column, owner: Table, known: dict[str, str]) -> None:
        alias = next((alias for alias, name in known.items() if name == owner.name), "")
        if alias and column.table.casefold() != alias:
            column.set("table", self._called(alias))
            column.set("db", None)

    def _called(self, alias: str) -> exp.Identifier:
        """Return how the statement writes the name of a source."""
        for source in sources_of(self.select):
            name = source.args["alias"].this if source.args.get("alias") else source.this
            if name.name.casefold() == alias:
                return identifier(name.name, quoted=bool(name.args.get("quoted")))
        return identifier(alias)

    def _join(self, used: Sequence[str], known: dict[str, str], *, is_sound: bool) -> dict[str, str]:
        """Join the used tables by keys, and return what stands there then.

        Tables of FROM that no column is of and no row is counted of give way.
        """
        kept = list(dict.fromkeys(known.values()))
        is_counted = any(self.select.find_all(exp.Star))
        if used and (not is_sound or (not is_counted and not any(name in used for name in kept))):
            kept, known = [], {}
        chosen = connected([*kept, *used], self.scope.links, self._names(), most=len(kept) + JOINED_AT_MOST)
        chosen = list(dict.fromkeys([*kept, *chosen]))
        steps = _steps(chosen, kept or chosen[:1], ways(self.scope.links, chosen))
        if not chosen or steps is None:  # no key leads there: the database says so, and the model writes again
            return self._known() or {}
        if not kept:
            self.select.set("joins", None)
            self.select.set("from_", exp.From(this=_source(chosen[0])))
            known = {_bare(chosen[0]).casefold(): chosen[0]}
        for link in steps:
            theirs = next(alias for alias, table in known.items() if table == link.other)
            on = _condition(identifier(_bare(link.table)), self._called(theirs), link)
            self.select.append("joins", exp.Join(this=_source(link.table), on=on))
            known[_bare(link.table).casefold()] = link.table
        return known


def _steps(chosen: Sequence[str], standing: Sequence[str], around: Mapping[str, Sequence[Link]]) -> list[Link] | None:
    """Return the links that join the rest of the chosen tables to those that stand; None when one cannot be."""
    there, steps = list(standing), []
    waiting = [name for name in chosen if name not in there]
    while waiting:
        link = next((link for name in waiting for link in around[name] if link.other in there), None)
        if link is None:
            return None
        steps.append(link)
        there.append(link.table)
        waiting.remove(link.table)
    return steps


def _is_one_row(on: exp.Expr | None, own: str, before: exp.Expr, table: Table) -> bool:
    """Whether a join of a table to itself compares its key with itself; its first column, where none is declared."""
    keys = {column.name.casefold() for column in table.columns if column.is_key} or {table.columns[0].name.casefold()}
    pairs = [(one.this, one.expression) for one in (on.find_all(exp.EQ) if on else ())]
    both = {own, before.alias_or_name.casefold()}
    said = {
        one.name.casefold()
        for one, other in pairs
        if isinstance(one, exp.Column) and isinstance(other, exp.Column) and one.name == other.name
        if {one.table.casefold(), other.table.casefold()} == both
    }
    return keys <= said


def _says(on: exp.Expr | None, link: Link) -> bool:
    """Whether a condition compares what the link does; letters' case and the side do not matter."""
    pairs = {
        frozenset((one.this.name.casefold(), one.expression.name.casefold()))
        for one in (on.find_all(exp.EQ) if on else ())
    }
    return all(frozenset((own.casefold(), other.casefold())) in pairs for own, other in link.columns)


def _condition(own: exp.Identifier, other: exp.Identifier, link: Link) -> exp.Expr:
    return exp.and_(
        *(
            exp.EQ(
                this=exp.Column(this=identifier(one), table=own.copy()),
                expression=exp.Column(this=identifier(their), table=other.copy()),
            )
            for one, their in link.columns
        )
    )


def _source(name: str) -> exp.Table:
    schema, bare = parted_name(name)
    return exp.Table(this=identifier(bare), db=identifier(schema) if schema else None)


def identifier(name: str, *, quoted: bool | None = None) -> exp.Identifier:
    """Return a name as a statement writes it, in quotes where it needs them."""
    is_plain = bool(PLAIN_NAME.fullmatch(name)) and name not in RESERVED
    return exp.Identifier(this=name, quoted=not is_plain if quoted is None else quoted)


def _in_join(column: exp.Column, select: exp.Select) -> bool:
    join = column.find_ancestor(exp.Join)
    return join is not None and join.parent is select


def _is_after_select(column: exp.Column, select: exp.Select) -> bool:
    """Whether the column stands where a name given in SELECT may: in GROUP BY, HAVING, ORDER BY."""
    part = column.find_ancestor(exp.Group, exp.Having, exp.Order)
    return part is not None and part.parent is select
