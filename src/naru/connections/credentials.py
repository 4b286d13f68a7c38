"""Whose credentials go with a server's link: what its record says, and what a person gave or signed in for.

A record says `credentials`: `shared` (the default), `per-user`, or `forward`, which passes on the headers that
`forwardHeaders` names from a person's own requests. Of a person's own server nothing is anybody else's: not its tokens,
secrets, processes, lists or pins.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from yarl import URL

from naru.config import environment
from naru.connections.link.surroundings import expanded
from naru.connections.oauth.signins import TURN_SECONDS, SignIns
from naru.connections.rules.pins import identity_of
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.client import SIGNED_IN
from naru.connections.transports.http.tokens import grant_of
from naru.errors import ConfigError, ConflictError, NotFoundError, StoreError
from naru.persons import LOCAL, Person
from naru.records import ServerRecord
from naru.stores.formats.expand import MissingVariableError, expand, variables_of
from naru.stores.formats.inputs import variable_of
from naru.stores.secrets.redact import REDACTOR
from naru.stores.secrets.values import says_secret, secrets_of
from naru.stores.secrets.vault import SHARED, UnopenedError, Vault

SECRETS = "secrets"
MOST_SECRETS = 100
"""Secrets of one person for one server: they are sealed together, and any name can be given."""
_INPUT = variable_of("")
_BY_PERSON = "authorization_code"


def owner_of(record: ServerRecord, person: Person) -> str:
    """Return whose credentials a person's link to a server has: everybody's, or that person's own."""
    return SHARED if record.credentials == "shared" else person.id or LOCAL


def config_for(record: ServerRecord, owner: str, person: Person, signins: SignIns) -> Mapping[str, Any]:
    """Return a record's config with placeholders, forwarded headers and tokens filled in, for an owner's link.

    Raises:
        ConfigError: something is missing; says who has to give it.
    """
    own = own_secrets(signins.vault, owner, record)
    if record.credentials == "shared" and not own:
        return filled_in(record, expanded(record), signins, owner)
    given = dict(environment())
    if record.credentials != "shared":  # the hub's own secrets are nobody's in particular
        given = {name: value for name, value in given.items() if not says_secret(name) and not name.startswith(_INPUT)}
    try:
        config = expand(record.config, server=record.name, variables={**given, **own})
    except MissingVariableError as error:
        if record.credentials == "shared":
            raise
        names = error.message.rstrip(".")
        raise ConfigError(
            f"Your own credentials are wanted: {names}.",
            remedy=f"Give yours: naru servers secret set {record.name} NAME; or in the console.",
        ) from error
    REDACTOR.learn(secrets_of(record.config, config) | set(own.values()))
    if record.credentials == "forward":  # these are known as long as their link is there: others may follow
        config = {**config, "headers": {**(config.get("headers") or {}), **forwarded(record, person)}}
    return filled_in(record, config, signins, owner)


def filled_in(record: ServerRecord, config: Mapping[str, Any], signins: SignIns, owner: str) -> Mapping[str, Any]:
    """Return a config with the tokens of who is signed in at the server, where it brings no credentials of its own."""
    url = config.get("url")
    if not isinstance(url, str) or not signins.vault.exists():
        return config
    if any(name.lower() == "authorization" for name in config.get("headers") or {}):
        return config
    signed = signins.source(owner, record.name, url)
    return config if signed is None else {**config, SIGNED_IN: signed}


def may_sign_in(record: ServerRecord, person: Person, *, tokens_too: bool = False) -> bool:
    """Tell whether a person may sign in at a server in the console, and whether that is what would go to it.

    `tokens_too` says that who comes with an issuer's token can open the console as well.
    """
    config = record.config
    given = [*(config.get("headers") or {}), *record.forward_headers.values()]
    try:
        url = URL(str(config["url"]))
        is_given = bool(url.user or grant_of(config.get("auth") or {"grant": _BY_PERSON}, url))
    except (KeyError, ValueError, LinkError):
        return False
    if is_given or "authorization" in map(str.lower, given):
        return False
    is_at_console = bool(person.id) and (tokens_too or "#" not in person.id)
    return is_at_console and (record.credentials != "shared" or person.access in ("operator", "admin"))


