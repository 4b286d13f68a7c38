"""The column that a question asks a sum for each of, in so many words: `per course id`, `in each journal`, `고객사별`.

Only what a column is called, or what its comment begins with, is taken for one, and else a table for the column that
its rows are called by: a model may know better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from naru.builtins.data.asking.scope import stem
from naru.builtins.data.databases.catalogue import Column, Table

_EACH = re.compile(r"\b(?:per|each|every)\s+((?:\w+\s+){0,3}\w+)", re.IGNORECASE)
_EACH_KOREAN = re.compile(r"(\w+?)(?:별|마다)(?![가-힣]{2})|\w+")
"""A word without one is passed over whole: to look again within it takes time that grows with its square."""
_UNIT = re.compile(
    r"\b(?:per|each|every)\s+(?P<a>day|week|month|quarter|year)\b(?!\s+of\s+the\s+(?:week|month|year))"
    r"|\b(?P<b>daily|weekly|monthly|quarterly|yearly)\s+(?:total|average|mean|sum|count|number)\b"
    r"|(?<![가-힣])(?:매(?P<c>[일주월년])|(?P<d>일자?|날짜|주차?|월|분기|연도?|년도?)(?:별|마다))(?![가-힣]{2})",
    re.IGNORECASE,
)
_UNITS = {
    **dict.fromkeys(("day", "daily", "일", "일자", "날짜"), "day"),
    **dict.fromkeys(("week", "weekly", "주", "주차"), "week"),
    **dict.fromkeys(("month", "monthly", "월"), "month"),
    **dict.fromkeys(("quarter", "quarterly", "분기"), "quarter"),
    **dict.fromkeys(("year", "yearly", "연", "연도", "년", "년도"), "year"),
}
_COUNTED = re.compile(r"num|cnt|count|건수")
"""What a column is called that holds how many there were; alone, or with what was counted: `num_enrolled`."""
_ASKS_HOW_MANY = re.compile(r"\b(?:how many|numbers? of|count of)\s+((?:\w+\s+){0,2}\w+)", re.IGNORECASE)
_NUMBER_TYPE = re.compile(r"(big|small|tiny|u)?int|num|dec|real|dou|float", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")


def each_of(question: str, tables: Sequence[Table]) -> tuple[Table, Column] | None:
    """Return the one column of these tables that the question names so; the longest name where several fit."""
    fits = sorted(_fits(question, tables), key=lambda fit: -fit[0]) or list(_tables(question, tables))
    if not fits or [size for size, _, _ in fits].count(fits[0][0]) > 1:
        return None
    return fits[0][1], fits[0][2]


def unit_of(question: str) -> str:
    """Return the part of the calendar that a question wants a sum for each of: `monthly average`, `월별`."""
    found = _UNIT.search(question)
    return next((_UNITS[word.casefold()] for word in found.groups() if word), "") if found else ""


def counted_in(question: str, standing: Sequence[Table], tables: Sequence[Table]) -> tuple[Table, Column] | None:
    """Return the one column that holds already how many there were of what the question asks the number of.

    One that is only called `count` is its own table's, where nothing but that stands.
    """
    asked = {word for found in _ASKS_HOW_MANY.finditer(question) for word in _stems(found[1])}
    rows = {word for table in standing for word in _stems(table.name.rpartition(".")[2].replace("_", " "))}
    found = []
    for table in tables:
        for column in table.columns:
            words = _stems(column.name.replace("_", " "))
            rest = [word for word in words if not _COUNTED.fullmatch(word)]
            is_alone = not rest and [table] == list(standing)
            is_asked = bool(rest) and len(rest) < len(words) and set(rest) <= asked - rows
            if _NUMBER_TYPE.match(column.type) and (is_alone or is_asked):
                found.append((table, column))
    return found[0] if len(found) == 1 else None


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
        bare = table.name.rpartition(".")[2]
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
