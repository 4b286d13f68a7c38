"""Files and folders as documents, by what a file's name says it is; what is left out goes with its reason."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from naru.builtins.data.documents.blocks import blocks_of
from naru.builtins.data.documents.csv_lines import DELIMITERS, csv_lines
from naru.builtins.data.documents.document import Document, Reading, UnreadableError
from naru.builtins.data.documents.headings import (
    LINES_ABOVE,
    are_headings,
    filled,
    headings_of_several_lines,
    is_table_of_columns,
    table_told,
    tables_apart,
    tables_below,
    titles_above,
)
from naru.builtins.data.documents.office import parts_of
from naru.builtins.data.documents.office_reader import OLD_OFFICE
from naru.builtins.data.documents.rows import Row, document_of, nested_rows, table_rows
from naru.builtins.data.documents.sections import Section, html_sections, markdown_sections, paragraphs_of, pieces
from naru.builtins.data.documents.sql_script import script_rows
from naru.builtins.data.documents.text import decoded, decoded_as
from naru.builtins.data.documents.values import json_value, json_values, yaml_values
from naru.errors import ConfigError

MAX_FILE_BYTES = 256 * 2**20
_LINES_LOOKED_AT = 20
_HEADINGS_ALONE = "it holds nothing below its headings"
_CHARACTERS_LOOKED_AT = 65_536
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset=["']?([\w-]+)""", re.IGNORECASE)
_PDF, _ARCHIVE = b"%PDF-", b"PK\x03\x04"
_BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_IS_HTML = re.compile(rb"<(!doctype html|html|table)\b", re.IGNORECASE)
_DATABASES = (".parquet", ".db", ".sqlite", ".sqlite3", ".db3", ".duckdb", ".ddb")
_SHEET_NUMBER = re.compile(r"(sheet|시트|table)\s*\d*", re.IGNORECASE)
_FORMS = (
    "JSON, JSON lines, YAML, CSV, TSV, plain lines (.txt), Markdown, HTML, SQL scripts that make tables, "
    "definitions of Prisma, Rails, DBML, GraphQL, Protobuf, Thrift and Avro; "
    "with the extra `documents` also Excel, PDF, Word"
)


def read_documents(path: Path) -> Reading:
    """Read a file, or a folder's files whose names do not begin with a dot.

    A document without an id is called by its file and place. Whatever else stands in the folder, and whatever gives
    nothing, is named with the reason.

    Raises:
        ConfigError: the path cannot be read, or holds nothing to index; says why and which forms there are.
    """
    reading = Reading()
    if not os.path.isdir(path):  # noqa: PTH112  # which no path makes raise
        _read(path, path.name, reading)
    else:
        for file in _files(path, reading):
            _read(file, file.relative_to(path).as_posix(), reading)
    if not reading.documents:
        reasons = "; ".join(f"{one.source}: {one.reason}" for one in reading.refused[:5]) or "there is no file in it"
        raise ConfigError(f"{path} holds no documents: {reasons}.", remedy=f"These forms are read: {_FORMS}.")
    return reading


def _files(folder: Path, reading: Reading) -> list[Path]:
    """List what is in a folder; links to other folders are named and not followed, as they may lead in a circle."""

    def refuse(error: OSError) -> None:
        where = Path(os.fsdecode(error.filename)).relative_to(folder)
        reading.refuse(where.as_posix(), f"cannot list the folder: {error.strerror}")

    found = []
    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if name[0] != "."]
        for link in (Path(where, name) for name in folders):
            if link.is_symlink():
                reading.refuse(link.relative_to(folder).as_posix(), "it links to a folder; give that one itself")
        found += [Path(where, name) for name in names if name[0] != "."]
    return sorted(found)


def _read(path: Path, name: str, reading: Reading) -> None:
    before = reading.accounted
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("it is no file but a pipe, a socket or a device")
        if path.suffix.lower() not in _READERS:
            raise UnreadableError(_unread(path.suffix))
        if found.st_size > MAX_FILE_BYTES:
            raise UnreadableError(f"it has {found.st_size} bytes; at most {MAX_FILE_BYTES} are read")
        raw = path.read_bytes()
        if not raw:
            raise UnreadableError("the file is empty")
        _READERS[_form_of(raw, path.suffix.lower())](raw, name, reading)
        if reading.accounted == before:
            raise UnreadableError("it holds nothing to index")
    except OSError as error:
        reading.refuse(name, f"cannot read it: {error.strerror}")
    except RecursionError:
        reading.refuse(name, "it is nested too deeply")
    except MemoryError:
        reading.refuse(name, "it needs more memory than there is")
    except UnreadableError as error:
        reading.refuse(name, str(error))
    except (ValueError, csv.Error, yaml.YAMLError) as error:
        reading.refuse(name, f"it is not what its name says: {error}" if str(error) else type(error).__name__)


