"""What all connections of one manager share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from naru.connections.link.remembered import Memory
from naru.connections.rules.guard import Guard, NoGuard
from naru.connections.session.session import Hooks
from naru.connections.state.settings import ConnectionSettings
from naru.connections.state.starts import Starts
from naru.connections.transports.http.client import HttpClient
from naru.records import ServerRecord
from naru.stores.formats.expand import expand
from naru.stores.secrets.redact import REDACTOR
from naru.stores.secrets.values import secrets_of

Resolve = Callable[[ServerRecord], Mapping[str, Any]]
"""Returns a record's config with its placeholders filled in. Raises ConfigError naming field and variable."""
Changed = Callable[[str, str], None]
"""Gets the server's name and what changed: `status`, `tools`, `prompts` or `resources`."""


def as_stored(record: ServerRecord) -> Mapping[str, Any]:
    """Return a record's config as it is."""
    return record.config


def expanded(record: ServerRecord) -> Mapping[str, Any]:
    """Return a record's config with its placeholders filled in, after the redactor has learnt what is secret in it."""
    config = expand(record.config, server=record.name)
    REDACTOR.learn(secrets_of(record.config, config))
    return config


def ignore(server: str, what: str) -> None:
    """Do nothing about a change."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all connections of a manager share."""

    settings: ConnectionSettings = field(default_factory=ConnectionSettings)
    http: HttpClient = field(default_factory=HttpClient)
    hooks: Hooks = field(default_factory=Hooks)
    resolve: Resolve = as_stored
    changed: Changed = ignore
    memory: Memory = field(default_factory=Memory)
    guard: Guard = field(default_factory=NoGuard)
    starts: Starts = field(default_factory=lambda: Starts(ConnectionSettings().max_connecting))

    def config_of(self, record: ServerRecord) -> Mapping[str, Any]:
        """Return what a link is opened with, whoever wants it and whatever the rules were before (H12).

        Raises:
            NaruError: the rules do not admit the server now, or its config cannot be filled in.
        """
        self.guard.admit(record)
        return self.resolve(record)
