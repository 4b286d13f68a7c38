"""`naru keys`: make, show, rotate and revoke API keys (A-02) in their file; a running hub sees it within a second."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated

import typer

from naru.cli.options import Config, settings_from
from naru.cli.terminal.output import AsJson, group, print_json, print_note, print_table
from naru.config import Settings
from naru.errors import NotFoundError, UserError
from naru.persons import Bounds
from naru.records import now_ms
from naru.stores.kept.spending import Spending, Spent
from naru.stores.secrets.keys import KeyFile
from naru.telemetry.audit import audit_once

app = group("Make, show, rotate and revoke API keys.")

KeyId = Annotated[str, typer.Argument(help="Its id, as `naru keys list` shows it.")]
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
NONE_YET = "There are no keys: on loopback none is asked for. Make one: naru keys create user"
NONE_LEFT = "No key is left, and one is still asked for. Make another: naru keys create admin"


@app.command()
def create(
    role: Annotated[str, typer.Argument(help="read, user, operator or admin.")] = "user",
    owner: Annotated[str, typer.Option(help="Whose key it is.")] = "",
    days: Annotated[float | None, typer.Option(min=0.001, help="Days until it expires.")] = None,
    expires: Annotated[str, typer.Option(help="When it expires: 2027-01-31, 30d, 12h.")] = "",
    per_minute: Annotated[int | None, typer.Option(min=0, help="Requests a minute; 0 is no limit.")] = None,
    servers: Annotated[
        str | None, typer.Option(help="The only servers it sees: `hr,docs*`; `!name` takes away.")
    ] = None,
    tools: Annotated[
        str | None, typer.Option(help="The only tools it sees: `hr/list_*`, or `search` at any server.")
    ] = None,
    models: Annotated[str | None, typer.Option(help="The only models it sees: `qwen*`.")] = None,
    read_only: Annotated[bool, typer.Option(help="Only tools that say that they change nothing.")] = False,
    requests_per_day: Annotated[int | None, typer.Option(min=0, help="Requests a day (UTC).")] = None,
    tokens_per_day: Annotated[int | None, typer.Option(min=0, help="Tokens of models a day (UTC).")] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, once. The first key switches authentication on, also on loopback."""
    if days and expires:
        raise UserError("--days and --expires both say when the key expires.", remedy="Say one of them.")
    expires_at = moment_of(f"{days}d" if days else expires) if days or expires else None
    names = (_list("--servers", servers), _list("--tools", tools), _list("--models", models))
    bounds = Bounds(*names, read_only, requests_per_day, tokens_per_day)
    settings = settings_from(config)
    keys = _key_file(settings)
    is_first = not keys.were_made()
    key, secret = keys.create(role, owner=owner, expires_at=expires_at, rate_limit_per_minute=per_minute, bounds=bounds)
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
        ("key", "role", "owner", "expires", "limits"),
        [(key.id, key.role, key.owner or "-", _moment(key.expires_at), _limits(key.bounds) or "-") for key in keys],
    )
    if not keys:
        print_note(NONE_LEFT if made.were_made() else NONE_YET)


@app.command()
def show(key_id: KeyId, config: Config = None, as_json: AsJson = False) -> None:
    """Show a key, without its secret. With its limits and what it has used today."""
    settings = settings_from(config)
    key = next((one for one in _key_file(settings).list() if one.id == key_id), None)
    if key is None:
        raise NotFoundError(f"There is no key {key_id!r}.", remedy="See: naru keys list")
    spending = Spending(settings.hub.data_dir / "spending.db")
    spent = spending.of(key.id) if spending.path.exists() else Spent()
    spending.close()
    if as_json:
        print_json({**key.shown(), "requests_today": spent.requests, "tokens_today": spent.tokens})
        return
    rows = [("key", key.id), ("role", key.role), ("owner", key.owner or "-"), ("made", _moment(key.created_at))]
    rows += [("expires", _moment(key.expires_at)), ("limits", _limits(key.bounds) or "none")]
    rows += [("today", f"{spent.requests} requests, {spent.tokens} tokens")] if _has_budget(key.bounds) else []
    rows += [("old secret", f"good until {_moment(key.previous_until)}")] if key.previous_until else []
    print_table(("what", "value"), rows)