def _unread(suffix: str) -> str:
    told = f"no reader for {suffix or 'a name without a suffix'}"
    return told + ("; its columns are read with --database FILE" if suffix.lower() in _DATABASES else "")


def _form_of(raw: bytes, suffix: str) -> str:
    """Return the suffix that a file's beginning asks for: portals give HTML as .xls, and workbooks are called .csv."""
    if raw.startswith(_PDF):
        return ".pdf"
    if raw.startswith(_ARCHIVE) and suffix not in _BOOKS:
        return ".docx" if b"word/" in raw else ".xlsx"
    if suffix in _BOOKS and not raw.startswith((_ARCHIVE, OLD_OFFICE)):
        return ".html" if _IS_HTML.search(raw[:_CHARACTERS_LOOKED_AT]) else ".csv" if _is_of_cells(raw) else suffix
    return suffix


def _is_of_cells(raw: bytes) -> bool:
    try:
        first = decoded(raw).lstrip().partition("\n")[0]
    except UnreadableError:
        return False
    return first[:1] != "<" and any(delimiter in first for delimiter in DELIMITERS)


def _text(raw: bytes, name: str, reading: Reading, declared: str = "") -> str:
    text, assumed = decoded_as(raw, declared)
    if assumed:
        reading.assumed[name] = assumed
    return text


