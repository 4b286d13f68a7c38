"""`naru approvals`: see and answer the calls that wait for a person's yes, whichever process holds them (N9).

The running hub is asked, so that its audit log says who answered; where none runs, the data folder is read.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub
from naru.cli.terminal.output import AsJson, group, plain, print_json, print_note, print_outcome, print_table
from naru.config import Settings
from naru.messages import JsonObject
from naru.tools.supervision.approvals import Approvals
from naru.web.admin.approvals import ApprovalDesk

app = group("Answer calls that wait for a person's yes.")

CallId = Annotated[str, typer.Argument(help="Its id, as `naru approvals list` shows it.")]
PATH = "/api/approvals"


@app.command("list")
def list_waiting(config: Config = None, as_json: AsJson = False) -> None:
    """Show the calls that wait, and what was allowed for always."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    found = hub.ask(PATH) if hub.answers() else _desk(settings).shown()
    if as_json:
        print_json(found)
        return
    for one in found["waiting"]:
        left = max(0, round(one["expiresAt"] / 1000 - time.time()))
        print(f"{one['id']}  {one['server']}/{plain(one['tool'])}  for {one['caller'] or 'local'}, {left} s left")
        print("\n".join(f"    {line}" for line in plain(one["arguments"]).splitlines()))
    print_table(
        ("always", "tool", "caller", "given by"),
        [(one["id"], f"{one['server']}/{one['tool']}", one["caller"], one["givenBy"]) for one in found["standing"]],
    )
    if not found["waiting"]:
        print_note("No call waits.")


@app.command()
def allow(
    call_id: CallId,
    always: Annotated[bool, typer.Option("--always", help="This caller may call this tool from now on.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Let a waiting call be made."""
    _report(_answer(call_id, "always" if always else "once", config), "is called", as_json=as_json)


@app.command()
def deny(call_id: CallId, config: Config = None, as_json: AsJson = False) -> None:
    """Refuse a waiting call."""
    _report(_answer(call_id, "deny", config), "is not called", as_json=as_json)


@app.command()
def revoke(
    approval_id: Annotated[str, typer.Argument(help="Of what was allowed for always.")],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Take back what was allowed for always."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    if hub.answers():
        hub.ask(f"{PATH}/standing/{quote(approval_id, safe='')}", method="DELETE")
    else:
        asyncio.run(_desk(settings).approvals.revoke(approval_id))
    print_outcome({"revoked": approval_id}, f"Revoked {approval_id}", as_json=as_json)


def _report(one: JsonObject, outcome: str, *, as_json: bool) -> None:
    print_outcome(one, f"{one['server']}/{plain(one['tool'])} {outcome}", as_json=as_json)


def _answer(call_id: str, decision: str, config: Path | None) -> JsonObject:
    settings = settings_from(config)
    hub = RunningHub(settings)
    if hub.answers():
        answered: JsonObject = hub.ask(f"{PATH}/{quote(call_id, safe='')}", method="POST", body={"decision": decision})
        return answered
    return asyncio.run(_desk(settings).give(call_id, decision))


def _desk(settings: Settings) -> ApprovalDesk:
    """Return the approvals of the data folder, for where no hub runs."""
    approvals = Approvals(settings.approvals, settings.hub.data_dir / "approvals.json")
    approvals.load()
    return ApprovalDesk(approvals)
