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
_SILENT = frozenset({"script", "style", "template", "noscript", "title"})
"""Their end is marked; that of `head` need not be."""
_MAX_SPAN = 1_000
_SPAN_DIGITS = 9
"""What comes after them is more than enough already."""
_MAX_NESTING = 50
"""Of Markdown's quotes and lists; the library leaves out what is deeper."""
_BOLD = frozenset({"b", "strong"})
_BLOCKS = frozenset(
    "p div section article li ul ol dl dt dd pre blockquote table tr br hr header footer nav main figure".split()
)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading: its paragraphs, and its tables as lines of cells."""

    headings: tuple[str, ...]
    paragraphs: Sequence[str]
    tables: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of cells, and what is written above them: a caption, or words in bold that stand alone."""

    caption: str
    lines: Sequence[Sequence[str]]


def markdown_sections(text: str) -> list[Section]:
    """Cut Markdown at its headings.

    Raises:
        RecursionError: it is nested so deeply that some of it would be left out.
    """
    markdown = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    tokens = markdown.parse(text)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        raise RecursionError
    return html_sections(markdown.renderer.render(tokens, markdown.options, {}))


def html_sections(html: str) -> list[Section]:
    """Cut HTML at its headings."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
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
    at = 0
    while len(paragraph) - at > PIECE_CHARACTERS:
        window = paragraph[at : at + PIECE_CHARACTERS]
        ends = [found.end() for found in re.finditer(r"[.!?。]\s+|\n", window)] or [window.rfind(" ") + 1]
        end = ends[-1] or PIECE_CHARACTERS
        if part := window[:end].strip():
            yield part
        at += end
    if part := paragraph[at:].strip():
        yield part


@dataclass(slots=True)
class _Open:
    """What is being read."""

    words: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    title: str = ""
    """The last paragraph, where all of it is bold."""
    has_plain: bool = False


@dataclass(slots=True)
class _Cell:
    """A cell of a table, and how many columns and lines it spans."""

    columns: int
    lines: int
    text: str = ""


def _filled(table: Sequence[Sequence[_Cell]]) -> list[list[str]]:
    """Put a cell that spans several lines into each of them, so that the others stand under their headings."""
    filled = []
    above: dict[int, _Cell] = {}
    for line in table:
        texts: list[str] = []
        cells = iter(line)
        while cell := above.pop(len(texts), None) or next(cells, None):
            if cell.lines > 1:
                above[len(texts)] = _Cell(cell.columns, cell.lines - 1, cell.text)
            texts += [cell.text, *[""] * (cell.columns - 1)]
        if line:
            filled.append(texts)
    return filled


def _span(told: str | None) -> int:
    return min(max(int(told[:_SPAN_DIGITS]), 1), _MAX_SPAN) if told and told.isdecimal() else 1


_TERMS = {"dl": "table", "dt": "td", "dd": "td"}
"""What a list of terms is as a table: each term begins a line."""


class _Terms(list[list[_Cell]]):
    """Lines of a list of terms, which says no headings."""

    def __init__(self) -> None:
        super().__init__([[_Cell(1, 1, "name"), _Cell(1, 1, "description")]])


class _Reader(HTMLParser):
    """Gathers text by blocks, and opens a section at each heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[Section] = []
        self._headings: list[tuple[int, str]] = []
        self._open = _Open()
        self._silent = 0
        self._verbatim = 0
        self._bold = 0
        self._table: list[list[_Cell]] | None = None
        self._caption = ""
        self._is_in_cell = False
        self._around: list[tuple[list[list[_Cell]] | None, str, bool, list[str]]] = []
        """What was being read where a table began: another one's lines, perhaps, and the words of its cell."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "dl":
            self.handle_starttag("table", [])
            self._table = _Terms()
        elif tag in _TERMS and isinstance(self._table, _Terms):
            self.handle_starttag("td", [])
            if tag == "dt" and len(self._table[-1]) > 1:
                self._table.append([self._table[-1].pop()])
        elif tag in _SILENT:
            self._silent += 1
        elif _HEADING.fullmatch(tag) and not self._is_in_cell:
            self._end_section()
        elif tag in ("td", "th", "tr") and self._table is not None:
            self._end_cell()
        elif tag in _BLOCKS or _HEADING.fullmatch(tag):
            self._end_block()
        self._bold += tag in _BOLD
        if tag == "pre":
            self._verbatim += 1
        elif tag == "table":
            self._around.append((self._table, self._caption, self._is_in_cell, self._open.words))
            self._table, self._caption, self._is_in_cell, self._open.words = [], self._open.title, False, []
            self._open.title = ""
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table:
            self._is_in_cell = True
            spans = dict(attrs)
            self._table[-1].append(_Cell(_span(spans.get("colspan")), _span(spans.get("rowspan"))))

    def handle_endtag(self, tag: str) -> None:
        tag = _TERMS.get(tag, tag) if isinstance(self._table, _Terms) else tag
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif (found := _HEADING.fullmatch(tag)) and not self._is_in_cell:
            level = int(found[1])
            title = self._text()
            self._headings = [(other, text) for other, text in self._headings if other < level]
            self._headings += [(level, title)] if title else []
        elif tag in ("td", "th", "tr") and self._table is not None:
            self._end_cell()
        elif tag == "table" and self._table is not None:
            self._end_cell()
            lines = _filled(self._table)
            if lines[isinstance(self._table, _Terms) :]:  # more than headings of our own
                self._open.tables.append(Table(self._caption, lines))
            self._table, self._caption, self._is_in_cell, self._open.words = self._around.pop()
        elif tag == "caption" and self._table is not None and not self._is_in_cell:
            self._end_block()
            self._caption = self._open.paragraphs[-1] if self._open.paragraphs else ""
        elif tag in _BLOCKS or found:
            self._end_block()
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)
        elif tag in _BOLD:
            self._bold = max(0, self._bold - 1)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._open.words.append(data)
            self._open.has_plain |= not (self._bold or self._is_in_cell) and bool(data.strip())

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: FBT001, FBT002
        """Pass over `<![` that begins nothing known, as browsers do; the parser of the standard library raises."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def close(self) -> None:
        """End what is still open."""
        super().close()
        while self._table is not None:
            self.handle_endtag("table")
        self._end_section()

    def _end_section(self) -> None:
        """Close what stands under the last heading, also when that is only the heading."""
        self._end_block()
        is_heading_alone = self._headings and not (self.sections and self.sections[-1].headings == self._path())
        if self._open.paragraphs or self._open.tables or is_heading_alone:
            self.sections.append(Section(self._path(), self._open.paragraphs, self._open.tables))
        self._open = _Open()

    def _path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _end_cell(self) -> None:
        """End a cell, whether or not its end is marked, or else what stands in no cell, such as a caption."""
        if self._is_in_cell and self._table:
            self._table[-1][-1].text = self._text()
        else:
            self._end_block()
        self._is_in_cell = False

    def _end_block(self) -> None:
        if self._is_in_cell:
            self._open.words.append(" ")  # a cell's own blocks
            return
        if text := self._text():
            self._open.paragraphs.append(text)
            self._open.title = "" if self._open.has_plain else text
        self._open.has_plain = False

    def _text(self) -> str:
        raw = "".join(self._open.words)
        self._open.words = []
        return raw.strip("\n") if self._verbatim else " ".join(raw.split())
