"""How commands print: results to stdout, everything else to stderr; tables for people, tabs for programs.

No escape sequence is written to what is no terminal, nor where NO_COLOR is set; foreign text never steers a terminal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naru.cli.terminal.called import as_called
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.lines import answered

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_NARROWEST = 12
"""Cells that a column has for its text, where it has more."""
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def group(about: str) -> typer.Typer:
    """Return a group of commands, which says what it is about when no command is named."""
    return typer.Typer(add_completion=False, help=about, no_args_is_help=True, rich_markup_mode=None)


def console(*, stderr: bool = False) -> Console:
    """Return a console that never guesses: no highlighting, no wrapping, no colours where none are wanted."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=True)
    if made.no_color or not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, soft_wrap=True, color_system=None)
    return made


def plain(text: str) -> str:
    """Return foreign text without what steers a terminal."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def print_json(value: Any) -> None:
    """Print a value as JSON that people can read as well."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_outcome(value: Any, line: str, *, as_json: bool) -> None:
    """Print what was done: the whole of it as JSON, or one line for people."""
    if as_json:
        print_json(value)
    else:
        print(line)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below a heading: aligned on a terminal, elsewhere one a line with tabs between; no rows, nothing."""
    texts = [[plain(str(cell)) for cell in row] for row in rows]
    out = console()
    if not texts:
        return
    if not out.is_terminal:
        for row in ([column.strip() for column in columns], *texts):
            sys.stdout.write("\t".join(" ".join(cell.split()) for cell in row).rstrip("\t") + "\n")
        return
    widest = [max(map(cell_len, cells)) for cells in zip(columns, *texts, strict=True)]
    if widest[0] + sum(2 + min(width, _NARROWEST) for width in widest[1:]) > out.width:
        _print_stacked(out, columns, texts)
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in table.columns:
        column.overflow = "fold"
    # The first column is what a person copies into the next command: an id that wraps is no longer one.
    table.columns[0].no_wrap = True
    table.columns[0].min_width = widest[0]
    for row in texts:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table, soft_wrap=False)


def _print_stacked(out: Console, columns: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    """Print rows one below the other, where a table's columns would be too narrow to read."""
    for first, *rest in texts:
        out.print(Text(first))
        for column, cell in zip(columns[1:], rest, strict=True):
            if cell:
                out.print(Text(f"  {column.strip()}: {cell}"))


def print_warnings(lines: Iterable[str]) -> None:
    """Print what a person should know, to stderr."""
    errors = console(stderr=True)
    for line in lines:
        errors.print(f"warning: {plain(as_called(line))}", markup=False)


def print_note(line: str) -> None:
    """Print a line about what was done, to stderr, so that stdout holds results alone; after those before it."""
    sys.stdout.flush()
    console(stderr=True).print(plain(as_called(line)), markup=False)


def typed_in(what: str, *, hidden: bool) -> str:
    """Ask for a value on a terminal; Ctrl-C, or the input's end, ends the command."""
    try:
        return str(typer.prompt(what, hide_input=hidden, err=True))
    except typer.Abort:
        print_note("\nNothing was changed.")
        raise typer.Exit(Exit.INTERRUPTED) from None


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask on a terminal whether to go on; where nobody can be asked, only `--yes` does."""
    if yes:
        return True
    if not sys.stdin.isatty():
        print_note("Nothing was changed. Say --yes to do it.")
        return False
    try:
        return answered(f"{question} [y/N]: ").strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        print_note("\nNothing was changed.")
        raise typer.Exit(Exit.INTERRUPTED) from None
