"""`naru validate`: every problem of settings and MCP configuration files, with its place and what to do."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from naru.cli.checks.problem import Level, Problem, check_named
from naru.cli.checks.servers import check_record, check_servers_file
from naru.cli.checks.settings import check_settings_file, check_variables
from naru.cli.checks.start import check_start
from naru.cli.options import Config
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, console, plain, print_json
from naru.config import McpSettings, environment, load_settings, settings_path
from naru.errors import NaruError
from naru.stores.declared import read_declared
from naru.stores.json_file import JsonFileStore
from naru.stores.open import open_store, store_url


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="naru.yaml, mcp.json, a client's file, config.toml; else all that Naru would read."),
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check settings and servers without starting anything; exit with 1 when something would not work."""
    for file in files or ():
        check_named(file, remedy="Name a settings file or an mcp.json; without one the usual places are read.")
    found, checked = _files(files) if files else _installation(config)
    if as_json:
        print_json({"checked": checked, "problems": [asdict(problem) for problem in found]})
    else:
        _print(found, checked)
    if any(problem.level is Level.ERROR for problem in found):
        raise typer.Exit(Exit.NOT_WELL)


def _files(files: list[Path]) -> tuple[list[Problem], list[str]]:
    found: list[Problem] = []
    for file in files:
        if file.suffix not in (".yaml", ".yml"):
            found += check_servers_file(file)
            continue
        wrong = check_settings_file(file)
        with contextlib.suppress(NaruError):  # what keeps it from loading is in `wrong`, or in the environment
            settings = load_settings(file)
            wrong += _declared(settings.mcp, file)
            wrong += check_start(settings, str(file), partial(open_store, store_url(settings.hub)))
        found += wrong
    return found, [str(file) for file in files]


def _installation(config: Path | None) -> tuple[list[Problem], list[str]]:
    """Check what `naru serve` would read: the settings file, the environment, declared servers, the store."""
    path = config or settings_path()
    found = check_settings_file(path) if path else []
    checked = [str(path)] if path else []
    found += check_variables(environment())
    checked.append("environment")
    try:
        settings = load_settings(config)
    except NaruError as error:
        if not any(problem.level is Level.ERROR for problem in found):  # the file is well: a variable's value is not
            found.append(Problem(Level.ERROR, "environment", "", error.message, error.remedy))
        return found, checked
    found += _declared(settings.mcp, path)
    found += check_start(settings, str(path) if path else "environment")
    checked += [str(file.expanduser()) for file in settings.mcp.files]
    url = store_url(settings.hub)
    found += asyncio.run(_store(url))
    checked.append(_shown(url))
    return found, checked


def _declared(mcp: McpSettings, path: Path | None) -> list[Problem]:
    """Check the servers that a settings file declares, and those of the files that it names."""
    found = [problem for file in mcp.files for problem in check_servers_file(file.expanduser())]
    declared = asyncio.run(read_declared(mcp.model_copy(update={"files": []})))
    for wrong in declared.problems:
        reason = wrong.reason.removeprefix(f"{wrong.place}: ")
        found.append(Problem(Level.WARNING, str(path), wrong.place, f"{reason[:1].upper()}{reason[1:].rstrip('.')}."))
    places = {server.name: f"mcp.servers[{at}]" for at, server in reversed([*enumerate(mcp.servers)])}
    for record in declared.records.values():
        found += [_in(str(path), one) for one in check_record(record, places[record.name])]
    return found


async def _store(url: str) -> list[Problem]:
    if url == "memory:":
        return []
    place = _shown(url)
    try:
        store = open_store(url)
        if isinstance(store, JsonFileStore):  # one that is not there yet is made
            return check_servers_file(store.path) if store.path.exists() else []
        await store.open()
        try:
            records = await store.list()
            broken = store.problems()
        finally:
            await store.close()
    except NaruError as error:
        return [Problem(Level.ERROR, place, "", error.message, error.remedy)]
    found = [Problem(Level.ERROR, place, one.place, one.reason.removeprefix(f"{one.place}: ")) for one in broken]
    for record in records:
        found += [_in(place, one) for one in check_record(record, record.name)]
    return found


def _in(file: str, problem: Problem) -> Problem:
    return replace(problem, file=file)


def _shown(url: str) -> str:
    """Return a store's URL without a password."""
    head, at, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://…@{tail}" if at else url


def _print(found: list[Problem], checked: list[str]) -> None:
    out = console()
    styles = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.NOTE: "dim"}
    for problem in found:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        field = f" {problem.field}" if problem.field else ""
        out.print(Text.assemble((f"{problem.level:<8}", styles[problem.level]), plain(f"{place}{field}")))
        out.print(Text(f"        {plain(problem.message)}"))
        if problem.remedy:
            out.print(Text(f"        {plain(problem.remedy)}", style="dim"))
    errors = sum(problem.level is Level.ERROR for problem in found)
    warnings = sum(problem.level is Level.WARNING for problem in found)
    counted = f"{errors} error{'' if errors == 1 else 's'}, {warnings} warning{'' if warnings == 1 else 's'}"
    print(f"Checked {', '.join(checked)}: {counted if errors or warnings else 'nothing is wrong'}.")
