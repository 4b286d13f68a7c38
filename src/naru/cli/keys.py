"""`naru keys`: make, list and revoke API keys (A-02) in the key file; a running hub sees it within a second."""

from __future__ import annotations

from typing import Annotated

import typer

from naru.cli.options import Config, settings_from
from naru.config import Settings
from naru.records import now_ms
from naru.stores.keys import KeyFile
from naru.telemetry.audit import audit_once

app = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def create(
    role: Annotated[str, typer.Argument(help="read, user, operator or admin.")] = "user",
    owner: Annotated[str, typer.Option(help="Whose key it is.")] = "",
    days: Annotated[float | None, typer.Option(min=0.001, help="Days until it expires.")] = None,
    per_minute: Annotated[int | None, typer.Option(min=0, help="Requests a minute; 0 is no limit.")] = None,
    config: Config = None,
) -> None:
    """Make a key and print it, once. The first key switches authentication on, also on loopback."""
    expires_at = now_ms() + int(days * 86_400_000) if days else None
    settings = settings_from(config)
    audit_once(settings, "key.created", role=role, owner=owner)
    keys = _key_file(settings)
    key, secret = keys.create(role, owner=owner, expires_at=expires_at, rate_limit_per_minute=per_minute)
    typer.echo(f"Key {key.id} with the role {role}; it is not shown again:", err=True)
    print(secret)


@app.command("list")
def list_keys(config: Config = None) -> None:
    """Show all keys, without their secrets."""
    for key in _key_file(settings_from(config)).list():
        expiry = f"expires at {key.expires_at}" if key.expires_at else "no expiry"
        print(f"{key.id}\t{key.role}\t{key.owner or '-'}\t{expiry}")


@app.command()
def revoke(key_id: str, config: Config = None) -> None:
    """Revoke a key."""
    settings = settings_from(config)
    audit_once(settings, "key.revoked", key=key_id)
    _key_file(settings).revoke(key_id)
    print(f"Revoked {key_id}")


def _key_file(settings: Settings) -> KeyFile:
    return KeyFile(settings.hub.data_dir / "keys.json")
