"""`naru-hr`: the HR server alone, over stdio (D7's sibling; V5)."""

from __future__ import annotations

import argparse
import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

from naru.builtins.hr.database import HrDatabase, open_database
from naru.builtins.hr.tools import TOOLS
from naru.builtins.serve import run_stdio
from naru.tools.functions.dependencies import Container
from naru.tools.functions.toolset import FunctionToolset

INSTRUCTIONS = "Company documents, employees and vacation days. Look a value up before you answer."


def hr_toolset(database: HrDatabase | None = None) -> FunctionToolset:
    """Return the HR tools over a database, the demo data when None; the toolset closes it."""
    container = Container()
    if database is not None:
        container.provide("db", functools.partial(_kept, database))
    return FunctionToolset(TOOLS, container=container)


def _kept(database: HrDatabase) -> Iterator[HrDatabase]:
    with contextlib.closing(database):
        yield database


def main(argv: list[str] | None = None) -> None:
    """Run the server, over the demo data or a database of one's own."""
    parser = argparse.ArgumentParser(prog="naru-hr", description="HR tools over SQLite, as an MCP server.")
    parser.add_argument("--db", type=Path, help="SQLite file with documents, employees, vacations (default: demo data)")
    path = parser.parse_args(argv).db
    run_stdio(lambda: hr_toolset(open_database(path) if path else None), name="naru-hr", instructions=INSTRUCTIONS)


if __name__ == "__main__":
    main()