def forwarded(record: ServerRecord, person: Person) -> dict[str, str]:
    """Return the headers of a person's request that go on to this server, by their names there. Raises ConfigError."""
    wanted = record.forward_headers
    by_name = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in person.headers}
    found = {there: by_name[here.lower()] for here, there in wanted.items() if here.lower() in by_name}
    if not found:
        raise ConfigError(
            f"Your own credentials are wanted: none of the headers {', '.join(wanted)} came with the request.",
            remedy="Send them with each request; they go to this server alone.",
        )
    return found


def digest_of(records: Sequence[ServerRecord], person: Person) -> str:
    """Return what stands for the headers that a person's request forwards to these servers; empty for none."""
    wanted = {here.lower() for record in records for here in record.forward_headers}
    if not wanted:
        return ""
    held = sorted((name.lower(), value) for name, value in person.headers if name.decode("latin-1").lower() in wanted)
    return hashlib.sha256(repr(held).encode()).hexdigest() if held else ""


# Secrets that a person stored


def own_secrets(vault: Vault, owner: str, record: ServerRecord) -> dict[str, str]:
    """Return what a person stored for a server, by variable, while the server is still the one it was stored for."""
    kept = vault.read(owner, record.name, SECRETS)
    if kept is None or kept["for"] != identity_of(record):
        return {}
    return {str(name): str(value) for name, value in kept["values"].items()}


async def store_secret(vault: Vault, owner: str, record: ServerRecord, name: str, value: str) -> None:
    """Keep a secret for `${NAME}` or `${input:NAME}` of a record. Raises ConflictError, StoreError."""
    REDACTOR.learn([value])

    def added(kept: dict[str, str]) -> dict[str, str]:
        if name not in kept and len(kept) >= 2 * MOST_SECRETS:
            raise ConflictError(
                f"{MOST_SECRETS} secrets are stored for {record.name!r} already.",
                remedy=f"See which, and remove what it does not need: naru servers secret list {record.name}",
            )
        return {**kept, name: value, variable_of(name): value}

    await _edit(vault, owner, record, added)


async def forget_secret(vault: Vault, owner: str, record: ServerRecord, name: str) -> None:
    """Forget a secret. Raises NotFoundError, StoreError."""

    def without(kept: dict[str, str]) -> dict[str, str]:
        if name not in kept:
            raise NotFoundError(
                f"Nothing is stored as {name!r} for {record.name!r}.",
                remedy=f"See what is: naru servers secret list {record.name}",
            )
        return {key: value for key, value in kept.items() if key not in (name, variable_of(name))}

    await _edit(vault, owner, record, without)


async def _edit(
    vault: Vault, owner: str, record: ServerRecord, edit: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    """Bring what is stored to what `edit` makes of it as it is now, at whichever hub and process it was changed."""

    def change() -> None:
        vault.pull(owner, record.name, SECRETS)
        values = edit(_readable(vault, owner, record))
        vault.write(owner, record.name, SECRETS, {"for": identity_of(record), "values": values})

    async with vault.lease(f"{SECRETS}/{record.name}/{owner}").held(TURN_SECONDS) as is_ours:
        if not is_ours:
            raise StoreError(
                f"The secrets of {record.name!r} are being changed by another process.", remedy="Try again."
            )
        await asyncio.to_thread(change)


def uses_secret(record: ServerRecord, name: str) -> bool:
    """Tell whether a record's link may have a secret of that name in it."""
    return not variables_of(record.config).isdisjoint((name, variable_of(name)))


def secret_names(vault: Vault, owner: str, record: ServerRecord) -> list[str]:
    """Return the names of what a person stored for a server. Raises StoreError."""
    return sorted(name for name in _readable(vault, owner, record) if not name.startswith(_INPUT))


def _readable(vault: Vault, owner: str, record: ServerRecord) -> dict[str, str]:
    """Return what is stored; nothing where another key has sealed it, which can only be stored again."""
    with contextlib.suppress(UnopenedError):
        return own_secrets(vault, owner, record)
    return {}
