"""The table in a CSV file, told by all of its lines: what stands above its headings and below its rows is no row.

The engine looks at a file's first lines for the form that fits most of them, and takes what does not fit for nothing.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naru.builtins.data.documents.csv_lines import csv_lines
from naru.builtins.data.documents.document import UnreadableError
from naru.builtins.data.documents.headings import LINES_ABOVE, filled

_FIGURE = re.compile(r"[\W\d_]*\d[\W\d_]*")
_CHARACTERS_TOLD = 60


@dataclass(frozen=True, slots=True)
class Plain:
    """Headings and the rows below them, each as wide as these."""

    delimiter: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str]
    """What is told below the rows."""

    @property
    def told(self) -> str:
        """What a reader should know of it."""
        if not self.below:
            return ""
        lines = "1 line" if len(self.below) == 1 else f"{len(self.below)} lines"
        return f"has {lines} below its rows, no row of it: {self.below[0][:_CHARACTERS_TOLD]!r}"


def plain_table(text: str) -> Plain | None:
    """Find the one table of a text of cells; none where it has one column, or no line of words for headings."""
    try:
        delimiter, read = csv_lines(text)
        lines = list(read)
    except (UnreadableError, csv.Error):
        return None
    widths = Counter(len(line) for line in lines if filled(line) > 1)
    if not widths:
        return None
    width = max(widths, key=lambda one: (widths[one], one))
    at = next((at for at, line in enumerate(lines[:LINES_ABOVE]) if len(line) == width and filled(line) > 1), None)
    if width < 2 or at is None:
        return None
    headings, at = _headings(lines, at)
    end = _end(lines, at, width)
    if not headings or not end - at - 1:
        return None
    rows = [line for line in lines[at + 1 : end] if line]
    widest = max(width, *map(len, rows))
    return Plain(
        delimiter,
        [*headings, *[""] * (widest - width)],
        [[*row, *[""] * (widest - len(row))] for row in rows],
        [delimiter.join(line).strip(delimiter) for line in lines[end:] if filled(line)],
    )


def _headings(lines: Sequence[Sequence[str]], at: int) -> tuple[Sequence[str], int]:
    """Return headings, and where the last line of them stands; none where they are no words."""
    first, below = lines[at], [line for line in lines[at + 1 :] if len(line) == len(lines[at])]
    if "" in first and filled(first) > 1 and len(below) > 1 and _are_words(below[0]):
        columns = zip(*below, strict=True)
        if any(cell and any(rest) and all(_FIGURE.fullmatch(one) for one in rest if one) for cell, *rest in columns):
            return list(_spanned(first, below[0])), lines.index(below[0], at)
    return (first if _are_words(first) else []), at


def _spanned(above: Sequence[str], below: Sequence[str]) -> Iterator[str]:
    """Put what spans several headings before each of them."""
    spanning = ""
    for over, cell in zip(above, below, strict=True):
        spanning = over or spanning
        yield f"{spanning} {cell}".strip() if cell else over
        spanning = spanning if cell else ""


def _are_words(line: Sequence[str]) -> bool:
    return not any(_FIGURE.fullmatch(cell) for cell in line)


def _end(lines: Sequence[Sequence[str]], at: int, width: int) -> int:
    """Return where the rows end: below stand lines that no delimiter cuts, or single cells after an empty line."""
    end = len(lines)
    while end > at + 1 and len(lines[end - 1]) < 2:
        end -= 1
    empty = next((one for one in range(end - 1, at, -1) if not lines[one]), at)
    is_apart = empty > at and all(filled(line) == 1 for line in lines[empty:end] if line)
    end = empty if is_apart else end
    alone = itertools.islice(lines, at + 1, end)
    return len(lines) if width < 2 or any(len(line) == 1 for line in alone) else end
