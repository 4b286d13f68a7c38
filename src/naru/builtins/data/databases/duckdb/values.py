"""What DuckDB's driver for Python makes less of, asked for whole.

It tells an interval's months as 30 days each, cuts nanoseconds, shows a FLOAT's 0.1 as 0.10000000149011612, and takes
infinity for the last moment that Python knows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import duckdb

from naru.builtins.data.databases.gather import quoted, text_literal

_MARK = '"'
_TOLD_AS_TEXT = frozenset({"interval", "timestamp_ns", "time_ns", "date"})
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
    wholes = [_whole(name, kind) for name, (_, kind, *_) in zip(own, columns, strict=True)]
    if wholes == own:
        return columns_of(cursor.execute(query))
    cursor.execute(f"SELECT {', '.join(wholes)} FROM (\n{query}\n) naru_whole({', '.join(own)})")  # noqa: S608  # judged
    return [(str(name), str(kind).lower()) for name, kind, *_ in columns]


def columns_of(cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the names and types of what was run."""
    return [(str(name), str(kind).lower()) for name, kind, *_ in cursor.description or ()]


def _whole(value: str, kind: Any) -> str:
    """Write what tells a value of this type whole; the value itself where the driver does."""
    if kind.id in _TOLD_AS_TEXT:
        return f"CAST({value} AS VARCHAR)"
    if kind.id == "float":  # its shortest digits are those of its text
        return f"CAST(CAST({value} AS VARCHAR) AS DOUBLE)"
    if kind.id in _MOMENTS:  # the finite ones stay what they are, for their form in JSON
        whole = f"union_value(endless := CAST({value} AS VARCHAR))"
        return f"CASE WHEN isfinite({value}) THEN union_value(moment := {value}) ELSE {whole} END"
    if kind.id in ("list", "array"):
        return _each(value, kind.children[0][1])
    if kind.id == "map":
        parts = ((f"map_{name}s({value})", inner) for name, inner in kind.children)
        return _made("map", value, [(part, _each(part, inner)) for part, inner in parts])
    if kind.id == "struct":
        return _made("struct_pack", value, [_field(value, name, inner) for name, inner in kind.children])
    if kind.id == "tuple":
        parts = ((f"struct_extract({value}, {place})", inner) for place, (_, inner) in enumerate(kind.children, 1))
        return _made("row", value, [(part, _whole(part, inner)) for part, inner in parts])
    return value


def _each(values: str, kind: Any) -> str:
    whole = _whole("x", kind)
    return values if whole == "x" else f"list_transform({values}, lambda x: {whole})"


def _field(value: str, name: str, kind: Any) -> tuple[str, str]:
    part = f"struct_extract({value}, {text_literal(name, 'DuckDB')})"
    told = f"{quoted(name, _MARK)} := "
    return told + part, told + _whole(part, kind)


def _made(function: str, value: str, parts: Sequence[tuple[str, str]]) -> str:
    """Put a value together again of its parts, each as it is and whole, unless all are told whole as they are."""
    if all(part == whole for part, whole in parts):
        return value
    return f"CASE WHEN {value} IS NOT NULL THEN {function}({', '.join(whole for _, whole in parts)}) END"
