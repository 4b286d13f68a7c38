"""A CSV file as what a view selects from: the engine's own reading, or a plain copy of what it would read otherwise."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from naru.builtins.data.databases.duckdb.cells import values_of
from naru.builtins.data.databases.duckdb.plain import Plain, plain_table
from naru.builtins.data.databases.gather import quoted, text_literal
from naru.builtins.data.documents.files import MAX_FILE_BYTES
from naru.builtins.data.documents.text import decoded_as

MAX_LOOKED_AT = 2**24
"""Bytes of a file whose lines are all looked at; in a longer one the engine finds the table."""
_MARK = '"'
_PACKED = ".gz"
_PLAIN = ", sample_size = -1, delim = ',', quote = '\"', escape = '\"', header = true"
_NAMED_BY_THE_ENGINE = re.compile(r"column\d+")
_NONE = "(empty)"


@dataclass(slots=True)
class CsvSource:
    """What to select, the columns' units, and what is told of the file."""

    select: str
    units: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()


def csv_source(connection: duckdb.DuckDBPyConnection, file: Path, copy: Path) -> CsvSource:
    """Tell how to read a CSV file for what it is.

    Raises:
        duckdb.Error: the engine cannot read it.
        UnreadableError: its encoding is none that is known.
    """
    source, plain, told = file, None, []
    size, is_packed = file.stat().st_size, file.suffix.lower() == _PACKED
    is_short = size <= MAX_LOOKED_AT and not is_packed
    if is_short or (size <= MAX_FILE_BYTES and not is_packed and not _is_read(connection, file)):
        raw = file.read_bytes()
        text, assumed = decoded_as(raw)
        if assumed:
            told.append(f"is read as {assumed}, which it does not say")
        if not _is_utf8(raw):
            copy.write_text(text, encoding="utf-8", newline="")
            source = copy
        plain = plain_table(text) if is_short else None
    delimiter, options = _as_the_engine_reads(connection, source, plain)
    if plain and not options:
        with copy.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([plain.headings, *plain.rows])
        source, delimiter, options = copy, plain.delimiter, _PLAIN
        told += [plain.told] * bool(plain.told)
    path = text_literal(str(source), "DuckDB")
    texts = f"read_csv({path}{options}, all_varchar = true)"
    kinds = _kinds(connection, f"read_csv({path}{options})")
    values = values_of(connection, texts, kinds, delimiter)
    kept = [
        name for name in kinds if not _NAMED_BY_THE_ENGINE.fullmatch(name) or not _is_empty(connection, texts, name)
    ]
    columns = [
        f"{values[name].value} AS {_quoted(name)}" if name in values else _quoted(name) for name in kept or kinds
    ]
    words = ", ".join(f"{text_literal(name, 'DuckDB')}: 'VARCHAR'" for name in values)
    types = f", types = {{{words}}}" if words else ""
    return CsvSource(
        f"SELECT {', '.join(columns)} FROM read_csv({path}{options}{types})",  # noqa: S608  # quoted
        {name: one.unit for name, one in values.items() if one.unit},
        told,
    )


def _as_the_engine_reads(connection: duckdb.DuckDBPyConnection, source: Path, plain: Plain | None) -> tuple[str, str]:
    """Return the engine's delimiter, and its reading as options; none where it loses lines of a plain table."""
    path = text_literal(str(source), "DuckDB")
    try:
        asked = f"SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader FROM sniff_csv({path})"  # noqa: S608
        delimiter, quote, escape, comment, skipped, has_header = connection.execute(asked).fetchone() or ()
        marks = {"delim": delimiter, "quote": quote, "escape": escape, "comment": comment}
        told = [f"{name} = {text_literal('' if mark == _NONE else mark, 'DuckDB')}" for name, mark in marks.items()]
        options = ", ".join(["", *told, "sample_size = -1", f"skip = {skipped}", f"header = {str(has_header).lower()}"])
        names = list(_kinds(connection, f"read_csv({path}{options})"))
        (rows,) = connection.execute(f"SELECT count(*) FROM read_csv({path}{options})").fetchone() or (0,)  # noqa: S608
    except duckdb.Error:
        if plain:
            return plain.delimiter, ""
        raise
    if plain is None or not {quote, escape} <= {'"', _NONE}:
        return delimiter, options
    alike = len(names) == len(plain.headings) and all(
        own.strip() in ("", name) or plain.headings.count(own) > 1
        for own, name in zip(plain.headings, names, strict=True)
    )
    return delimiter, options if alike and rows == len(plain.rows) else ""


def _kinds(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the types that the engine gives a table's columns."""
    return {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}  # noqa: S608


def _is_empty(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> bool:
    return connection.execute(f"SELECT count({_quoted(name)}) FROM {table}").fetchall() == [(0,)]  # noqa: S608  # quoted


def _quoted(name: str) -> str:
    return quoted(name, _MARK)


def _is_read(connection: duckdb.DuckDBPyConnection, file: Path) -> bool:
    """Tell whether the engine knows a file's encoding and form."""
    with contextlib.suppress(duckdb.Error):
        return bool(_kinds(connection, f"read_csv({text_literal(str(file), 'DuckDB')})"))
    return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
