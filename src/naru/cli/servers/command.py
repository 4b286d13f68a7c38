"""`naru servers`: list, add, remove, switch and check registered MCP servers, straight on the store.

A hub that runs takes changes up within a second. Programs may be added here, since whoever may run commands may (S-20).
What only a running hub knows is in `live`; other products' files are read by `import_servers`.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from naru.cli.checks.servers import check_record
from naru.cli.options import Config, settings_from
from naru.cli.published.adding import Asked, find, is_published
from naru.cli.running_hub import SERVERS, RunningHub
from naru.cli.servers import live, sign_in
from naru.cli.servers import secret as own_secrets
from naru.cli.servers.import_servers import command as import_command
from naru.cli.servers.program import ProgramLast
from naru.cli.servers.stored import Name, open_stored, registered, server_names, unregistered
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import (
    AsJson,
    Yes,
    group,
    print_json,
    print_note,
    print_outcome,
    print_table,
    print_warnings,
)
from naru.config import Settings
from naru.connections.rules.policy import Policy, argv_shown
from naru.errors import ConfigError, ConflictError, NaruError
from naru.paths import found_at
from naru.records import ServerRecord, describe, now_ms, parse_transport
from naru.stores.base import Store
from naru.stores.formats.expand import MissingVariableError, expand
from naru.stores.formats.shapes import META, write_entry
from naru.stores.secrets.redact import masked_config
from naru.stores.secrets.text import MASK

app = group("List, add, remove, connect and explain MCP servers.")
for _command in live.COMMANDS:
    app.command()(_command)
app.command("login")(sign_in.login)
app.command("logout")(sign_in.logout)
app.add_typer(own_secrets.app, name="secret")
app.command("import")(import_command)

StoreOption = Annotated[str, typer.Option("--store", help="Store to use; the hub's own by default.")]
Work = Callable[[Store], Awaitable[None]]


@app.command("list")
def list_servers(store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Show all registered servers. If a hub runs: their states, and those that it brings itself; secrets are masked."""
    settings = settings_from(config)
    states = _states(settings)

    async def work(opened: Store) -> None:
        records = await opened.list()
        known = {record.id: states.get(record.id, {}) for record in records}
        brought = [] if store else [one for one in states.values() if one["id"] not in known]
        if as_json:
            print_json([{**_shown(record), **_state(known[record.id])} for record in records] + brought)
        else:
            print_table(
                ("server", "state", "tools", "how", "what"),
                [
                    (
                        record.name,
                        _running(known[record.id]) or _marks(record),
                        known[record.id].get("toolCount", "-"),
                        record.transport_type or "URL",
                        _place(record),
                    )
                    for record in records
                ]
                + [
                    (one["name"], one["status"], one["toolCount"], one["transportType"], one["description"])
                    for one in brought
                ],
            )
        problems = opened.problems()
        print_warnings([problem.reason for problem in problems])
        if problems and not records:
            raise typer.Exit(Exit.NOT_WELL)
        if not records and not brought and not as_json:
            print_note("No server is registered. Add one: naru servers add time -- uvx mcp-server-time")

    _run(settings, store, work)


