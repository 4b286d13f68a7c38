"""`naru connect`: what a client needs to use Naru, shown, or written into the client's own settings with `--write`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from naru.cli.checks.addresses import is_http
from naru.cli.clients.entries import CLIENTS, KEY_VARIABLE, Address, ClientRow, filled, snippet
from naru.cli.clients.places import Machine, place_of
from naru.cli.clients.writing import write_entry
from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub, hub_url
from naru.cli.terminal.called import as_called
from naru.cli.terminal.output import AsJson, print_json, print_note, print_table
from naru.config import Settings
from naru.errors import ConfigError, NaruError, NotFoundError, UserError
from naru.stores.secrets.keys import KeyFile
from naru.web.gate.admission import auth_is_on


def _complete(incomplete: str) -> list[str]:
    return [row.name for row in CLIENTS if row.name.startswith(incomplete)]


def command(
    client: Annotated[
        str, typer.Argument(help="The client; without it, all that can be connected.", autocompletion=_complete)
    ] = "",
    write: Annotated[bool, typer.Option("--write", help="Write it into the client's own settings file.")] = False,
    name: Annotated[str, typer.Option(help="What Naru is called there.")] = "naru",
    url: Annotated[str, typer.Option(help="Where the hub is; from the settings by default.")] = "",
    file: Annotated[Path | None, typer.Option(help="The client's settings file; its usual one by default.")] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what CLIENT needs to use Naru; with --write, put it into the client's settings and keep a copy of them."""
    if not client:
        _list(as_json=as_json)
        return
    row = next((row for row in CLIENTS if row.name == client), None)
    if row is None:
        raise NotFoundError(
            f"No client {client!r} is known.",
            remedy=f"Known: {', '.join(row.name for row in CLIENTS)}. Others take an OpenAI base URL or an MCP URL.",
        )
    if not name.strip():
        raise UserError("--name is empty.", remedy="Say what Naru is to be called there, or leave it out.")
    address = _address(settings_from(config), url)
    path = file or (_path(row) if row.kind else None)
    if write and path is None:
        raise ConfigError(
            f"{row.title} has no settings file that may be written.", remedy=f"See: naru connect {client}"
        )
    entry = row.entry(address) if row.entry else None
    if entry is not None and row.kind == "yaml":
        entry["name"] = name  # items of a list carry their name
    outcome: dict[str, Any] = {"client": client, "file": str(path) if path else None, "entry": entry, "written": False}
    if write and path is not None and entry is not None:
        kept = write_entry(path, row, name, entry)
        outcome |= {"written": True, "backup": str(kept) if kept else None}
    outcome |= {"steps": filled(row.steps, address), "next": _next(row, address), "checked": row.checked}
    if as_json:
        print_json(outcome)
    else:
        _tell(row, name, outcome)


def _list(*, as_json: bool) -> None:
    rows = [(row, _path(row) if row.kind else None) for row in CLIENTS]
    if as_json:
        print_json(
            [
                {
                    "client": row.name,
                    "title": row.title,
                    "file": str(path) if path else None,
                    "found": _is_there(path),
                    "checked": row.checked,
                }
                for row, path in rows
            ]
        )
        return
    print_table(
        ("client", "product", "settings", "", "checked"),
        [
            (row.name, row.title, path or "by hand", "found" if _is_there(path) else "", row.checked)
            for row, path in rows
        ],
    )
    print_note("Show what one needs: naru connect CLIENT. Write it: naru connect CLIENT --write")


def _tell(row: ClientRow, name: str, outcome: dict[str, Any]) -> None:
    if outcome["written"]:
        print(f"{row.title}: {outcome['file']} has Naru as {name!r} now.")
        if outcome["backup"]:
            print(f"What it was is kept in {outcome['backup']}")
    elif outcome["entry"] is not None:
        print_note(f"In {outcome['file']} (or have it written: the same command with --write)")
        print(snippet(row, name, outcome["entry"]))
    for line in outcome["steps"]:
        print(as_called(line))
    print_note(f"({row.title}: {row.checked})")
    print_note("Then:")
    for line in outcome["next"]:
        print_note(f"  {line}")


def _next(row: ClientRow, address: Address) -> list[str]:
    lines = filled(row.then, address)
    if address.asks_for_key and row.name != "claude-desktop":
        lines.insert(0, f"Make a key, and give it to {row.title} as {KEY_VARIABLE}: naru keys create user")
    return lines


def _path(row: ClientRow) -> Path:
    return place_of(row.name).on(Machine.this(), Path.cwd())


def _is_there(path: Path | None) -> bool:
    return path is not None and path.is_file()


def _address(settings: Settings, url: str) -> Address:
    if url and not is_http(url):
        raise UserError(f"{url!r} is no http or https URL.", remedy=f"Such as {hub_url(settings)}")
    keys = KeyFile(settings.hub.data_dir / "keys.json")
    return Address(
        url.rstrip("/") or hub_url(settings),
        _program(),
        _model(settings),
        asks_for_key=auth_is_on(settings.server, were_made=keys.were_made()),
    )


def _program() -> tuple[str, ...]:
    """Return how this very Naru is started from anywhere."""
    beside = Path(sys.executable).with_name("naru.exe" if sys.platform == "win32" else "naru")
    if beside.is_file():
        return (str(beside),)
    found = shutil.which("naru")
    return (found,) if found else (sys.executable, "-m", "naru.cli.main")


def _model(settings: Settings) -> str:
    """Return the model's name as the hub that runs says it, else as the settings do."""
    hub = RunningHub(settings, timeout_seconds=5.0)
    try:
        names = [one["id"] for one in hub.ask("/v1/models")["data"]] if hub.answers() else []
    except NaruError:
        names = []
    return next(iter(names), "") or settings.model.model or "qwen2.5-coder-0.5b"