@app.command()
def rotate(
    key_id: KeyId,
    overlap: Annotated[str, typer.Option(help="How long the old secret stays good: 24h, 7d.")] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Give a key another secret and print it, once. Id, limits and what belongs to the key stay."""
    seconds = (moment_of(overlap) - now_ms()) / 1000 if overlap else 0.0
    settings = settings_from(config)
    key, secret = _key_file(settings).rotate(key_id, overlap_seconds=max(0.0, seconds))
    if as_json:
        print_json({**key.shown(), "key": secret})
        return
    until = f"the old one is good until {_moment(key.previous_until)}" if key.previous_until else "the old one is void"
    print_note(f"The new secret of {key.id}, which is not shown again; {until}:")
    print(secret)


@app.command()
def revoke(
    key_id: KeyId,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a key; a running hub refuses it within a second."""
    settings = settings_from(config)
    keys = _key_file(settings)
    keys.revoke(key_id)
    if as_json:
        print_json({"id": key_id, "revoked": True})
        return
    print(f"Revoked {key_id}")
    if not keys.list():
        print_note(NONE_LEFT)


def _moment(epoch_ms: int | None) -> str:
    if not epoch_ms:
        return "never"
    try:
        return datetime.fromtimestamp(epoch_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return "after the year 9999"


def moment_of(text: str) -> int:
    """Read a moment: a day (its end, here), a time, or a span from now; in epoch milliseconds. Raises UserError."""
    span = _SPAN.fullmatch(text.strip().lower())
    try:
        if span is not None:
            moment = datetime.now().astimezone() + timedelta(seconds=float(span[1]) * _SECONDS[span[2]])
        else:
            moment = datetime.fromisoformat(text.strip())
            if len(text.strip()) <= len("2027-01-31"):
                moment += timedelta(days=1)
        epoch_ms = int(moment.astimezone().timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        what = "is no moment" if isinstance(error, ValueError) else "is after the year 9999"
        raise UserError(f"{text!r} {what}.", remedy="Say 2027-01-31, or a span: 30d, 12h.") from error
    if span is not None:
        return epoch_ms
    if epoch_ms <= now_ms():
        raise UserError(f"{text!r} is over already.", remedy="Say a later day, or a span: 30d, 12h.")
    return epoch_ms


def _list(option: str, text: str | None) -> tuple[str, ...] | None:
    """Read names; a variable of a script that is empty is not taken for no limit."""
    if text is None:
        return None
    if not text.strip():
        raise UserError(f"{option} was given, and names nothing.", remedy="Leave it out for no limit.")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _has_budget(bounds: Bounds) -> bool:
    return bounds.requests_per_day is not None or bounds.tokens_per_day is not None


def _limits(bounds: Bounds) -> str:
    said = [
        f"{name} {','.join(names) or 'none'}"
        for name, names in (("servers", bounds.servers), ("tools", bounds.tools), ("models", bounds.models))
        if names is not None
    ]
    said += ["read-only"] if bounds.read_only else []
    said += [f"{bounds.requests_per_day} requests a day"] if bounds.requests_per_day is not None else []
    said += [f"{bounds.tokens_per_day} tokens a day"] if bounds.tokens_per_day is not None else []
    return "; ".join(said)


def _key_file(settings: Settings) -> KeyFile:
    """Return the keys; a change of one is in the audit log before it is made (S-61)."""
    roles = tuple(settings.server.roles)
    return KeyFile(settings.hub.data_dir / "keys.json", roles=roles, tell=partial(audit_once, settings))
