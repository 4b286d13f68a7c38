"""`naru keys`: make, list and revoke API keys (A-02) in the key file; a running hub sees it within a second."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from naru.cli.options import Config, settings_from
from naru.cli.terminal import AsJson, print_json, print_note, print_table
from naru.config import Settings
from naru.records import now_ms
from naru.stores.keys import KeyFile
from naru.telemetry.audit import audit_once

app = typer.Typer(
    add_completion=False, help="Make, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None
)

NONE_YET = "There are no keys: on loopback none is asked for. Make one: naru keys create user"
NONE_LEFT = "No key is left, and one is still asked for. Make another: naru keys create admin"


@app.command()
def create(
    role: Annotated[str, typer.Argument(help="read, user, operator or admin.")] = "user",
    owner: Annotated[str, typer.Option(help="Whose key it is.")] = "",
    days: Annotated[float | None, typer.Option(min=0.001, help="Days until it expires.")] = None,
    per_minute: Annotated[int | None, typer.Option(min=0, help="Requests a minute; 0 is no limit.")] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, once. The first key switches authentication on, also on loopback."""
    expires_at = now_ms() + int(days * 86_400_000) if days else None
    settings = settings_from(config)
    audit_once(settings, "key.created", role=role, owner=owner)
    keys = _key_file(settings)
    is_first = not keys.were_made()
    key, secret = keys.create(role, owner=owner, expires_at=expires_at, rate_limit_per_minute=per_minute)
    if as_json:
        print_json({**key.shown(), "key": secret})
        return
    print_note(f"Key {key.id} with the role {role}; it is not shown again:")
    print(secret)
    if is_first:
        print_note("From now on this Naru asks for keys. Commands take theirs from the variable NARU_SERVER__API_KEY.")


@app.command("list")
def list_keys(config: Config = None, as_json: AsJson = False) -> None:
    """Show all keys, without their secrets."""
    made = _key_file(settings_from(config))
    keys = made.list()
    if as_json:
        print_json([key.shown() for key in keys])
        return
    print_table(
        ("key", "role", "owner", "expires"),
        [(key.id, key.role, key.owner or "-", _moment(key.expires_at)) for key in keys],
    )
    if not keys:
        print_note(NONE_LEFT if made.were_made() else NONE_YET)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Its id, as `naru keys list` shows it.")],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a key; a running hub refuses it within a second."""
    settings = settings_from(config)
    audit_once(settings, "key.revoked", key=key_id)
    keys = _key_file(settings)
    keys.revoke(key_id)
    if as_json:
        print_json({"id": key_id, "revoked": True})
        return
    print(f"Revoked {key_id}")
    if not keys.list():
        print_note(NONE_LEFT)


def _moment(epoch_ms: int | None) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M") if epoch_ms else "never"


def _key_file(settings: Settings) -> KeyFile:
    return KeyFile(settings.hub.data_dir / "keys.json")
