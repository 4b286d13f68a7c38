"""Files and folders as documents, by what a file's name says it is; what is left out goes with its reason."""

from __future__ import annotations

import codecs
import csv
import importlib
import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from naru.builtins.data.documents.document import Document, Reading
from naru.builtins.data.documents.headings import is_table_of_columns
from naru.builtins.data.documents.rows import Row, document_of, nested_rows, table_rows
from naru.builtins.data.documents.sections import Section, html_sections, markdown_sections, paragraphs_of, pieces
from naru.errors import ConfigError
from naru.extras import install_command

DELIMITERS = ",;\t|"
MAX_FILE_BYTES = 256 * 2**20
_SHEET_NUMBER = re.compile(r"(sheet|시트|table)\s*\d*", re.IGNORECASE)
_FORMS = (
    "JSON, JSON lines, YAML, CSV, TSV, plain lines (.txt), Markdown, HTML; "
    "with the extra `documents` also Excel, PDF, Word"
)


class _UnreadableError(Exception):
    """A file is not what its name says, or cannot be read at all."""


def read_documents(path: Path) -> Reading:
    """Read a file, or a folder's files whose names do not begin with a dot.

    A document without an id is called by its file and place.

    Raises:
        ConfigError: the path cannot be read, or holds nothing to index; says why and which forms there are.
    """
    reading = Reading()
    if not path.is_dir():
        _read(path, path.name, reading)
    else:
        for file in _files(path):
            _read(file, file.relative_to(path).as_posix(), reading)
    if not reading.documents:
        reasons = "; ".join(f"{one.source}: {one.reason}" for one in reading.refused[:5]) or "it is empty"
        raise ConfigError(f"{path} holds no documents: {reasons}.", remedy=f"These forms are read: {_FORMS}.")
    return reading


def _files(folder: Path) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in found if not any(part[0] == "." for part in file.relative_to(folder).parts))


def _read(path: Path, name: str, reading: Reading) -> None:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        reading.refuse(name, f"no reader for {path.suffix or 'a name without a suffix'}")
        return
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise _UnreadableError(f"it has {size} bytes; at most {MAX_FILE_BYTES} are read")
        reader(path.read_bytes(), name, reading)
    except OSError as error:
        reading.refuse(name, f"cannot read it: {error.strerror}")
    except RecursionError:
        reading.refuse(name, "it is nested too deeply")
    except (_UnreadableError, ValueError, csv.Error, yaml.YAMLError) as error:
        reading.refuse(name, f"it is not what its name says: {error}" if str(error) else type(error).__name__)


