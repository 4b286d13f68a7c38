"""`naru import`: take over the MCP servers of other products on this machine; shown before anything is written."""

from __future__ import annotations

import asyncio
import shlex
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from naru.cli.checks.problem import check_named
from naru.cli.clients.places import PLACES, Machine, Place, existing
from naru.cli.clients.reading import Found, is_naru, read_place
from naru.cli.options import Config, settings_from
from naru.cli.running_hub import hub_url
from naru.cli.servers.stored import open_stored
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, Yes, confirmed, print_json, print_note, print_table
from naru.config import environment
from naru.connections.rules.policy import Policy, argv_shown
from naru.errors import NaruError, NotFoundError
from naru.messages import JsonObject
from naru.records import ServerRecord
from naru.stores.base import Store
from naru.stores.formats.expand import MissingVariableError, expand
from naru.stores.formats.shapes import Problem
from naru.stores.secrets.redact import masked_config


class Outcome(StrEnum):
    """What becomes of a server that was found."""

    ADD = "new"
    TAKEN = "registered already"
    TWICE = "found twice"
    OURS = "is Naru itself"
    BROKEN = "cannot be used"


@dataclass(frozen=True, slots=True)
class Row:
    """A server that was found, under the name it would get, and what becomes of it."""

    found: Found
    outcome: Outcome
    record: ServerRecord | None
    note: str = ""


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files to read, or products by name; else those of all products that are found."),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--from", help=f"Only of {', '.join(dict.fromkeys(p.client for p in PLACES))}.")
    ] = None,
    project: Annotated[bool, typer.Option("--project", help="Read the files of this folder's project, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be added.")] = False,
    yes: Yes = False,
    store: Annotated[str, typer.Option("--store", help="Store to use; the hub's own by default.")] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Take over servers of other products, once seen. Secrets are masked, nothing is started."""
    settings = settings_from(config)
    found = [
        one for place, path in _chosen(files, source, project=project) for one in read_place(place, path, Path.cwd())
    ]
    ours = [hub_url(settings)]

    async def work() -> None:
        async with open_stored(settings, store, makes=True) as opened:
            known = {record.name: record for record in await opened.list()}
            rows = plan(found, known, ours)
            if files and not rows and not as_json:
                print_note(f"There are no MCP servers in {', '.join(map(str, files))}.")
                return
            await _offer(opened, rows, dry_run=dry_run, yes=yes, as_json=as_json)

    asyncio.run(work())


def _chosen(files: list[Path] | None, source: list[str] | None, *, project: bool) -> list[tuple[Place, Path]]:
    clients = {place.client for place in PLACES}
    products = [str(file) for file in files or () if str(file) in clients and not file.exists()]
    named = [file for file in files or () if str(file) not in products]
    known = ", ".join(sorted(clients))
    for file in named:
        check_named(
            file,
            remedy=f"Name a file with MCP servers or a product ({known}), or nothing to find those of all products: "
            "naru import",
        )
    given = [(Place("file", file.name, str(file)), file) for file in named]
    if given and not products and not source:
        return given
    source = [*(source or ()), *products]
    unknown = [name for name in source if name not in clients]
    if unknown:
        raise NotFoundError(f"No product {unknown[0]!r} is known.", remedy=f"Known: {known}; or name its file.")
    there = existing(Machine.this(), Path.cwd(), project=project)
    return given + [(place, path) for place, path in there if not source or place.client in source]


def plan(found: Iterable[Found], known: Mapping[str, ServerRecord], hub_urls: Sequence[str]) -> list[Row]:
    """Decide what becomes of each server that was found; the first of a name keeps it."""
    rows: list[Row] = []
    planned: dict[str, ServerRecord] = {}
    for one in found:
        record = one.outcome
        if isinstance(record, Problem):
            rows.append(Row(one, Outcome.BROKEN, None, record.reason.removeprefix(f"{record.place}: ")))
        elif is_naru(record, hub_urls):
            rows.append(Row(one, Outcome.OURS, record))
        elif record.name in known:
            same = _same(record, known[record.name])
            rows.append(Row(one, Outcome.TAKEN, record, "" if same else "differs from this one"))
        elif any(_same(record, other) for other in planned.values()):
            rows.append(Row(one, Outcome.TWICE, record))
        else:
            name = record.name if record.name not in planned else f"{record.name[:40]}-{one.client}"
            if name in planned or name in known:
                rows.append(Row(one, Outcome.TWICE, record, f"the name {name} is taken"))
                continue
            planned[name] = record.model_copy(update={"name": name, "id": str(uuid.uuid4())})
            rows.append(Row(one, Outcome.ADD, planned[name], "; ".join([*_warnings(planned[name]), *_asked(one)])))
    return rows


async def _offer(store: Store, rows: list[Row], *, dry_run: bool, yes: bool, as_json: bool) -> None:
    new = [row.record for row in rows if row.outcome is Outcome.ADD and row.record is not None]
    if as_json:
        print_json([_data(row) for row in rows])
    else:
        print_table(
            ("server", "from", "outcome", "what it runs or calls", "note"),
            [
                (
                    row.record.name if row.record else row.found.name or "-",
                    row.found.title,
                    row.outcome,
                    _what(row),
                    row.note,
                )
                for row in rows
            ],
        )
    if not rows:
        print_note("No MCP servers of other products were found. Name a file: naru import FILE")
    elif not new:
        print_note("There is nothing to add.")
        if any(row.outcome is Outcome.BROKEN for row in rows):
            raise typer.Exit(Exit.NOT_WELL)
    elif not dry_run:
        if not confirmed(f"Add {_count(new)}?", yes=yes):
            raise typer.Exit(Exit.NOT_WELL)
        for record in new:
            await store.save(record)
        print_note(f"Added {_count(new)}. A hub that runs connects them now; see: naru servers list")


def _count(records: Sequence[ServerRecord]) -> str:
    return f"{len(records)} server{'' if len(records) == 1 else 's'}"


def _same(first: ServerRecord, second: ServerRecord) -> bool:
    """Tell whether two entries say the same; an empty list or table, as some products write them, says nothing."""
    said, other = (
        {key: value for key, value in one.config.items() if value not in ([], {}, "")} for one in (first, second)
    )
    return first.transport_type == second.transport_type and said == other


def _asked(found: Found) -> list[str]:
    """Say what the client would ask a person for, and which variable gives it here."""
    return [f"set {one.variable}: {one.question}" for one in found.wants if one.variable not in environment()]


def _warnings(record: ServerRecord) -> list[str]:
    found = [] if record.enabled else ["switched off there"]
    try:
        expand(record.config, server=record.name)
    except MissingVariableError as error:
        found.append(error.message.rstrip("."))
    except NaruError as error:
        found.append(error.message)
    return found + list(Policy().warnings(record))


def _what(row: Row) -> str:
    if row.record is None:
        return str(row.found.file)
    shown = masked_config(row.record.config)
    if "url" in shown:
        return str(shown["url"])
    variables = [f"{name}={value}" for name, value in (shown.get("env") or {}).items()]
    return shlex.join([*variables, *argv_shown(row.record, shown.get("args") or ())])


def _data(row: Row) -> JsonObject:
    return {
        "name": row.record.name if row.record else row.found.name,
        "client": row.found.client,
        "file": str(row.found.file),
        "outcome": row.outcome,
        "note": row.note,
        **(
            {"transportType": row.record.transport_type, "config": masked_config(row.record.config)}
            if row.record
            else {}
        ),
    }
