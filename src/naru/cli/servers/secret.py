"""`naru servers secret`: store secrets for a server's entry, sealed in the data folder; values are never shown.

With a hub that runs here they are stored for the key of the command (NARU_SERVER__API_KEY); else for this machine.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

import typer

from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub, server_path
from naru.cli.servers.stored import Name, open_stored, registered
from naru.cli.terminal.output import AsJson, group, print_json, print_note, print_outcome, typed_in
from naru.config import Settings
from naru.connections.credentials import forget_secret, own_secrets, owner_of, secret_names, store_secret
from naru.connections.open import open_signins
from naru.errors import UserError
from naru.persons import LOCAL, Person
from naru.records import ServerRecord
from naru.stores.secrets.vault import Vault
from naru.telemetry.audit import audit_once

app = group("Store secrets for a server's entry.")
Secret = Annotated[str, typer.Argument(help="Its name: what stands in `${NAME}` or `${input:NAME}` of the entry.")]


@app.command("set")
def store(name: Name, secret: Secret, config: Config = None, as_json: AsJson = False) -> None:
    """Store a secret, read from the terminal or from standard input."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    _names(settings, hub, name)  # nobody types a secret for a server that is not there
    value = typed_in(secret, hidden=True) if sys.stdin.isatty() else sys.stdin.read().strip("\r\n")
    if not value:
        raise UserError("The secret is empty.", remedy="Write it to standard input.")
    if hub.answers():
        hub.ask(_path(name, secret), method="PUT", body={"value": value})
    else:

        def kept(vault: Vault, owner: str, record: ServerRecord) -> None:
            audit_once(settings, "secret.stored", server=name, secret=secret)
            asyncio.run(store_secret(vault, owner, record, secret, value))

        _alone(settings, name, kept)
    print_outcome({"server": name, "stored": secret}, f"Stored {secret} for {name}", as_json=as_json)


@app.command("list")
def list_names(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Show the names of what is stored for a server."""
    settings = settings_from(config)
    names = _names(settings, RunningHub(settings), name)
    if as_json:
        print_json(names)
        return
    for one in names:
        print(one)
    if not names:
        print_note(f"Nothing is stored for {name}.")


@app.command("remove")
def remove(name: Name, secret: Secret, config: Config = None, as_json: AsJson = False) -> None:
    """Forget a secret."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    if hub.answers():
        hub.ask(_path(name, secret), method="DELETE")
    else:

        def forgotten(vault: Vault, owner: str, record: ServerRecord) -> None:
            if secret in own_secrets(vault, owner, record):
                audit_once(settings, "secret.removed", server=name, secret=secret)
            asyncio.run(forget_secret(vault, owner, record, secret))

        _alone(settings, name, forgotten)
    print_outcome({"server": name, "removed": secret}, f"Removed {secret} of {name}", as_json=as_json)


def _names(settings: Settings, hub: RunningHub, name: str) -> list[str]:
    if hub.answers():
        return list(hub.ask(server_path(name, "secrets"))["names"])
    return list(_alone(settings, name, secret_names))


def _path(name: str, secret: str) -> str:
    return server_path(name, f"secrets/{quote(secret, safe='')}")


def _alone(settings: Settings, name: str, work: Callable[[Vault, str, ServerRecord], Any]) -> Any:
    async def found() -> ServerRecord:
        async with open_stored(settings) as stored:
            return await registered(stored, name)

    record = asyncio.run(found())
    vault = open_signins(settings).vault
    try:
        return work(vault, owner_of(record, Person(LOCAL)), record)
    finally:
        vault.close()
