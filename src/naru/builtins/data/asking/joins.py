"""How tables are joined: by their declared keys, and where a database declares none, by the names of their columns.

Those are the names that keys have, or names that end as another table's key does (`tx_cust_id`, `cust_id`); a table
that has none is joined by the first column of words, its own or another's.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from naru.builtins.data.databases.catalogue import Catalogue, Table, parted_name

_KEY_ENDINGS = ("id", "_id", "_key", "_code", "_no", "_num", "_number")
WORDS_TYPE = re.compile(r"char|text|string|enum", re.IGNORECASE)
_KEY = re.compile("_?(id|key|code|no|num|number)$")
_SAYS_NOTHING = ("id", "name")
"""Columns of that name in two tables are not for that reason of one thing."""


@dataclass(frozen=True, slots=True)
class Link:
    """Two tables and the columns that are equal in both."""

    table: str
    other: str
    columns: tuple[tuple[str, str], ...]
    """Own column and the other's."""

    def turned(self) -> Link:
        """Return the same link seen from the other table."""
        return Link(self.other, self.table, tuple((theirs, own) for own, theirs in self.columns))


def links_of(catalogue: Catalogue) -> list[Link]:
    """Return the declared foreign keys; pairs of tables without one are linked by names, where names say so."""
    declared = [
        Link(table.name, reference.table, tuple(zip(reference.columns, reference.other_columns, strict=False)))
        for table in catalogue.tables
        for reference in table.references
        if catalogue.table(reference.table) and reference.columns
    ]
    if declared:
        return declared
    return list(_by_names(catalogue.tables))


def _by_names(tables: Sequence[Table]) -> Iterator[Link]:
    joined: set[str] = set()
    for table, other in combinations(tables, 2):
        if pairs := _pairs(table, other):
            joined |= {table.name, other.name}
            yield Link(table.name, other.name, (pairs[0],))
    for table, other in combinations(tables, 2):
        if not {table.name, other.name} <= joined and (pair := _ending_alike(table, other) or _first(table, other)):
            yield Link(table.name, other.name, (pair,))


def _first(table: Table, other: Table) -> tuple[str, str] | None:
    """Return the first column of one table that the other has too, as `city_name`: what rows are called by."""
    firsts = [column.name for each in (table, other) for column in each.columns[:1] if WORDS_TYPE.search(column.type)]
    both = (name for name in firsts if name not in _SAYS_NOTHING and table.column(name) and other.column(name))
    return next(((name, name) for name in both), None)


def _pairs(table: Table, other: Table) -> list[tuple[str, str]]:
    """Return pairs of columns that mean the same.

    `orders.customer_id` and `customer.id`, `offering.semester` and `semester.semester_id`, one key's name in both, or
    in both a name that tells of one of them: `state_name` in `city` and `state`.
    """
    found = []
    for one, two in ((table, other), (other, table)):
        bare = _bare(two)
        for own, theirs in ((f"{bare}_id", "id"), (f"{bare}_id", f"{bare}_id"), (bare, f"{bare}_id")):
            if one.column(own) and two.column(theirs):
                found.append((own, theirs) if one is table else (theirs, own))
    both = [column.name for column in other.columns if column.name != "id" and table.column(column.name)]
    keys = [name for name in both if name.endswith(_KEY_ENDINGS)]
    told = [name for name in both if name.startswith((f"{_bare(table)}_", f"{_bare(other)}_"))]
    return found + [(name, name) for name in (*keys, *told)]


def _ending_alike(table: Table, other: Table) -> tuple[str, str] | None:
    """Return a column that ends as the first one of the other table does, `tx_cust_id` and `cust_id`, with its other.

    What both end with has to say more than that it is a key, and to be most of the name.
    """
    for one, two in ((table, other), (other, table)):
        key = two.columns[0].name if two.columns else ""
        says = len(key) - len(_KEY.sub("", key))
        for name in (column.name for column in one.columns if says):
            alike = next((at for at in range(len(key)) if name[-1 - at :] != key[-1 - at :]), len(key))
            if alike >= says + 3 and alike * 3 >= len(key) * 2:
                return (name, key) if one is table else (key, name)
    return None


def _bare(table: Table) -> str:
    name = parted_name(table.name)[1]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def ways(links: Sequence[Link], tables: Collection[str]) -> dict[str, list[Link]]:
    """Return the links between these tables, by the table that they are seen from."""
    found: dict[str, list[Link]] = {table: [] for table in tables}
    for link in links:
        if link.table in found and link.other in found and link.table != link.other:
            found[link.table].append(link)
            found[link.other].append(link.turned())
    return found


def connected(wanted: Sequence[str], links: Sequence[Link], everything: Collection[str], *, most: int) -> list[str]:
    """Return the wanted tables and those on the shortest ways between them; the first is the middle."""
    around = ways(links, everything)
    chosen = list(wanted[:1])
    for table in wanted[1:]:
        if table in chosen:
            continue
        path = _path(around, chosen, table)
        if path and len(chosen) + len(path) <= most:
            chosen += path
        elif len(chosen) < most:
            chosen.append(table)
    return chosen


def _path(around: Mapping[str, Sequence[Link]], starts: Sequence[str], end: str) -> list[str]:
    """Return the tables to add so that `end` is reached from one of `starts`, `end` last; none when there is no way."""
    before: dict[str, str] = dict.fromkeys(starts, "")
    queue = deque(starts)
    while queue:
        table = queue.popleft()
        if table == end:
            path = []
            while before[table]:
                path.append(table)
                table = before[table]
            return path[::-1]
        for link in around.get(table, ()):
            if link.other not in before:
                before[link.other] = table
                queue.append(link.other)
    return []
