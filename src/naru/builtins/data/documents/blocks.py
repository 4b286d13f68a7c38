"""Definitions in a language of their own (Prisma, Rails, DBML, GraphQL, …), cut where their own indentation cuts them.

No such language is parsed: a block is a line and what is indented below it, with the lines that stand directly above.
A block that holds blocks is the heading of what is in it, as `create_table … do |t|` is of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_OPENERS = " {(["
_CLOSING = re.compile(r"[\W_]*(end)?[\W_]*")
"""A line that says nothing but where something begins or ends."""


@dataclass(slots=True)
class _Line:
    text: str
    number: int
    indent: int
    is_apart: bool
    """An empty line stands above it."""
    inside: list[_Line] = field(default_factory=list)
    """What is indented below it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, and the first lines of the blocks that they stand in, its own too."""

    headings: tuple[str, ...]
    lines: Sequence[str]
    number: int
    """Of its first line."""


def blocks_of(text: str) -> Iterator[Block]:
    """Yield each line that says anything, in a block or as the heading of some.

    Raises:
        RecursionError: it is nested too deeply.
    """
    return _blocks(_nested(text), ())


def _nested(text: str) -> list[_Line]:
    top: list[_Line] = []
    around: list[_Line] = []
    is_apart = False
    for number, raw in enumerate(text.expandtabs().splitlines(), 1):
        if _CLOSING.fullmatch(raw):
            is_apart |= not raw.strip()
            continue
        told = raw.strip()
        line = _Line(told, number, len(raw) - len(raw.lstrip()), is_apart)
        while around and line.indent <= around[-1].indent:
            around.pop()
        (around[-1].inside if around else top).append(line)
        around.append(line)
        is_apart = False
    return top


def _blocks(lines: Sequence[_Line], headings: tuple[str, ...]) -> Iterator[Block]:
    for paragraph in _paragraphs(lines):
        texts, inside = [line.text for line in paragraph], paragraph[-1].inside
        within = (*headings, "\n".join(texts).rstrip(_OPENERS))
        if any(line.inside for line in inside):
            yield from _blocks(inside, within)
        elif inside:
            yield Block(within, [line.text for line in inside], paragraph[0].number)
        else:
            yield Block(headings, texts, paragraph[0].number)


def _paragraphs(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Cut lines of one indentation at an empty line, and after what has others below it."""
    gathered: list[_Line] = []
    for line in lines:
        if gathered and (line.is_apart or gathered[-1].inside):
            yield gathered
            gathered = []
        gathered.append(line)
    if gathered:
        yield gathered
