"""`naru doctor`: try the model and every server once; say of each what is wrong and what to do (N10)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import typer

from naru.cli.options import BaseUrl, Config, Model, settings_from
from naru.cli.serve.listening import run
from naru.cli.terminal.called import as_called
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, plain, print_json
from naru.cli.terminal.told_once import check_store, told_once, unreadable
from naru.cli.terminal.working import connected
from naru.config import Settings
from naru.errors import NaruError, StoreError
from naru.hub import open_servers
from naru.models.open import open_backend
from naru.stores.secrets.redact import REDACTOR

LOG_LINES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing that was tried."""

    what: str
    is_well: bool
    summary: str
    remedy: str = ""
    log: str = ""
    """What a server's program said last on stderr."""


def command(
    model: Model = "",
    base_url: BaseUrl = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Exit with 1 when something does not work."""
    settings = settings_from(config, model__model=model, model__base_url=base_url)
    run(_report(settings, as_json))


async def _report(settings: Settings, as_json: bool) -> None:
    found = [await _model(settings), *await _servers(settings)]
    if as_json:
        print_json([asdict(one) for one in found])
    for one in [] if as_json else found:
        print(f"{'ok   ' if one.is_well else 'WRONG'} {one.what}: {plain(one.summary)}")
        if one.remedy:
            print(f"      what to do: {plain(as_called(one.remedy))}")
        for line in one.log.splitlines()[-LOG_LINES:]:
            print(f"      its log: {plain(line)}")
    if not all(one.is_well for one in found):
        raise typer.Exit(Exit.NOT_WELL)


async def _model(settings: Settings) -> Finding:
    try:
        backend = await open_backend(settings)
        try:
            names = await backend.models()
        finally:
            await backend.close()
    except NaruError as error:
        return Finding("model", False, error.message, error.remedy)
    return Finding("model", True, ", ".join(names) or "the endpoint lists no models")


async def _servers(settings: Settings) -> list[Finding]:
    try:
        async with open_servers(settings) as manager:
            check_store(manager)
            await connected(manager)
            explained = {name: manager.explain(name) for name in sorted(manager.connections)}
            unread = unreadable(manager)
    except NaruError as error:
        what = "store" if isinstance(error, StoreError) else "servers"
        return [Finding(what, False, error.message, error.remedy)]
    findings = [Finding(f"store {place}", False, what, "See: naru validate") for place, what in unread.items()]
    for name, found in explained.items():
        summary, remedy = told_once(found)
        log = REDACTOR.clean(found.failure.detail) if found.failure is not None and not found.is_usable else ""
        findings.append(Finding(f"server {name}", found.is_usable, f"{found.status}. {summary}", remedy, log))
    return findings
