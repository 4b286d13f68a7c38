"""Excel, Word and PDF by libraries that an extra brings; what would take all memory is refused before they see it.

A PDF says little of what it takes, so a process with limits reads it: `pdf_reader`.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from naru.builtins.data.documents.document import UnreadableError
from naru.extras import install_command

MAX_WORD_BYTES = 32 * 2**20
MAX_BOOK_BYTES = 512 * 2**20
"""Of an archive's XML, unpacked."""
MAX_CELLS = 10_000_000
"""Of a sheet's rectangle, of which the library makes every cell, also the empty ones."""
PAGE_SECONDS = 30
"""Of computing, for a page of a PDF; an honest one takes a part of a second."""
_PDF_READER = Path(__file__).with_name("pdf_reader.py")
_OLD_OFFICE = bytes.fromhex("D0CF11E0A1B11AE1")
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')

Sheet = tuple[str, list[list[str]]]


def word_html(raw: bytes) -> str:
    """Return a Word file as HTML."""
    mammoth = _library("mammoth")
    try:
        _bounded(raw, MAX_WORD_BYTES)
        return str(mammoth.convert_to_html(io.BytesIO(raw)).value)
    except UnreadableError:
        raise
    except Exception as error:
        raise _unreadable(error) from error


def sheets_of(raw: bytes, suffix: str) -> list[Sheet]:
    """Return a workbook's sheets, each with its lines that hold anything.

    A cell that is merged over several lines stands in each of them; a formula is what it last gave.
    """
    calamine = _library("python_calamine")
    try:
        if suffix != ".xls":
            _bounded(raw, MAX_BOOK_BYTES)
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
        return [(name, _lines(book.get_sheet_by_name(name))) for name in book.sheet_names]
    except UnreadableError:
        raise
    except Exception as error:
        raise _unreadable(error) from error


def pdf_pages(raw: bytes) -> Iterator[str | UnreadableError]:
    """Yield a PDF's pages as text; an error for one that is broken.

    A process of its own reads it, and ends where a page takes too much computing: what comes before that is kept.
    """
    _library("pypdf")
    command = [sys.executable, "-P", str(_PDF_READER), str(PAGE_SECONDS)]
    try:
        done = subprocess.run(command, input=raw, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise UnreadableError(f"no process to read it could be started: {error.strerror}") from error
    pages, *texts = [json.loads(line) for line in done.stdout.split(b"\n")[:-1]] or [None]
    if isinstance(pages, dict):
        raise UnreadableError(pages["unreadable"])
    yield from (text if isinstance(text, str) else UnreadableError(text["broken"]) for text in texts)
    ended = f"what reads it ended with {done.returncode}"
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        ended = f"it takes more than {PAGE_SECONDS} seconds of computing"
    if pages is None:
        raise UnreadableError(ended)
    if left := pages - len(texts):
        yield UnreadableError(f"{ended}; it and {left - 1} after it are left out")


def _lines(sheet: Any) -> list[list[str]]:
    lines = sheet.to_python()
    top, left = sheet.start or (0, 0)
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        for line in range(max(first + 1, top), min(last + 1, top + len(lines))):
            lines[line - top][column - left] = lines[first - top][column - left]
    return [[_cell(cell) for cell in line] for line in lines if any(str(cell).strip() for cell in line)]


def _cell(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _bounded(raw: bytes, most: int) -> None:
    """Refuse an archive whose XML is too long, or whose sheet spans more cells than fit into memory."""
    if raw.startswith(_OLD_OFFICE):
        raise UnreadableError("it is protected with a password, or of an older form; save it anew, without one")
    if not zipfile.is_zipfile(io.BytesIO(raw)):
        return  # the library says what it is
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(part.file_size for part in archive.infolist() if part.filename.endswith((".xml", ".bin")))
        if size > most:
            raise UnreadableError(f"it unpacks to {size} bytes; at most {most} are read")
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                _bounded_sheet(archive.read(name))


def _bounded_sheet(xml: bytes) -> None:
    column, row = b"", 0
    for found in _CELL.finditer(xml):
        column = max(column, found[1], key=lambda letters: (len(letters), letters))
        row = max(row, int(found[2]))
    width = 0
    for letter in column:
        width = width * 26 + letter - 64
    if width * row > MAX_CELLS:
        raise UnreadableError(f"a sheet reaches to {column.decode()}{row}; clear what stands far from the rest")


def _unreadable(error: Exception) -> UnreadableError:
    """Tell whatever a library meets in a broken file."""
    return UnreadableError(f"it is not what its name says: {str(error) or type(error).__name__}")


def _library(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UnreadableError(f"reading it needs an extra: {install_command('documents')}") from None
