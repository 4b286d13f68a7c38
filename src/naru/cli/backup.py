"""`naru backup`: all that this installation keeps, in one file (N24)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from naru.cli.options import Config, settings_from
from naru.cli.terminal.output import AsJson, console, print_json, print_note
from naru.config import DataSettings, HubSettings
from naru.stores import backup as backups
from naru.stores.open import local_path, store_url


def command(
    file: Annotated[Path | None, typer.Argument(help="Where to; naru-backup-DATE.tar.gz here by default.")] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Copy servers, keys, approvals, runs, figures and the audit log into one file. A hub may run meanwhile."""
    settings = settings_from(config)
    target = file or Path(f"naru-backup-{datetime.now().astimezone():%Y%m%d-%H%M%S}.tar.gz")
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=out, disable=not out.is_terminal, transient=True) as progress:
        task = progress.add_task("Copying", total=None)
        made = backups.make(
            settings.hub.data_dir, target, lambda done, of: progress.update(task, completed=done, total=of)
        )
    left = [*_not_in(settings.hub), *_documents_elsewhere(settings.hub)]
    told: dict[str, Any] = {"file": str(target), "files": sorted(made.files), "notIn": left}
    if as_json:
        print_json(told)
        return
    print(f"{len(made.files)} files of {settings.hub.data_dir} are in {target}.")
    print_note("It holds secrets: keep it as you keep keys.")
    for one in told["notIn"]:
        print_note(f"Not in it: {one}")


def _not_in(hub: HubSettings) -> list[str]:
    url = store_url(hub)
    path = local_path(url)
    if url.startswith("postgres"):
        return ["the servers in PostgreSQL: pg_dump copies them"]
    if path is not None and not path.expanduser().is_relative_to(hub.data_dir.expanduser()):
        return [f"the servers in {path}: copy that file too"]
    return []


def _documents_elsewhere(hub: HubSettings) -> list[str]:
    """`naru-data` is a program of its own, with a folder of its own setting."""
    file = DataSettings().documents_file
    if not file.exists() or file.is_relative_to(hub.data_dir.expanduser()):
        return []
    return [f"the documents in {file} (NARU_DATA_DIR): `naru data index` makes them again"]