@app.command(cls=ProgramLast)
def add(  # noqa: PLR0913  # each parameter is an option of the command
    name: Annotated[str, typer.Argument(help="Unique name.")],
    target: Annotated[
        list[str],
        typer.Argument(
            help="A URL, a program with its arguments after `--`, a .mcpb bundle, a server.json, or registry:NAME."
        ),
    ],
    transport: Annotated[str, typer.Option("--transport", "-t", help="stdio, sse or http; guessed by default.")] = "",
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE; say it again for more.")] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="'NAME: VALUE' or NAME=VALUE; say it again for more.")
    ] = None,
    cwd: Annotated[str, typer.Option(help="Working directory of the program.")] = "",
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    given: Annotated[
        list[str] | None, typer.Option("--set", help="INPUT=VALUE that a published server asks for; say it again.")
    ] = None,
    way: Annotated[
        str, typer.Option(help="Of a server.json: npm, pypi, oci or remote; the first that runs here.")
    ] = "",
    yes: Yes = False,
    store: StoreOption = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Register a server.

    `naru servers add time -- uvx mcp-server-time`, `naru servers add docs https://host/mcp`. What people publish is
    shown before it is added, and its inputs are asked for: `naru servers add weather weather.mcpb`.
    """
    settings = settings_from(config)
    if is_published(target):
        found = find(Asked(target[0], given or (), way, yes), settings)
        if found is None:
            raise typer.Exit(Exit.NOT_WELL)
        kind = str(found.config.pop("type", "stdio"))
        record = _record(name, found.config, transport or kind, description or found.description)
        found.prepare()
        _save(record, settings, store, as_json=as_json)
        return
    is_url = len(target) == 1 and "://" in target[0]
    # A program by its path is meant from here, or from a folder of its own; one by its name is on the PATH.
    is_here = "/" in target[0] and not cwd and bool(found_at(Path(target[0])))
    program = _from_here(target[0]) if is_here else target[0]
    fields: dict[str, Any] = {"url": target[0]} if is_url else {"command": program, "args": target[1:]}
    fields |= {"env": _table(env, "--env")} if env else {}
    fields |= {"headers": _table(header, "--header")} if header else {}
    fields |= {"cwd": _from_here(cwd)} if cwd else {}
    record = _record(name, fields, transport, description)
    dead = [one for one in check_record(record, name) if one.field.endswith((".url", ".headers"))] if is_url else ()
    for fault in dead:
        raise ConfigError(f"{target[0]}: {fault.message}", remedy=fault.remedy)
    _save(record, settings, store, as_json=as_json)


def _from_here(path: str) -> str:
    """Return a path that means the same wherever a hub is started; a home or a placeholder at its beginning does."""
    return path if path.startswith(("~", "$")) else str(Path(path).absolute())


def _save(record: ServerRecord, settings: Settings, store: str, *, as_json: bool) -> None:
    async def work(opened: Store) -> None:
        await opened.save(record)
        print_outcome(_shown(record), f"Added {record.name}: {_place(record)}", as_json=as_json)
        print_warnings([*Policy().warnings(record), *_not_there(record)])

    _run(settings, store, work, makes=True)


@app.command()
def remove(name: Name, store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Forget a server."""

    async def work(opened: Store) -> None:
        if not await opened.delete(name):
            raise unregistered(name, [one.name for one in await opened.list()])
        print_outcome({"name": name, "removed": True}, f"Removed {name}", as_json=as_json)

    _run(settings_from(config), store, work)


