"""Numbers and days as people write them in CSV files, as what they are: `1.234,50 €`, `12,5 %`, `4.3.2026 9:05`.

A column is one where each of its texts is; what stands with each of its numbers is told in its comment. A code is no
number: it has no mark between its digits, and no `%` or sign of a currency with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from naru.builtins.data.databases.gather import quoted, text_literal

_MARK = '"'
_BLANKS = r" \x{a0}\x{2009}\x{202f}"
_NONE = "('', '-', '–', '—', 'N/A', '#N/A', 'NA', 'NULL', 'NaN')"
"""What programs and people write where there is no value."""
_GROUPS = {",": rf"[.'’{_BLANKS}]", ".": rf"[,'’{_BLANKS}]"}
"""By the mark of a fraction, those between a number's thousands."""
_SIGN = r"[%‰\p{Sc}]"
_LONGEST = 18
"""Of a number's text; a longer one is more exact than the value would be."""
_DAY = r"(\d{1,2})[./-] ?(\d{1,2})[./-] ?(\d{4})"
_TIME = r"(?:[ T]+(\d{1,2}:\d{2}(?::\d{2})?))?"
_MOMENTS = (
    (rf"(\d{{4}})\D{{1,2}}(\d{{1,2}})\D{{1,2}}(\d{{1,2}})[.일日]?{_TIME}", r"\1-\2-\3 \4"),
    (_DAY + _TIME, r"\3-\2-\1 \4"),
    (_DAY + _TIME, r"\3-\1-\2 \4"),
)
"""Year first, day first, month first."""


@dataclass(frozen=True, slots=True)
class Told:
    """What makes a column's texts values, and the unit that they are told with."""

    value: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class _Number(Told):
    is_grouped: bool = False
    has_fraction: bool = False


def values_of(
    connection: duckdb.DuckDBPyConnection, texts: str, kinds: Mapping[str, str], delimiter: str
) -> dict[str, Told]:
    """Return, of the columns that hold more than the engine sees, what makes their texts values.

    `texts` is what to read from, with every column as text; `kinds` are the types that the engine gives them.

    Raises:
        duckdb.Error: it cannot be read.
    """
    words = [name for name, kind in kinds.items() if kind == "VARCHAR"]
    points, commas = (_numbers(connection, texts, words, mark) for mark in ".,")
    of_commas = [one for name, one in commas.items() if one.has_fraction and name not in points]
    of_points = points.keys() - commas.keys()
    if delimiter == ",":  # where `1,2` in quotes is as likely a list
        of_commas = [one for one in of_commas if one.is_grouped or one.unit]
    is_comma = len(of_commas) > len(of_points) or (len(of_commas) == len(of_points) and delimiter == ";")
    found: dict[str, Told] = dict(commas if is_comma else points)
    if of_commas and is_comma:  # then the points in what the engine takes for fractions part thousands
        fractions = [name for name, kind in kinds.items() if kind == "DOUBLE"]
        found |= {name: one for name, one in _numbers(connection, texts, fractions, ",").items() if one.is_grouped}
    return found | _moments(connection, texts, [name for name in words if name not in found])


def _numbers(connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str], mark: str) -> dict[str, _Number]:
    """Return the columns whose every text is a number with this mark before its fraction."""
    group, point = _GROUPS[mark], re.escape(mark)
    whole = rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{group}\d{{2,3}})*{group}\d{{3}})"
    blank = f"[{_BLANKS}]"
    before, after = rf"({_SIGN}{blank}?|[A-Z]{{3}}{blank})?", rf"({blank}?{_SIGN}|{blank}?\pL+[²³]?)?"
    form = rf"\(?{before}[+−-]?({_SIGN}{blank}?)?({whole}(?:{point}\d+)?){after}\)?"
    form, group = text_literal(f"^{form}$", "DuckDB"), text_literal(group, "DuckDB")

    def asked(text: str) -> str:
        number, unit = (f"regexp_extract({text}, {form}, {at})" for at in (3, 4))
        unit = f"trim(regexp_extract({text}, {form}, 1) || regexp_extract({text}, {form}, 2) || {unit})"
        return (
            f"bool_and(regexp_matches({text}, {form})), min({unit}), max({unit}), "
            f"bool_or(regexp_matches({number}, {group})), bool_or(contains({number}, '{mark}')), "
            f"bool_or(regexp_matches({number}, '[{_BLANKS}]')), min(length({text})), max(length({text}))"
        )

    found = {}
    for name, text, row in _looked_at(connection, texts, names, asked):
        is_number, unit, other, grouped, fraction, has_blanks, least, most = row
        is_said = grouped or fraction or not unit or re.fullmatch(r"\W", unit)
        is_code = has_blanks and not fraction and not unit and least == most  # a telephone's number, as likely
        if is_number and unit == other and is_said and not is_code and most <= _LONGEST:
            digits = f"replace(regexp_replace({text}, '[^0-9{mark}]', '', 'g'), '{mark}', '.')"
            minus = rf"CASE WHEN regexp_matches({text}, '^[^\d]*[(−-]') THEN '-' ELSE '' END"
            value = f"CAST({minus} || {digits} AS {'DOUBLE' if fraction else 'BIGINT'})"
            found[name] = _Number(value, unit.strip(), grouped, fraction)
    return found


def _moments(connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str]) -> dict[str, Told]:
    found: dict[str, Told] = {}
    for form, parts in _MOMENTS:

        def moment(text: str, form: str = form, parts: str = parts) -> str:
            return f"trim(regexp_replace({text}, '^{form}$', '{parts}'))"

        def asked(text: str, form: str = form, moment: Callable[[str], str] = moment) -> str:
            is_moment = f"regexp_full_match({text}, '{form}') AND try_cast({moment(text)} AS TIMESTAMP) IS NOT NULL"
            return f"bool_and({is_moment}), bool_or(contains({text}, ':'))"

        for name, text, (is_moment, has_time) in _looked_at(connection, texts, names, asked):
            if is_moment and name not in found:
                found[name] = Told(f"CAST({moment(text)} AS {'TIMESTAMP' if has_time else 'DATE'})")
    return found


def _looked_at(
    connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str], asked: Callable[[str], str]
) -> Iterator[tuple[str, str, Sequence[Any]]]:
    """Ask the same of each column, in one pass; yield its name, its text, and the answers."""
    columns = [quoted(name, _MARK) for name in names]
    values = [f"CASE WHEN trim({column}) NOT IN {_NONE} THEN trim({column}) END" for column in columns]
    if values:
        own = [f"naru_{place}" for place in range(len(values))]
        inner = ", ".join(f"{value} AS {one}" for value, one in zip(values, own, strict=True))
        asking = f"SELECT {', '.join(map(asked, own))} FROM (SELECT {inner} FROM {texts})"  # noqa: S608  # quoted
        row = connection.execute(asking).fetchone() or ()
        each = len(row) // len(values)
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            yield name, value, row[place * each : (place + 1) * each]
