"""Reads one PDF, Word file or workbook, as a program of its own, whose time and memory the system limits.

`office_reader.py SUFFIX SECONDS < x.pdf`. Lines of JSON come out: how many parts there are (pages, sheets, or the one
text of a Word file), then each part, or what is wrong with it under `broken`. Or, of a file that cannot be read at all,
the reason under `unreadable`. Run by `office`, without what Naru imports.
"""

from __future__ import annotations

import functools
import importlib
import io
import json
import math
import re
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

MEMORY_BYTES = 3 * 2**29
MAX_WORD_BYTES = 32 * 2**20
MAX_BOOK_BYTES = 512 * 2**20
"""Of an archive's XML, unpacked."""
MAX_CELLS = 10_000_000
"""Of a sheet's rectangle, of which the library makes every cell, also the empty ones."""
OLD_OFFICE = bytes.fromhex("D0CF11E0A1B11AE1")
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')

Parts = Sequence[Callable[[], Any]]
"""What reads each part of a file."""


class _RefusedError(Exception):
    """A file that is not to be read; its text is the reason."""


def tell(raw: bytes, suffix: str, seconds: int) -> None:
    """Write what there is to tell; the file, and then each part of it, has so many seconds of computing."""
    _allow(seconds)
    try:
        parts = {".pdf": _pdf, ".docx": _word}.get(suffix, _book)(raw, suffix)
    except _RefusedError as error:
        _write({"unreadable": str(error)})
        return
    except Exception as error:  # noqa: BLE001  # whatever the library meets in a broken file
        _write({"unreadable": f"it is not what its name says: {_reason(error)}"})
        return
    _write(len(parts))
    for read in parts:
        _allow(seconds)
        try:
            _write(read())
        except Exception as error:  # noqa: BLE001  # and in a broken part
            _write({"broken": _reason(error)})


def _pdf(raw: bytes, _suffix: str) -> Parts:
    reader = importlib.import_module("pypdf").PdfReader(io.BytesIO(raw))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _RefusedError("it is protected with a password; save it without")
    return [page.extract_text for page in reader.pages]


def _word(raw: bytes, _suffix: str) -> Parts:
    _bounded(raw, MAX_WORD_BYTES)
    text = importlib.import_module("mammoth").convert_to_html(io.BytesIO(raw)).value
    return [lambda: text]


def _book(raw: bytes, suffix: str) -> Parts:
    """Read sheets. A cell that is merged over several lines stands in each of them; a formula is what it last gave."""
    if suffix != ".xls":
        _bounded(raw, MAX_BOOK_BYTES)
    book = importlib.import_module("python_calamine").CalamineWorkbook.from_filelike(io.BytesIO(raw))
    return [functools.partial(_sheet, book, name) for name in book.sheet_names]


def _sheet(book: Any, name: str) -> tuple[str, list[list[str]]]:
    return name, _lines(book.get_sheet_by_name(name))


def _lines(sheet: Any) -> list[list[str]]:
    lines = sheet.to_python()
    top, left = sheet.start or (0, 0)
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        if first < top or not left <= column < left + len(lines[0]):
            continue  # merged, and empty: it lies outside of what the library gives
        for line in range(max(first + 1, top), min(last + 1, top + len(lines))):
            lines[line - top][column - left] = lines[first - top][column - left]
    wide = [
        (first - top, column - left, last_column - left)
        for (first, column), (last, last_column) in sheet.merged_cell_ranges or ()
        if first == last and column < last_column
    ]
    _join_headings(lines, wide)
    return [list(map(_cell, line)) if any(str(cell).strip() for cell in line) else [] for line in lines]


def _join_headings(lines: list[list[Any]], wide: Sequence[tuple[int, int, int]]) -> None:
    """Put headings that are merged over several columns before those below them, where nothing else stands above one.

    `wide` tells of each its line, its first and its last column. Above them may stand titles alone.
    """
    at = next((at for at, line in enumerate(lines) if sum(bool(str(cell).strip()) for cell in line) > 1), len(lines))
    if at + 2 >= len(lines):
        return
    inside = ((begin, end) for line, begin, end in wide if line == at and begin >= 0 and end < len(lines[at]))
    told = {column: lines[at][begin] for begin, end in inside for column in range(begin, end + 1)}
    if not 0 < len(told) < len(lines[at]):
        return
    above, below = lines[at], lines[at + 1]
    is_told_once = all(
        not above[column] or above[column] == below[column] for column in range(len(above)) if column not in told
    )
    if is_told_once and all(isinstance(cell, str) and cell.strip() for cell in below):
        lines[at] = []
        lines[at + 1] = [f"{told[column]} {cell}" if column in told else cell for column, cell in enumerate(below)]


def _cell(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _bounded(raw: bytes, most: int) -> None:
    """Refuse an archive whose XML is too long, or whose sheet spans more cells than fit into memory."""
    if raw.startswith(OLD_OFFICE):
        raise _RefusedError("it is protected with a password, or of an older form; save it anew, without one")
    if not zipfile.is_zipfile(io.BytesIO(raw)):
        return  # the library says what it is
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(part.file_size for part in archive.infolist() if part.filename.endswith((".xml", ".bin")))
        if size > most:
            raise _RefusedError(f"it unpacks to {size} bytes; at most {most} are read")
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
        raise _RefusedError(f"a sheet reaches to {column.decode()}{row}; clear what stands far from the rest")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _write(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _allow(seconds: int) -> None:
    """Let the system end this process after so much more computing; a regular expression hears of nothing else."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # which Windows lacks

        soft, (_, hard) = math.ceil(time.process_time()) + seconds, resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _limit() -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limit()
    tell(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2]))
