"""`naru servers`: list, add, remove, import and check registered MCP servers, straight on the store.

A hub that runs takes changes up within a second. Programs may be added here, since whoever may run commands may (S-20).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from naru.cli.options import Config, settings_from
from naru.connections.policy import Policy, argv_shown
from naru.errors import ConfigError, ConflictError, NotFoundError
from naru.records import ServerRecord, describe, now_ms, parse_transport
from naru.stores.base import Store
from naru.stores.declared import read_declared
from naru.stores.expand import MissingVariableError, expand
from naru.stores.open import open_store, store_url
from naru.stores.redact import masked_config
from naru.telemetry.audit import audit_once
from naru.telemetry.audited_store import AuditedStore

app = typer.Typer(help="List, add, remove and import MCP servers.", no_args_is_help=True, rich_markup_mode=None)

StoreOption = Annotated[str, typer.Option("--store", help="Store to use; the hub's own by default.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Assignments = Annotated[list[str] | None, typer.Option(help="NAME=VALUE; say it again for more.")]
Work = Callable[[Store], Awaitable[None]]


@app.command("list")
def list_servers(store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Show all registered servers and what is wrong with their entries; secrets are masked."""

    async def work(opened: Store) -> None:
        records = await opened.list()
        if as_json:
            print(json.dumps([_shown(record) for record in records], ensure_ascii=False, indent=2))
        else:
            for record in records:
                print(f"{record.name}\t{record.transport_type or 'URL'}\t{_place(record)}{_marks(record)}")
        _warn([problem.reason for problem in opened.problems()])

    _run(config, store, work)


@app.command()
def add(  # noqa: PLR0913  # each parameter is an option of the command
    name: Annotated[str, typer.Argument(help="Unique name.")],
    target: Annotated[list[str], typer.Argument(help="A URL, or a program with its arguments after `--`.")],
    transport: Annotated[str, typer.Option("--transport", "-t", help="stdio, sse or http; guessed by default.")] = "",
    env: Assignments = None,
    header: Assignments = None,
    cwd: Annotated[str, typer.Option(help="Working directory of the program.")] = "",
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    store: StoreOption = "",
    config: Config = None,
) -> None:
    """Register a server: `naru servers add time -- uvx mcp-server-time`, `naru servers add docs https://host/mcp`."""
    is_url = len(target) == 1 and "://" in target[0]
    fields: dict[str, Any] = {"url": target[0]} if is_url else {"command": target[0], "args": target[1:]}
    fields |= {"env": _table(env, "--env")} if env else {}
    fields |= {"headers": _table(header, "--header")} if header else {}
    fields |= {"cwd": cwd} if cwd else {}
    record = _record(name, fields, transport, description)

    async def work(opened: Store) -> None:
        await opened.save(record)
        print(f"Added {name}: {_place(record)}")
        _warn(Policy().warnings(record))

    _run(config, store, work)


@app.command()
def remove(name: str, store: StoreOption = "", config: Config = None) -> None:
    """Forget a server."""

    async def work(opened: Store) -> None:
        if not await opened.delete(name):
            raise NotFoundError(f"No server named {name!r} is registered.")
        print(f"Removed {name}")

    _run(config, store, work)


@app.command()
def enable(name: str, store: StoreOption = "", config: Config = None) -> None:
    """Switch a server on."""
    _switch(name, store, config, is_on=True)


@app.command()
def disable(name: str, store: StoreOption = "", config: Config = None) -> None:
    """Switch a server off; its entry stays."""
    _switch(name, store, config, is_on=False)


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="mcp.json, claude_desktop_config.json, .vscode/mcp.json, config.toml …")],
    store: StoreOption = "",
    config: Config = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be added.")] = False,
) -> None:
    """Add the servers of another product's configuration file; names that are taken are left alone."""

    async def work(opened: Store) -> None:
        declared = await read_declared(settings.mcp.model_copy(update={"servers": [], "files": [file]}))
        known = {record.name for record in await opened.list()}
        for record in declared.records.values():
            if record.name in known:
                print(f"{record.name}: is registered already")
                continue
            if not dry_run:
                await opened.save(record)
            print(f"{record.name}: {'would be added' if dry_run else 'added'}, {_place(record)}")
        _warn([problem.reason for problem in declared.problems])

    settings = settings_from(config)
    _run(config, store, work)


@app.command()
def check(store: StoreOption = "", config: Config = None) -> None:
    """Check all entries without starting anything: broken ones, missing variables, unpinned packages."""
    found: list[str] = []

    async def work(opened: Store) -> None:
        for record in await opened.list():
            try:
                expand(record.config, server=record.name)
            except (MissingVariableError, ConfigError) as error:
                found.append(f"{record.name}: {error.message}")
            found.extend(f"{record.name}: {warning}" for warning in Policy().warnings(record))
        found.extend(problem.reason for problem in opened.problems())

    _run(config, store, work)
    for line in found:
        print(line)
    if found:
        raise typer.Exit(1)
    print("Nothing is wrong.")


def _switch(name: str, store: str, config: Path | None, *, is_on: bool) -> None:
    async def work(opened: Store) -> None:
        record = await opened.find_by_name(name)
        if record is None:
            raise NotFoundError(f"No server named {name!r} is registered.")
        kept = {key: value for key, value in record.config.items() if key not in ("disabled", "enabled")}
        changed = {"config": kept if is_on else {**kept, "disabled": True}}
        moment = max(now_ms(), record.updated_at + 1)
        await opened.update(
            record.model_copy(update={**changed, "updated_at": moment}), expected_updated_at=record.updated_at
        )
        print(f"{name} is {'on' if is_on else 'off'}")

    _run(config, store, work)


def _run(config: Path | None, store: str, work: Work) -> None:
    settings = settings_from(config)
    url = store or store_url(settings.hub)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        made = AuditedStore(open_store(url), partial(audit_once, settings))
        await made.open()
        try:
            yield made
        finally:
            await made.close()

    async def main() -> None:
        async with opened() as made:
            await work(made)

    asyncio.run(main())


def _record(name: str, fields: dict[str, Any], transport: str, description: str) -> ServerRecord:
    try:
        declared = parse_transport(transport) if transport else None
        return ServerRecord(name=name, description=description or None, transport_type=declared, config=fields)
    except ValidationError as error:
        raise ConfigError("; ".join(describe(error)) + ".") from error
    except ValueError as error:
        raise ConfigError(f"{error}.") from error


def _table(assignments: Sequence[str], option: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ConfigError(f"{option} {assignment.split('=')[0]!r} is no NAME=VALUE.")
        if name in table:
            raise ConflictError(f"{option} names {name!r} twice.")
        table[name] = value
    return table


def _shown(record: ServerRecord) -> dict[str, Any]:
    return {**record.model_dump(by_alias=True, mode="json"), "config": masked_config(record.config)}


def _place(record: ServerRecord) -> str:
    shown = masked_config(record.config)
    return str(shown["url"]) if "url" in shown else " ".join(argv_shown(record, shown.get("args") or ()))


def _marks(record: ServerRecord) -> str:
    if not record.enabled:
        return "\t(off)"
    return "" if record.auto_connect else "\t(not connected by itself)"


def _warn(lines: Sequence[str]) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
    for line in lines:
        console.print(f"warning: {line}")