def _decoded(raw: bytes) -> str:
    """Decode by the byte order mark, as UTF-8, or as Korean Windows writes."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return raw.decode("cp949")
        except UnicodeDecodeError:
            raise _UnreadableError("it is neither UTF-8, UTF-16 nor CP949 text; save it as UTF-8") from None


def _json(raw: bytes, name: str, reading: Reading) -> None:
    _nested(json.loads(_decoded(raw)), name, reading)


def _json_lines(raw: bytes, name: str, reading: Reading) -> None:
    for number, line in enumerate(io.StringIO(_decoded(raw)), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            reading.refuse(f"{name}#{number}", f"it is not JSON: {error}")
        else:
            for row in nested_rows(value, str(number), is_record=True):
                _add(row, f"{name}#", reading)


def _yaml(raw: bytes, name: str, reading: Reading) -> None:
    found = list(yaml.safe_load_all(_decoded(raw)))
    _nested(found[0] if len(found) == 1 else found, name, reading)


def _nested(value: Any, name: str, reading: Reading) -> None:
    for row in nested_rows(value):
        _add(row, f"{name}#", reading)


def _csv(raw: bytes, name: str, reading: Reading) -> None:
    text = _decoded(raw)
    first = text.lstrip("\r\n").split("\n", 1)[0]
    outside = re.sub(r'"[^"]*"', "", first)
    delimiter = max(DELIMITERS, key=lambda one: (outside.count(one), -DELIMITERS.index(one)))
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    for row in table_rows(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        _add(row, f"{name}#", reading)


def _add(row: Row, before: str, reading: Reading) -> None:
    if row.refused:
        reading.refuse(f"{before}{row.place}", row.refused)
    else:
        reading.add(document_of(row, before))


def _lines(raw: bytes, name: str, reading: Reading) -> None:
    for number, line in enumerate(_decoded(raw).splitlines(), 1):
        if line.strip():
            reading.add(Document(f"{name}#{number}", line.strip(), f"{name}#{number}"))


def _markdown(raw: bytes, name: str, reading: Reading) -> None:
    _sections(markdown_sections(_decoded(raw)), name, reading)


def _html(raw: bytes, name: str, reading: Reading) -> None:
    _sections(html_sections(_decoded(raw)), name, reading)


def _word(raw: bytes, name: str, reading: Reading) -> None:
    mammoth = _library("mammoth")
    try:
        html = mammoth.convert_to_html(io.BytesIO(raw)).value
    except Exception as error:  # noqa: BLE001  # whatever the library meets in a broken file
        raise _UnreadableError(str(error) or type(error).__name__) from error
    _sections(html_sections(html), name, reading)


def _excel(raw: bytes, name: str, reading: Reading) -> None:
    calamine = _library("python_calamine")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
        sheets = [(sheet, book.get_sheet_by_name(sheet).to_python()) for sheet in book.sheet_names]
    except Exception as error:  # noqa: BLE001  # whatever the library meets in a broken file
        raise _UnreadableError(str(error) or type(error).__name__) from error
    for sheet, lines in sheets:
        filled = [[_cell(cell) for cell in line] for line in lines if any(str(cell).strip() for cell in line)]
        start = next((at for at, line in enumerate(filled[:10]) if is_table_of_columns(line)), 0)
        for above in range(start):
            place = f"{name}#{sheet}!{above + 1}"
            reading.add(Document(place, "; ".join(filter(None, filled[above])), place))
        names = () if _SHEET_NUMBER.fullmatch(sheet) else (sheet,)
        for row in table_rows(filled[start:], names):
            _add(row, f"{name}#{sheet}!", reading)


def _cell(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _pdf(raw: bytes, name: str, reading: Reading) -> None:
    pypdf = _library("pypdf")
    try:
        pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(raw)).pages]
    except Exception as error:  # noqa: BLE001  # whatever the library meets in a broken file
        raise _UnreadableError(str(error) or type(error).__name__) from error
    for number, text in enumerate(pages, 1):
        if not text.strip():
            reading.refuse(f"{name}#{number}", "the page has no text (a picture?)")
        _pieces(f"{name}#{number}", (), paragraphs_of(text), reading)


def _sections(sections: Sequence[Section], name: str, reading: Reading) -> None:
    for number, section in enumerate(sections, 1):
        place = f"{name}#{number}"
        paragraphs = list(section.paragraphs)
        for table in section.tables:
            if table and is_table_of_columns(list(table[0])):
                for row in table_rows(table, section.headings[-1:]):
                    _add(row, f"{place}.", reading)
            else:
                paragraphs += [" | ".join(line) for line in table]
        if paragraphs or not section.tables:
            _pieces(place, section.headings, paragraphs, reading)


def _pieces(place: str, headings: Sequence[str], paragraphs: Sequence[str], reading: Reading) -> None:
    for number, text in enumerate(pieces(headings, paragraphs), 1):
        at = place if number == 1 else f"{place}.{number}"
        reading.add(Document(at, text, at))


def _library(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise _UnreadableError(f"reading it needs an extra: {install_command('documents')}") from None


def _old_word(raw: bytes, name: str, reading: Reading) -> None:
    raise _UnreadableError("old Word; save it as .docx")


_Reader = Callable[[bytes, str, Reading], None]
_READERS: dict[str, _Reader] = {
    ".json": _json,
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    **dict.fromkeys((".yaml", ".yml"), _yaml),
    **dict.fromkeys((".csv", ".tsv", ".tab"), _csv),
    **dict.fromkeys((".txt", ".text", ".log"), _lines),
    **dict.fromkeys((".md", ".markdown"), _markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _excel),
    ".pdf": _pdf,
    ".docx": _word,
    ".doc": _old_word,
}
