"""What a question is about: the tables and columns that it means, how they are joined, the values that it names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from naru.builtins.data.asking.joins import WORDS_TYPE, Link, connected, links_of
from naru.builtins.data.databases.catalogue import Catalogue, Table, parted_name
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError
from naru.builtins.data.databases.gather import quoted, quoted_table, text_literal

TABLES_AT_MOST = 5
TABLES_AT_LEAST = 3
"""However near the first is: what a question asks for beside it often stands in another."""
COLUMNS_AT_MOST = 16
"""Of one table; its keys are always among them."""
NEAREST_COLUMNS = 24
VALUE_COUNTS, NAME_COUNTS = 1.0, 0.7
"""A table that holds a value of the question, or is called by one of its words, beside 1 for its nearest column's."""
_PHRASE_WORDS = 4
_PHRASES_AT_MOST = 60
_TEXT_COLUMNS_AT_MOST = 60
_WORD = re.compile(r"[\w.&'-]+")
_QUOTED = re.compile(r"[\"“‘']([^\"”’']{1,60})[\"”’']")

Search = Callable[[str, int], Awaitable[Sequence[tuple[str, str, float]]]]
"""Returns the nearest columns of a question: table, column, closeness; nearest first."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the database that the question names."""

    table: str
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a database that a question is about."""

    tables: Sequence[Table]
    links: Sequence[Link]
    values: Sequence[Value]

    def table(self, name: str) -> Table | None:
        """Return the table of that name."""
        return next((table for table in self.tables if table.name == name), None)


async def find_scope(question: str, catalogue: Catalogue, search: Search, database: Database) -> Scope:
    """Find the tables by their columns' meaning, by their names and by the values that the question names."""
    nearest = await search(question, NEAREST_COLUMNS)
    values = await named_values(question, catalogue, database)
    scores: dict[str, float] = {}
    for place, (name, _, _) in enumerate(nearest):
        scores.setdefault(name, 1.0 / (1 + place))  # its best column's; a wide table is not a better one
    for name in dict.fromkeys(value.table for value in values):  # in their order: it decides between equals
        scores[name] = scores.get(name, 0.0) + VALUE_COUNTS
    for table in catalogue.tables:
        if is_named(table, question):
            scores[table.name] = scores.get(table.name, 0.0) + NAME_COUNTS
    names = [table.name for table in catalogue.tables]
    ordered = sorted((name for name in scores if name in names), key=lambda name: -scores[name])
    wanted = [
        name
        for place, name in enumerate(ordered[: TABLES_AT_MOST - 1])
        if place < TABLES_AT_LEAST or scores[name] >= 0.25 * scores[ordered[0]]
    ]
    links = links_of(catalogue)
    chosen = connected(wanted or names[:TABLES_AT_MOST], links, names, most=TABLES_AT_MOST)
    near = {(table, column) for table, column, _ in nearest} | {(value.table, value.column) for value in values}
    tables = [_narrowed(table, near, links) for table in catalogue.tables if table.name in chosen]
    tables.sort(key=lambda table: chosen.index(table.name))
    kept = [link for link in links if link.table in chosen and link.other in chosen]
    return Scope(tables, kept, [value for value in values if value.table in chosen])


async def named_values(question: str, catalogue: Catalogue, database: Database) -> list[Value]:
    """Look for the question's phrases among the values of columns of words; the longest phrase that is one wins."""
    phrases = _phrases(question)
    if not phrases:
        return []
    mark = "`" if database.dialect == "MySQL" else '"'
    literals = ", ".join(text_literal(phrase, database.dialect) for phrase in phrases)
    columns = [
        (table, column) for table in catalogue.tables for column in table.columns if WORDS_TYPE.search(column.type)
    ]
    found: list[Value] = []
    for table, column in columns[:_TEXT_COLUMNS_AT_MOST]:
        name, source = quoted(column.name, mark), quoted_table(table.name, mark)
        # Names come out of the catalogue, phrases are quoted, and the statement passes the guard like any other.
        asked = f"SELECT DISTINCT {name} AS found FROM {source} WHERE lower({name}) IN ({literals}) LIMIT 3"  # noqa: S608
        try:
            rows = (await database.query(asked)).records
        except (QueryError, RefusedStatementError):
            continue
        found += [Value(table.name, column.name, str(row["found"])) for row in rows]
    longest = max((len(value.text) for value in found), default=0)
    return [value for value in found if len(value.text) * 2 >= longest]


def _phrases(question: str) -> list[str]:
    """Return what may be a value: what is quoted, and runs of words, longer ones first, without common short words."""
    quoted_parts = [part.strip().casefold() for part in _QUOTED.findall(question)]
    words = [word.strip(".'") for word in _WORD.findall(question.casefold())]
    runs = [
        " ".join(words[start : start + size])
        for size in range(_PHRASE_WORDS, 0, -1)
        for start in range(len(words) - size + 1)
    ]
    return [one for one in dict.fromkeys([*quoted_parts, *runs]) if len(one) > 2 or one.isdigit()][:_PHRASES_AT_MOST]


def is_named(table: Table, question: str, *, wholly: bool = False) -> bool:
    """Whether a word of the question is one of the table's name, or all words of its name are in the question."""
    words = {stem(word) for word in _WORD.findall(question.casefold())}
    if wholly:
        return {stem(part) for part in parted_name(table.name.casefold())[1].split("_")} <= words
    return bool({stem(part) for part in re.split(r"[._]", table.name.casefold())} & words)


def stem(word: str) -> str:
    """Return an English word without the ending of its plural."""
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def _narrowed(table: Table, near: set[tuple[str, str]], links: Sequence[Link]) -> Table:
    """Leave out columns of a wide table that the question does not mean and no join needs."""
    if len(table.columns) <= COLUMNS_AT_MOST:
        return table
    keys = {own for link in links for own, _ in link.columns if link.table == table.name}
    keys |= {theirs for link in links for _, theirs in link.columns if link.other == table.name}
    kept = [one for one in table.columns if (table.name, one.name) in near or one.name in keys or one.is_key]
    rest = [one for one in table.columns if one not in kept]
    names = {one.name for one in [*kept, *rest[: max(0, COLUMNS_AT_MOST - len(kept))]]}
    return Table(table.name, [one for one in table.columns if one.name in names], table.comment, table.references)
