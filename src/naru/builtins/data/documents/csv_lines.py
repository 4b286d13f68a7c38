"""The lines of a text of cells: what stands between the cells is told by Excel's `sep=`, or by most of its lines."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator

from naru.builtins.data.documents.document import UnreadableError

DELIMITERS = ",;\t|"
_LINES_LOOKED_AT = 20
_CHARACTERS_LOOKED_AT = 65_536
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
"""How Excel is told what stands between the cells."""
_END = "\x1a"


def csv_lines(text: str) -> tuple[str, Iterator[list[str]]]:
    """Return what stands between a text's cells, and its lines.

    The lines raise UnreadableError at their end where a quote is not closed, csv.Error where they are none.
    """
    text = text.lstrip("\r\n")
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    told = _SEPARATOR.match(text)
    text = text[told.end() :] if told else text
    delimiter = told[1] if told else _delimiter(text)
    lines = csv.reader(itertools.chain(io.StringIO(text, newline=""), [_END]), delimiter=delimiter)
    return delimiter, _closed(lines)


def _delimiter(text: str) -> str:
    """Choose what cuts most of the first lines alike; titles above the headings it may cut otherwise."""
    start = text[:_CHARACTERS_LOOKED_AT]

    def fit(delimiter: str) -> tuple[int, int, int]:
        lines = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
        widths = Counter(len(line) for line in itertools.islice(lines, _LINES_LOOKED_AT) if len(line) > 1)
        alike, width = max(((count, width) for width, count in widths.items()), default=(0, 0))
        return alike, width, -DELIMITERS.index(delimiter)

    return max(DELIMITERS, key=fit)


def _closed(lines: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the lines before the mark of the end; when that is within quotes, so is what stands before it.

    Raises:
        UnreadableError: a quote is not closed.
    """
    held = next(lines)
    for line in lines:
        yield held
        held = line
    if held != [_END]:
        begins = next(filter(None, held), "")[:40].split("\n", 1)[0]
        left = "\n".join(held).rstrip(f"\n{_END}").count("\n") - len(held) + 1
        after = f"{left} line{'s' * (left != 1)} after it"
        raise UnreadableError(
            f"a quote in the row that begins with {begins!r} is never closed; it and {after} are left out"
        )