def _json(raw: bytes, name: str, reading: Reading) -> None:
    text = _text(raw, name, reading)
    try:
        value = json_value(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise
        _json_lines(raw, name, reading)  # one after another, whatever the name says
    else:
        _nested(value, name, reading)


def _json_lines(raw: bytes, name: str, reading: Reading) -> None:
    for line, value in json_values(_text(raw, name, reading)):
        if isinstance(value, RecursionError):
            reading.refuse(f"{name}#{line}", "it is nested too deeply")
        elif isinstance(value, Exception):
            reading.refuse(f"{name}#{line}", f"it is not JSON: {value}")
        else:
            for row in nested_rows(value, str(line), is_record=True):
                _add(row, f"{name}#", reading)


def _yaml(raw: bytes, name: str, reading: Reading) -> None:
    found = yaml_values(_text(raw, name, reading))
    _nested(found[0] if len(found) == 1 else found, name, reading)


def _nested(value: Any, name: str, reading: Reading) -> None:
    for row in nested_rows(value):
        _add(row, f"{name}#", reading)


def _csv(raw: bytes, name: str, reading: Reading) -> None:
    _, lines = csv_lines(_text(raw, name, reading))
    whole: list[list[str]] = []
    try:
        whole.extend(lines)
    finally:
        below = _tables(whole, f"{name}#", (), reading)
    if any(whole) and not below:
        raise UnreadableError(_HEADINGS_ALONE)


def _tables(whole: Sequence[Sequence[str]], before: str, names: tuple[str, ...], reading: Reading) -> int:
    """Add the rows of tables one below the other, and return how many lines they take."""
    passed = below = 0
    for lines in tables_apart(whole):
        below += _table(lines, passed, before, names, reading)
        passed += len(lines)
    return below


def _table(lines: Sequence[Sequence[str]], passed: int, before: str, names: tuple[str, ...], reading: Reading) -> int:
    """Add a table's rows and return how many lines they take; what stands above the headings is a document a line.

    So many lines as `passed` stand above it all.
    """
    start, depth, headings = headings_of_several_lines(lines)
    if depth:
        lines = [*lines[:start], headings, *lines[start + depth :]]
    else:
        known = (at for at, line in enumerate(lines[:LINES_ABOVE]) if is_table_of_columns(line))
        start = next(known, titles_above(lines))
    if any(filled(line) >= filled(lines[start]) for line in lines[:start]):  # no title: it has just such words
        start = 0
    _titles(lines[:start], passed + 1, before, reading)
    begin = lines[start : start + _LINES_LOOKED_AT]
    if begin and not are_headings(begin):
        lines, start = [[""] * len(lines[0]), *lines], 0
    names = table_told(lines[:start]) or names
    tables = tables_below(lines[start:])
    for (top, at), (end, _) in itertools.pairwise([*tables, (len(lines) - start, 0)]):
        above = lines[start + top : start + at]
        _titles(above, passed + start + top + 1, before, reading)
        names = table_told(above) or names
        for row in table_rows(lines[start + at : start + end], names):
            _add(replace(row, place=str(passed + start + at + int(row.place))), before, reading)
    return len(lines) - start - 1


def _titles(lines: Sequence[Sequence[str]], number: int, before: str, reading: Reading) -> None:
    for at, line in enumerate(lines, number):
        place = f"{before}{at}"
        reading.add(Document(place, "; ".join(filter(None, line)), place))


def _add(row: Row, before: str, reading: Reading) -> None:
    if row.refused:
        reading.refuse(f"{before}{row.place}", row.refused)
    else:
        reading.add(document_of(row, before))


def _lines(raw: bytes, name: str, reading: Reading) -> None:
    if is_table_of_columns(_text(raw, name, reading).partition("\n")[0].split("\t")):  # Excel's "Unicode Text"
        _csv(raw, name, reading)
        return
    for number, line in enumerate(_text(raw, name, reading).splitlines(), 1):
        if line.strip():
            _pieces(f"{name}#{number}", (), [line.strip()], reading)


def _markdown(raw: bytes, name: str, reading: Reading) -> None:
    _sections(markdown_sections(_text(raw, name, reading)), name, reading)


def _html(raw: bytes, name: str, reading: Reading) -> None:
    declared = _CHARSET.search(raw[:4_096])
    _sections(html_sections(_text(raw, name, reading, declared[1].decode() if declared else "")), name, reading)


def _word(raw: bytes, name: str, reading: Reading) -> None:
    for html in parts_of(raw, ".docx"):
        if isinstance(html, UnreadableError):
            raise html
        _sections(html_sections(html), name, reading)


def _excel(raw: bytes, name: str, reading: Reading) -> None:
    suffix = Path(name.lower()).suffix
    for number, part in enumerate(parts_of(raw, suffix if suffix in _BOOKS else ".xlsx"), 1):
        if isinstance(part, UnreadableError):
            reading.refuse(f"{name}#{number}", f"the sheet is broken: {part}")
            continue
        sheet, lines = part
        names = () if _SHEET_NUMBER.fullmatch(sheet) else (sheet,)
        if not _tables(lines, f"{name}#{sheet}!", names, reading):
            reading.refuse(f"{name}#{sheet}", _HEADINGS_ALONE)


def _pdf(raw: bytes, name: str, reading: Reading) -> None:
    for number, text in enumerate(parts_of(raw, ".pdf"), 1):
        if isinstance(text, UnreadableError):
            reading.refuse(f"{name}#{number}", f"the page is broken: {text}")
        elif not text.strip():
            reading.refuse(f"{name}#{number}", "the page has no text (a picture?)")
        else:
            _pieces(f"{name}#{number}", (), paragraphs_of(text), reading)


def _sql(raw: bytes, name: str, reading: Reading) -> None:
    for row in script_rows(_text(raw, name, reading)):
        _add(row, f"{name}#", reading)


def _definitions(raw: bytes, name: str, reading: Reading) -> None:
    for block in blocks_of(_text(raw, name, reading)):
        _pieces(f"{name}#{block.number}", block.headings, block.lines, reading)


def _sections(sections: Sequence[Section], name: str, reading: Reading) -> None:
    for number, section in enumerate(sections, 1):
        place = f"{name}#{number}"
        paragraphs = list(section.paragraphs)
        for table in section.tables:
            if len(table.lines) > 1 and is_table_of_columns(table.lines[0]):
                above = [*section.headings[-1:], *filter(None, [table.caption])]
                for row in table_rows(table.lines, table_told([[one] for one in reversed(above)]) or tuple(above)):
                    _add(row, f"{place}.", reading)
            else:
                paragraphs += [" | ".join(line) for line in table.lines]
        if paragraphs or not section.tables:
            _pieces(place, section.headings, paragraphs, reading)


def _pieces(place: str, headings: Sequence[str], paragraphs: Sequence[str], reading: Reading) -> None:
    for number, text in enumerate(pieces(headings, paragraphs), 1):
        at = place if number == 1 else f"{place}.{number}"
        reading.add(Document(at, text, at))


def _old_word(raw: bytes, name: str, reading: Reading) -> None:
    raise UnreadableError("old Word; save it as .docx")


_Reader = Callable[[bytes, str, Reading], None]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys((".json", ".avsc", ".avpr"), _json),
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    **dict.fromkeys((".yaml", ".yml"), _yaml),
    **dict.fromkeys((".csv", ".tsv", ".tab"), _csv),
    **dict.fromkeys((".txt", ".text", ".log"), _lines),
    **dict.fromkeys((".md", ".markdown"), _markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    **dict.fromkeys(_BOOKS, _excel),
    **dict.fromkeys((".sql", ".ddl"), _sql),
    **dict.fromkeys((".prisma", ".rb", ".dbml", ".graphql", ".gql", ".proto", ".thrift", ".avdl"), _definitions),
    ".pdf": _pdf,
    ".docx": _word,
    ".doc": _old_word,
}
