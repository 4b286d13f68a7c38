"""`naru restore`: put back what `naru backup` copied (N24)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from naru.cli.checks.problem import check_named
from naru.cli.options import Config, settings_from
from naru.cli.terminal.output import AsJson, print_json, print_note
from naru.config import HubSettings
from naru.stores import backup as backups
from naru.stores.open import store_url
from naru.stores.serving_lock import folder_in_use, serving_lock


def command(
    file: Annotated[Path, typer.Argument(help="What `naru backup` made.")],
    replace: Annotated[bool, typer.Option("--replace", help="Move what is there aside first.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Put a backup back. No hub may run on that data folder; what was there is moved aside, never removed."""
    check_named(file, remedy="Name what was made with: naru backup FILE")
    backups.check_backup(file)
    settings = settings_from(config)
    hub, me = settings.hub, "naru restore"
    is_free = serving_lock(store_url(hub), me, remedy="Stop it, then put the backup back.")
    with is_free, folder_in_use(hub.data_dir, me, alone=True):
        pass  # Raises while a hub serves this store or uses the folder; its own markers go with the folder.
    found, aside = backups.restore(file, settings.hub.data_dir, replace=replace or _only_marker(settings.hub))
    if as_json:
        print_json(
            {"files": sorted(found.files), "version": found.version, "movedAside": str(aside) if aside else None}
        )
        return
    made = datetime.fromtimestamp(found.made_at).astimezone()
    print(f"{len(found.files)} files of {made:%Y-%m-%d %H:%M} (Naru {found.version}) are in {settings.hub.data_dir}.")
    if aside is not None:
        print_note(f"What was there is in {aside}.")


def _only_marker(hub: HubSettings) -> bool:
    """Tell whether nothing but the marks of processes is in the data folder."""
    folder = hub.data_dir.expanduser()
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())
