"""The column that a question asks a sum for each of, in so many words: `per course id`, `in each journal`, `고객사별`.

Only what a column is called, or what its comment begins with, is taken for one, and else a table for the column that
its rows are called by: a model may know better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from naru.builtins.data.asking.scope import stem
from naru.builtins.data.databases.catalogue import Column, Table, parted_name

_EACH = re.compile(r"\b(?:per|each|every)\s+((?:\w+\s+){0,3}\w+)", re.IGNORECASE)
_EACH_KOREAN = re.compile(r"(\w+?)(?:별|마다)(?![가-힣]{2})|\w+")
"""A word without one is passed over whole: to look again within it takes time that grows with its square."""
_PART = re.compile(r"[^\W_]+")


def each_of(question: str, tables: Sequence[Table]) -> tuple[Table, Column] | None:
    """Return the one column of these tables that the question names so; the longest name where several fit."""
    fits = sorted(_fits(question, tables), key=lambda fit: -fit[0]) or list(_tables(question, tables))
    if not fits or [size for size, _, _ in fits].count(fits[0][0]) > 1:
        return None
    return fits[0][1], fits[0][2]


def _fits(question: str, tables: Sequence[Table]) -> Iterator[tuple[int, Table, Column]]:
    english = [_stems(found[1]) for found in _EACH.finditer(question)]
    korean = [word for word in _EACH_KOREAN.findall(question) if word]
    for table in tables:
        for column in table.columns:
            name = _stems(column.name)
            size = len(name) if name and any(words[: len(name)] == name for words in english) else 0
            if not size and any(column.name == word or column.comment.startswith(word) for word in korean):
                size = 1
            if size:
                yield size, table, column


def _tables(question: str, tables: Sequence[Table]) -> Iterator[tuple[int, Table, Column]]:
    """Give the tables that are named so, each with its rows' names, or else with its key."""
    english = [_stems(found[1]) for found in _EACH.finditer(question)]
    korean = [word for word in _EACH_KOREAN.findall(question) if word]
    for table in tables:
        bare = parted_name(table.name)[1]
        name = _stems(bare)
        if any(words[: len(name)] == name for words in english) or any(
            bare == word or table.comment.startswith(word) for word in korean
        ):
            called = (
                "name",
                *(f"{one}{part}" for part in ("_name", "name", "_id", "id") for one in (bare, stem(bare))),
            )
            column = next((found for one in called if (found := table.column(one))), table.columns[0])
            yield len(name), table, column


def _stems(text: str) -> list[str]:
    return [stem(part) for part in _PART.findall(text.casefold())]
