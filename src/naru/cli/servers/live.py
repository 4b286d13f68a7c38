"""The part of `naru servers` that needs a connection: asked of the hub that runs; `explain` can also try by itself."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer

from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub, server_path
from naru.cli.servers.stored import Name, registered
from naru.cli.terminal.called import as_called
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, Yes, confirmed, plain, print_json, print_note, print_outcome
from naru.cli.terminal.told_once import told_once
from naru.cli.terminal.working import connected
from naru.config import Settings
from naru.connections.open import open_manager
from naru.stores.memory import MemoryStore
from naru.stores.open import open_store, store_url
from naru.stores.secrets.redact import REDACTOR


def connect(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Have the running hub connect a server. Waits for the outcome; exits with 1 when it cannot be used."""
    hub = RunningHub(settings_from(config))
    hub.ask(server_path(name, "connect"), method="POST", accept_failure=True)
    _report(hub.ask(server_path(name, "explanation")), name, as_json=as_json)


def disconnect(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Have the running hub disconnect a server; its entry stays."""
    shown = RunningHub(settings_from(config)).ask(server_path(name, "disconnect"), method="POST")
    print_outcome(shown, f"{name}: {shown['status']}", as_json=as_json)


def refresh(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Have the running hub list a server's tools again."""
    shown = RunningHub(settings_from(config)).ask(server_path(name, "refresh"), method="POST")
    print_outcome(shown, f"{name}: {shown['toolCount']} tools", as_json=as_json)


def logs(
    name: Name,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="The last so many.")] = 200,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the end of what a server wrote to stderr. Stray lines of its stdout are there, too."""
    found = RunningHub(settings_from(config)).ask(server_path(name, "logs"))["lines"][-lines:]
    if as_json:
        print_json(found)
        return
    for line in found:
        print(plain(line))
    if not found:
        print_note(f"{name} wrote nothing.")


def explain(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Say why a server is not usable and what to do. Without a running hub it is connected once."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    found = hub.ask(server_path(name, "explanation")) if hub.answers() else asyncio.run(_try(settings, name))
    _report(found, name, as_json=as_json)


def approve(
    name: Name,
    tool: Annotated[list[str] | None, typer.Argument(help="Its tools to approve; all when left out.")] = None,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a server's changed tools and approve them. You see how they differ from what was approved before."""
    hub = RunningHub(settings_from(config))
    withheld = hub.ask(server_path(name))["withheldTools"]
    chosen = [one for one in withheld if not tool or one["name"] in tool]
    if not as_json or not yes:
        tell = print_note if as_json else print
        for one in chosen:
            tell(f"{one['name']}: {one['status']}. {plain(one['reason'])}")
            for line in one["diff"]:
                tell(f"  {plain(line)}")
    if not chosen:
        print_note(f"{name} has no withheld tools{' of these names' if tool else ''}.")
        if as_json:
            print_json(hub.ask(server_path(name)))
        return
    if not confirmed(f"Approve {len(chosen)} of {name}?", yes=yes):
        raise typer.Exit(Exit.NOT_WELL)
    seen = {one["name"]: one["sha256"] for one in chosen}
    shown = hub.ask(server_path(name, "approve"), method="POST", body={"tools": seen})
    line = f"{name}: {shown['toolCount']} tools offered, {len(shown['withheldTools'])} withheld"
    print_outcome(shown, line, as_json=as_json)


COMMANDS = (connect, disconnect, refresh, logs, explain, approve)
"""Put into the group by `servers`, under their own names."""


async def _try(settings: Settings, name: str) -> dict[str, Any]:
    """Connect one server by itself and return the explanation as the REST API gives it."""
    store = open_store(store_url(settings.hub))
    await store.open()
    try:
        record = await registered(store, name)
    finally:
        await store.close()
    alone = MemoryStore()
    await alone.save(record.model_copy(update={"auto_connect": True}))
    manager = open_manager(settings, alone, asks_for_keys=False)
    try:
        await manager.initialize_from_store()
        await connected(manager)
        found = manager.explain(name)
    finally:
        await manager.close()
    summary, remedy = told_once(found)
    failure = {name: _clean(one) for name, one in asdict(found.failure).items()} if found.failure else None
    return {
        "status": found.status,
        "isUsable": found.is_usable,
        "summary": summary,
        "remedy": remedy,
        "logTail": REDACTOR.clean(found.log_tail),
        **({"lastFailure": failure} if failure else {}),
    }


def _clean(value: Any) -> Any:
    return REDACTOR.clean(value) if isinstance(value, str) else value


def _report(found: dict[str, Any], name: str, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print(f"{name}: {found['status']}. {plain(found['summary'])}")
        if found["remedy"]:
            print(f"  what to do: {plain(as_called(found['remedy']))}")
        for line in str(found.get("logTail") or "").splitlines():
            print(f"  stderr: {plain(line)}")
    if not found["isUsable"]:
        raise typer.Exit(Exit.NOT_WELL)