@app.command()
def enable(name: Name, store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Switch a server on."""
    _switch(name, store, config, is_on=True, as_json=as_json)


@app.command()
def disable(name: Name, store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Switch a server off; its entry stays."""
    _switch(name, store, config, is_on=False, as_json=as_json)


@app.command()
def export(
    names: Annotated[list[str] | None, typer.Argument(help="Only these servers.", autocompletion=server_names)] = None,
    with_secrets: Annotated[bool, typer.Option("--with-secrets", help="Write secrets as they are.")] = False,
    store: StoreOption = "",
    config: Config = None,
) -> None:
    """Print the servers as an mcp.json. Other products read it, and `naru import FILE`; secrets are masked."""

    async def work(opened: Store) -> None:
        records = {record.name: record for record in await opened.list()}
        for name in names or ():
            if name not in records:
                raise unregistered(name, records)
        chosen = [record for name, record in records.items() if not names or name in names]
        entries = {one.name: _entry(one, with_secrets=with_secrets) for one in chosen}
        print_json({"mcpServers": entries})
        if not with_secrets and any(MASK in str(entry) for entry in entries.values()):
            print_note(f"Secrets are shown as {MASK}: give them anew there, or say --with-secrets.")

    _run(settings_from(config), store, work)


@app.command()
def check(store: StoreOption = "", config: Config = None, as_json: AsJson = False) -> None:
    """Check all entries. Broken ones, missing variables, unpinned packages; nothing is started."""
    found: list[str] = []

    async def work(opened: Store) -> None:
        for record in await opened.list():
            try:
                expand(record.config, server=record.name)
            except (MissingVariableError, ConfigError) as error:
                found.append(f"{record.name}: {error.message}")
            found.extend(f"{record.name}: {warning}" for warning in Policy().warnings(record))
        found.extend(problem.reason for problem in opened.problems())

    _run(settings_from(config), store, work)
    print_outcome(found, "\n".join(found) or "Nothing is wrong.", as_json=as_json)
    if found:
        raise typer.Exit(Exit.NOT_WELL)


def _switch(name: str, store: str, config: Path | None, *, is_on: bool, as_json: bool) -> None:
    async def work(opened: Store) -> None:
        record = await registered(opened, name)
        kept = {key: value for key, value in record.config.items() if key not in ("disabled", "enabled")}
        changed = {"config": kept if is_on else {**kept, "disabled": True}}
        moment = max(now_ms(), record.updated_at + 1)
        await opened.update(
            record.model_copy(update={**changed, "updated_at": moment}), expected_updated_at=record.updated_at
        )
        print_outcome({"name": name, "enabled": is_on}, f"{name} is {'on' if is_on else 'off'}", as_json=as_json)

    _run(settings_from(config), store, work)


def _run(settings: Settings, store: str, work: Work, *, makes: bool = False) -> None:
    async def main() -> None:
        async with open_stored(settings, store, makes=makes) as opened:
            await work(opened)

    asyncio.run(main())


def _record(name: str, fields: dict[str, Any], transport: str, description: str) -> ServerRecord:
    try:
        declared = parse_transport(transport) if transport else None
        return ServerRecord(name=name, description=description or None, transport_type=declared, config=fields)
    except ValidationError as error:
        raise ConfigError("; ".join(describe(error)) + ".") from error
    except ValueError as error:
        raise ConfigError(f"{error}.") from error


def _not_there(record: ServerRecord) -> list[str]:
    """Say when a program cannot be found, which may be a URL without its scheme."""
    faults = [one for one in check_record(record, record.name) if one.field.endswith((".command", ".url"))]
    command = str(record.config.get("command") or "")
    is_like_a_host = "." in command.partition("/")[0].strip(".") and not Path(command).exists()
    hint = " A URL begins with http:// or https://." if is_like_a_host else ""
    return [f"{one.message} {one.remedy}{hint}" for one in faults]


_ASSIGNED = {
    "--env": (re.compile(r"([^=]+)=(.*)", re.DOTALL), "NAME=VALUE"),
    "--header": (re.compile(r"([^=:\s]+)(?:=|:\s*)(.*)", re.DOTALL), "'NAME: VALUE'"),
}
"""How an option is written, and said: `=` stands in no header's name, so that `NAME=VALUE` is one as well."""


def _table(assignments: Sequence[str], option: str) -> dict[str, str]:
    table: dict[str, str] = {}
    form, told = _ASSIGNED[option]
    for assignment in assignments:
        found = form.fullmatch(assignment)
        if found is None:  # what it holds may be a secret, and is not shown
            raise ConfigError(f"What {option} was given is no {told}.", remedy=f"Say {option} {told}")
        name, value = found.groups()
        if name in table:
            raise ConflictError(f"{option} names {name!r} twice.")
        table[name] = value
    return table


def _shown(record: ServerRecord) -> dict[str, Any]:
    return {**record.model_dump(by_alias=True, mode="json"), "config": masked_config(record.config)}


def _entry(record: ServerRecord, *, with_secrets: bool) -> dict[str, Any]:
    """Return a record as other products write one: without what only Naru keeps."""
    config = record.config if with_secrets else masked_config(record.config)
    entry = write_entry(record.model_copy(update={"config": config}), None)
    return {key: value for key, value in entry.items() if key != META}


def _place(record: ServerRecord) -> str:
    shown = masked_config(record.config)
    return str(shown["url"]) if "url" in shown else shlex.join(argv_shown(record, shown.get("args") or ()))


def _running(state: dict[str, Any]) -> str:
    """Say how a server is, and of one that runs once for all hubs where; empty where no hub runs."""
    status, place = state.get("status", ""), state.get("runsAt", "")
    return f"{status} {'here' if place == 'here' else f'at {place}'}" if place else str(status)


def _marks(record: ServerRecord) -> str:
    if not record.enabled:
        return "(off)"
    return "-" if record.auto_connect else "(by hand)"


def _states(settings: Settings) -> dict[str, Any]:
    """Return what a running hub says of its servers, by id; nothing when none runs or it does not tell."""
    hub = RunningHub(settings, timeout_seconds=5.0)
    try:
        return {one["id"]: one for one in hub.ask(SERVERS)} if hub.answers() else {}
    except NaruError as error:
        print_warnings([str(error)])
        return {}


def _state(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("status", "toolCount", "lastFailure", "runsAt") if key in found}
