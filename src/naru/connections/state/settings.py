"""Limits and deadlines of connections, in one value."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.starts import INSTALL_SECONDS, may_install
from naru.records import ServerRecord

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How every server is treated. Times in seconds, sizes in bytes."""

    connect_timeout_seconds: float = 30.0
    """From launch or dial to tools listed; also the longest a probe for a transport or an era may take."""
    probe_timeout_seconds: float = 3.0
    """How long `server/discover` may stay unanswered before the older handshake is tried beside it."""
    list_timeout_seconds: float = 30.0
    request_timeout_seconds: float = 60.0
    """Deadline of a request that brings none (R-02)."""
    request_limit_seconds: float = 300.0
    """Longest life of any request, whatever progress it reports (R-02)."""
    close_timeout_seconds: float = 2.0
    """Patience with each step of a close: stdin closed, then SIGTERM, then SIGKILL."""
    ping_interval_seconds: float = 15.0
    ping_timeout_seconds: float = 8.0
    """Two pings in a row unanswered: the link is dead (R-14)."""
    is_lazy: bool = False
    """Servers whose tools are remembered start at their first call."""
    idle_stop_seconds: float = 0.0
    """A link that carried no request for so long is parked; 0 keeps it."""
    kept_in: Path | None = None
    """Folder for what outlives this process: listings of parked servers, renewed tokens; None keeps nothing."""
    knock_interval_seconds: float = 1.0
    """How often a TCP dial tells whether a refused server is back, between retries; 0 never knocks."""
    max_frame_bytes: int = 8 * MIB
    """Longest line of a stdio server (R-07)."""
    max_body_bytes: int = 16 * MIB
    """Longest decoded body or event of an HTTP server (R-07, R-08)."""
    max_bad_lines: int = 100
    """So many lines in a row that are not JSON-RPC: the child is restarted (R-04)."""
    log_bytes: int = 64 * 1024
    """What is kept of a child's stderr (R-40)."""
    max_pages: int = 200
    max_items: int = 10_000
    """Longest list that is read from one server (R-20)."""
    refresh_interval_seconds: float = 1.0
    """Least time between two refreshes on list_changed (R-19)."""
    max_concurrent: int = 10
    max_queued: int = 100
    queue_timeout_seconds: float = 5.0
    """Requests to one server at a time, waiting, and how long they wait (R-35)."""
    max_connecting: int = field(default_factory=lambda: max(4, 2 * (os.cpu_count() or 1)))
    """Programs that start side by side: a budget by the machine's cores (R-31)."""
    reconnect: ReconnectPolicy = field(default_factory=ReconnectPolicy)


def settings_for(record: ServerRecord, settings: ConnectionSettings) -> ConnectionSettings:
    """Return how one server is treated: what its entry says of patience and sizes wins."""
    default = settings.connect_timeout_seconds
    seconds = record.start_seconds(max(default, INSTALL_SECONDS) if may_install(record) else default)
    return replace(
        settings,
        connect_timeout_seconds=seconds,
        list_timeout_seconds=max(settings.list_timeout_seconds, seconds),
        max_frame_bytes=record.answer_bytes or settings.max_frame_bytes,
        max_body_bytes=record.answer_bytes or settings.max_body_bytes,
    )
