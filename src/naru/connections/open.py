"""From settings to a manager with its rules: timeouts (H10), policy and pins (H12)."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from naru.config import McpSettings, Settings
from naru.connections.manager import Manager
from naru.connections.oauth.signins import SignIns, SignInSettings
from naru.connections.rules.pins import PinBook
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.errors import StoreUnavailableError
from naru.stores.base import Store
from naru.stores.secrets.vault import Vault
from naru.stores.shared.open import common_rows
from naru.tools.supervision.calls import Supervision


def open_guard(settings: Settings, *, asks_for_keys: bool) -> PolicyGuard:
    """Return the rules of this installation, with the pins of the data folder.

    Raises:
        StoreError: the pins cannot be read.
    """
    security = settings.mcp.security
    pins = PinBook(settings.hub.data_dir / "pins.json")
    pins.load()
    quarantines = asks_for_keys if security.quarantine == "auto" else security.quarantine == "on"
    return PolicyGuard(Policy(security), pins, quarantines=quarantines)


def open_manager(
    settings: Settings,
    store: Store,
    *,
    asks_for_keys: bool,
    supervision: Supervision | None = None,
    me: str = "",
) -> Manager:
    """Return a manager over an open store; it connects nothing yet.

    Args:
        settings: the sections `mcp` and `hub` are used.
        store: where the records are.
        asks_for_keys: whether callers need a key; `quarantine: auto` follows it.
        supervision: what stands round every tool call.
        me: this hub among those that share a database.

    Raises:
        StoreError: the pins cannot be read.
    """
    guard = open_guard(settings, asks_for_keys=asks_for_keys)
    manager = Manager(
        store,
        settings=replace(connection_settings(settings.mcp), kept_in=settings.hub.data_dir),
        guard=guard,
        supervision=supervision,
    )
    manager.signins = open_signins(settings, me)
    return manager


def open_signins(settings: Settings, me: str = "") -> SignIns:
    """Return who is signed in where, from the vault of the data folder, which other hubs may have, too."""
    vault = Vault(settings.hub.data_dir, settings.hub.vault_key.get_secret_value(), common_rows(settings.hub, me))
    if not me:  # a command, whose folder's copy nobody keeps up
        with contextlib.suppress(StoreUnavailableError):
            vault.join()
    wanted = settings.mcp.sign_in
    at_console = bool(settings.server.oauth.client_id)
    given = SignInSettings(tuple(wanted.hosts), wanted.client_document, persons_at_console=at_console)
    return SignIns(vault, given)


def connection_settings(mcp: McpSettings) -> ConnectionSettings:
    """Return how connections are treated, from the section `mcp`."""
    again = mcp.reconnection
    return ConnectionSettings(
        connect_timeout_seconds=mcp.connection_timeout_ms / 1000,
        is_lazy=mcp.lazy_start,
        idle_stop_seconds=mcp.idle_stop_ms / 1000,
        reconnect=ReconnectPolicy(
            enabled=again.enabled,
            max_attempts=again.max_attempts,
            initial_delay_seconds=again.initial_delay_ms / 1000,
            multiplier=again.multiplier,
            max_delay_seconds=again.max_delay_ms / 1000,
        ),
    )
