"""What DuckDB's driver for Python makes less of, asked for whole.

It tells an interval's months as 30 days each, cuts nanoseconds, shows a FLOAT's 0.1 as 0.10000000149011612, and takes
infinity for the last day that Python knows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import duckdb

from naru.builtins.data.databases.gather import quoted

_MARK = '"'
_AS_TEXT = dict.fromkeys(("interval", "timestamp_ns", "time_ns", "float", "date"), "VARCHAR")
_IN_THE_END = _AS_TEXT | {"float": "DOUBLE"}
"""A FLOAT's shortest digits are those of its text."""

_MOMENTS = frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp with time zone"})


def run_whole(cursor: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str, str]]:
    """Run a query that has been judged as one SELECT, with casts round it where it needs some; return its columns.

    Raises:
        duckdb.Error: it cannot be run.
    """
    query = query.rstrip("; \t\r\n")
    columns: Any = ()
    with contextlib.suppress(duckdb.Error):  # said again, and told, when it is run
        columns = cursor.execute(f"SELECT * FROM (\n{query}\n) naru_described LIMIT 0").description or ()  # noqa: S608
    own = [f"c{place}" for place in range(len(columns))]
    casts = [_cast(name, kind) for name, (_, kind, *_) in zip(own, columns, strict=True)]
    if casts == own:
        return columns_of(cursor.execute(query))
    cursor.execute(f"SELECT {', '.join(casts)} FROM (\n{query}\n) naru_whole({', '.join(own)})")  # noqa: S608  # judged
    return [(str(name), str(kind).lower()) for name, kind, *_ in columns]


def columns_of(cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the names and types of what was run."""
    return [(str(name), str(kind).lower()) for name, kind, *_ in cursor.description or ()]


def _cast(column: str, kind: Any) -> str:
    if kind.id in _MOMENTS:  # the finite ones stay what they are, for their form in JSON
        whole = f"union_value(endless := CAST({column} AS VARCHAR))"
        return f"CASE WHEN isfinite({column}) THEN union_value(moment := {column}) ELSE {whole} END"
    texts = _shape(kind, _AS_TEXT)
    if texts == _shape(kind, {}):
        return column
    return f"CAST(CAST({column} AS {texts}) AS {_shape(kind, _IN_THE_END)})"


def _shape(kind: Any, leaves: Mapping[str, str]) -> str:
    """Write a type, nested ones too, with other leaves; what cannot be written so is left as it is."""
    if kind.id in ("list", "array"):
        (_, inner), *size = kind.children
        return f"{_shape(inner, leaves)}[{size[0][1] if size else ''}]"
    if kind.id == "map":
        return f"MAP({', '.join(_shape(inner, leaves) for _, inner in kind.children)})"
    if kind.id == "struct" and all(name for name, _ in kind.children):
        return f"STRUCT({', '.join(f'{quoted(name, _MARK)} {_shape(inner, leaves)}' for name, inner in kind.children)})"
    return leaves.get(kind.id, str(kind))
