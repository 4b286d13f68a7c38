"""Whose credentials go with a server's link: what its record says, and what a person gave or signed in for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.connections.oauth.signins import SignIns
from naru.connections.transports.http_client import SIGNED_IN
from naru.persons import Person
from naru.records import ServerRecord
from naru.stores.vault import SHARED

LOCAL = "local"
"""Who is at this machine: on an open loopback, and in commands."""


def owner_of(record: ServerRecord, person: Person) -> str:
    """Return whose credentials a person's link to a server has: everybody's, or that person's own."""
    return SHARED if record.credentials == "shared" else person.id or LOCAL


def filled_in(
    record: ServerRecord, config: Mapping[str, Any], signins: SignIns, owner: str = SHARED
) -> Mapping[str, Any]:
    """Return a config with the tokens of who is signed in at the server, where it brings no credentials of its own."""
    url = config.get("url")
    if not isinstance(url, str) or not signins.vault.exists():
        return config
    if any(name.lower() == "authorization" for name in config.get("headers") or {}):
        return config
    signed = signins.source(owner, record.name, url)
    return config if signed is None else {**config, SIGNED_IN: signed}
