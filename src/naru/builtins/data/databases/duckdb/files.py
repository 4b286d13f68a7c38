"""Files of tables as DuckDB's views: a CSV, JSON or Parquet file, or those of a folder."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path

import duckdb

from naru.builtins.data.databases.gather import quoted, text_literal
from naru.builtins.data.databases.open import TABLE_SUFFIXES
from naru.builtins.data.documents.document import UnreadableError
from naru.builtins.data.documents.files import MAX_FILE_BYTES
from naru.builtins.data.documents.text import decoded_as

_MARK = '"'
_CSV = "read_csv"
_READERS = {
    ".parquet": "read_parquet",
    **dict.fromkeys((".csv", ".tsv", ".tab"), _CSV),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "read_json"),
}
_OF_COMMAS = r"\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?\s*"
_PACKED = ".gz"
_TOLD = 5
"""Files of a folder that holds no table."""


def holds_tables(path: Path) -> bool:
    """Tell a folder of tables, or a file that is one, from a database."""
    return path.is_dir() or path.suffix.lower() in TABLE_SUFFIXES


def files_in(path: Path) -> list[tuple[str, int, int]]:
    """Return a file, or a folder's files that are not hidden, each with its time and size: what tells of a change."""
    found = []
    for file in path.rglob("*") if path.is_dir() else [path]:
        if not any(part[0] == "." for part in file.relative_to(path).parts):
            with contextlib.suppress(OSError):  # gone a moment ago, or a link to nothing
                told = file.stat()
                found.append((str(file), told.st_mtime_ns, told.st_size))
    return sorted(found)


def view_files(connection: duckdb.DuckDBPyConnection, path: Path, copies: Path) -> list[str]:
    """Make a view of each file, called as the file, more of that name with suffix and number; say what is left out.

    What is read in an encoding that was assumed is told too. The engine may read these files from then on, and the
    copies made of those whose encoding it does not know.
    """
    seen: set[str] = set()
    left_out: list[str] = []
    folder = path if path.is_dir() else path.parent
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        within = file.relative_to(folder)
        if file.is_dir() or any(part[0] == "." for part in within.parts):
            continue
        bare = within.with_suffix("") if within.suffix.lower() == _PACKED else within
        reader = _READERS.get(bare.suffix.lower())
        if reader is None:
            left_out.append(
                f"{within.as_posix()} is left out: no reader for {within.suffix or 'a name without a suffix'}; "
                "tables are read of CSV, JSON and Parquet files"
            )
            continue
        stem = called(bare)
        longer = stem + file.suffix.replace(".", "_")
        names = itertools.chain((stem, longer), (f"{longer}_{number}" for number in itertools.count(2)))
        name = next(one for one in names if one.casefold() not in seen)
        try:
            if not file.is_file():
                raise UnreadableError("it is a pipe, a device or a link to nothing")
            if assumed := _view(connection, name, file, reader, copies / f"{len(seen)}.csv"):
                left_out.append(f"{within.as_posix()} is read as {assumed}, which it does not say")
        except (duckdb.Error, UnreadableError) as error:
            told = " ".join(filter(None, map(str.strip, str(error).splitlines()[:2])))
            left_out.append(f"{within.as_posix()} is left out: {told}")
        else:
            seen.add(name.casefold())
    if not seen:
        raise duckdb.Error("; ".join([f"no CSV, Parquet or JSON files in {path}", *left_out[:_TOLD]]))
    connection.execute("SET allowed_directories = ?", [[str(copies), *([str(path)] if path.is_dir() else [])]])
    if not path.is_dir():
        connection.execute("SET allowed_paths = [?]", [str(path)])
    return left_out


def called(within: Path) -> str:
    """Return what the table of a file is called, by its path in the folder."""
    return "_".join(within.with_suffix("").parts).replace(".", "_")


def _view(connection: duckdb.DuckDBPyConnection, name: str, file: Path, reader: str, copy: Path) -> str:
    """Make one view and return the encoding that was assumed: such a text is read from a copy in UTF-8."""

    def make(source: Path) -> None:
        path = text_literal(str(source), "DuckDB")
        table = f"{reader}({path})"
        numbers = _with_commas(connection, table, path) if reader == _CSV else {}
        told = f" REPLACE ({', '.join(f'{number} AS {column}' for column, number in numbers.items())})" * bool(numbers)
        connection.execute(f"CREATE VIEW {quoted(name, _MARK)} AS SELECT *{told} FROM {table}")  # noqa: S608  # quoted

    try:
        make(file)
    except duckdb.Error:
        raw = file.read_bytes() if reader == _CSV and file.stat().st_size <= MAX_FILE_BYTES else b""
        if not raw or file.suffix.lower() == _PACKED or _is_utf8(raw):
            raise
        text, assumed = decoded_as(raw)
        copy.write_text(text, encoding="utf-8", newline="")
        make(copy)
        return assumed
    return ""


def _with_commas(connection: duckdb.DuckDBPyConnection, table: str, path: str) -> dict[str, str]:
    """Return the columns whose every text is a number as `1.234,50`, each with what makes it one.

    Where `;` parts a file's cells, `,` parts a number: the engine, told so, would take the points out of versions too.
    """
    with contextlib.suppress(duckdb.Error):  # said by what reads it
        if connection.execute(f"SELECT delimiter FROM sniff_csv({path})").fetchall() != [(";",)]:  # noqa: S608  # a literal
            return {}
        described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()  # noqa: S608  # a literal
        texts = [quoted(column, _MARK) for column, kind, *_ in described if kind == "VARCHAR"]
        tests = (f"bool_and(regexp_full_match({one}, '{_OF_COMMAS}')) AND bool_or({one} LIKE '%,%')" for one in texts)
        asked = ", ".join(tests)
        found = connection.execute(f"SELECT {asked} FROM {table}").fetchone() if texts else None  # noqa: S608  # quoted
        return {
            one: f"CAST(replace(replace({one}, '.', ''), ',', '.') AS DOUBLE)"
            for one, is_number in zip(texts, found or (), strict=False)
            if is_number
        }
    return {}


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
