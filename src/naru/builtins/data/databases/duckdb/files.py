"""Files of tables as DuckDB's views: a CSV, JSON or Parquet file, or those of a folder."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import duckdb

from naru.builtins.data.databases.duckdb.csv_source import CsvSource, csv_source
from naru.builtins.data.databases.gather import quoted, text_literal
from naru.builtins.data.databases.open import TABLE_SUFFIXES
from naru.builtins.data.documents.document import UnreadableError

_MARK = '"'
_CSV = "read_csv"
_READERS = {
    ".parquet": "read_parquet",
    **dict.fromkeys((".csv", ".tsv", ".tab"), _CSV),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "read_json"),
}
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
            told = _view(connection, name, file, reader, copies / f"{len(seen)}.csv")
            left_out.extend(f"{within.as_posix()} {one}" for one in told)
        except (duckdb.Error, UnreadableError) as error:
            reason = " ".join(filter(None, map(str.strip, str(error).splitlines()[:2])))
            left_out.append(f"{within.as_posix()} is left out: {reason}")
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


def _view(connection: duckdb.DuckDBPyConnection, name: str, file: Path, reader: str, copy: Path) -> Sequence[str]:
    """Make one view, with the units of its columns as comments, and return what is told of the file."""
    view = quoted(name, _MARK)
    path = text_literal(str(file), "DuckDB")
    source = csv_source(connection, file, copy) if reader == _CSV else CsvSource(f"SELECT * FROM {reader}({path})")  # noqa: S608
    connection.execute(f"CREATE VIEW {view} AS {source.select}")
    for column, unit in source.units.items():
        told = text_literal(f"unit: {unit}", "DuckDB")
        connection.execute(f"COMMENT ON COLUMN {view}.{quoted(column, _MARK)} IS {told}")
    return source.told
