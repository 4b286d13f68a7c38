"""Prose, cut where its headings cut it: HTML, and what Markdown and Word become, with tables read as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

PIECE_CHARACTERS = 1_500
"""A section that is longer is cut between paragraphs: an embedding model reads the start of a text."""
_HEADING = re.compile(r"h([1-6])")
_SILENT = frozenset({"script", "style", "template", "noscript", "head"})
_BLOCKS = frozenset(
    "p div section article li ul ol dl dt dd pre blockquote table tr br hr header footer nav main figure".split()
)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading: its paragraphs, and its tables as lines of cells."""

    headings: tuple[str, ...]
    paragraphs: Sequence[str]
    tables: Sequence[Sequence[Sequence[str]]]


def markdown_sections(text: str) -> list[Section]:
    """Cut Markdown at its headings."""
    return html_sections(MarkdownIt("commonmark").enable("table").render(text))


def html_sections(html: str) -> list[Section]:
    """Cut HTML at its headings."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_section()
    return reader.sections


def pieces(headings: Sequence[str], paragraphs: Sequence[str]) -> Iterator[str]:
    """Yield texts of bounded length, each under its headings: `Guide > Install`."""
    head = " > ".join(headings)
    gathered: list[str] = []
    size = 0
    for part in (part for paragraph in paragraphs for part in _bounded(paragraph)):
        if gathered and size + len(part) > PIECE_CHARACTERS:
            yield "\n".join(filter(None, (head, *gathered)))
            gathered, size = [], 0
        gathered.append(part)
        size += len(part)
    if gathered or head:
        yield "\n".join(filter(None, (head, *gathered)))


def paragraphs_of(text: str) -> list[str]:
    """Cut plain text at its empty lines."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def _bounded(paragraph: str) -> Iterator[str]:
    """Cut one long paragraph after a sentence, else after a word, else anywhere."""
    while len(paragraph) > PIECE_CHARACTERS:
        window = paragraph[:PIECE_CHARACTERS]
        ends = [found.end() for found in re.finditer(r"[.!?。]\s+|\n", window)] or [window.rfind(" ") + 1]
        end = ends[-1] or PIECE_CHARACTERS
        yield paragraph[:end].strip()
        paragraph = paragraph[end:]
    if paragraph.strip():
        yield paragraph.strip()


@dataclass(slots=True)
class _Open:
    """What is being read."""

    words: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Gathers text by blocks, and opens a section at each heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[Section] = []
        self._headings: list[tuple[int, str]] = []
        self._open = _Open()
        self._silent = 0
        self._table: list[list[str]] | None = None
        self._verbatim = 0
        self._is_in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif _HEADING.fullmatch(tag):
            self.end_section()
        elif tag in ("td", "th", "tr") and self._table is not None:
            self._end_cell()
        elif tag in _BLOCKS:
            self._end_block()
        if tag == "pre":
            self._verbatim += 1
        elif tag == "table":
            self._table = []
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table:
            self._is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif found := _HEADING.fullmatch(tag):
            level = int(found[1])
            title = self._text()
            self._headings = [(other, text) for other, text in self._headings if other < level]
            self._headings += [(level, title)] if title else []
        elif tag in ("td", "th", "tr") and self._table is not None:
            self._end_cell()
        elif tag == "table" and self._table is not None:
            self._end_cell()
            self._open.tables.append([line for line in self._table if line])
            self._table = None
        elif tag in _BLOCKS:
            self._end_block()
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._open.words.append(data)

    def end_section(self) -> None:
        """Close what stands under the last heading, also when that is only the heading."""
        self._end_block()
        is_heading_alone = self._headings and not (self.sections and self.sections[-1].headings == self._path())
        if self._open.paragraphs or self._open.tables or is_heading_alone:
            self.sections.append(Section(self._path(), self._open.paragraphs, self._open.tables))
        self._open = _Open()

    def _path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _end_cell(self) -> None:
        """End a cell, whether or not its end is marked."""
        if self._is_in_cell and self._table:
            self._table[-1].append(self._text())
        self._is_in_cell = False

    def _end_block(self) -> None:
        if self._is_in_cell:
            self._open.words.append(" ")  # a cell's own blocks
            return
        if text := self._text():
            self._open.paragraphs.append(text)

    def _text(self) -> str:
        raw = "".join(self._open.words)
        self._open.words = []
        return raw.strip("\n") if self._verbatim else " ".join(raw.split())
