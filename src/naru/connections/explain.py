"""One answer to "why is this server not usable and what do I do" (N10)."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from naru.connections.link.connection import Connection
from naru.connections.state.faults import Failure
from naru.connections.state.starts import may_install
from naru.records import ServerStatus


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is wrong with a server, since when, when it is tried again, and what a person can do."""

    status: ServerStatus
    is_usable: bool
    summary: str
    """One or two sentences for a person."""
    remedy: str
    """What to do; empty when nothing is needed."""
    failure: Failure | None
    since_seconds: float | None
    """How long the trouble lasts, or the present state when all is well."""
    failed_seconds_ago: float | None
    """When the last failure was."""
    next_retry_seconds: float | None
    """When the next attempt comes; None when none is planned."""
    attempt: int
    max_attempts: int
    log_tail: str


_WORTH_SAYING_SECONDS = 3.0
_SIMPLE = {
    ServerStatus.PENDING: ("It is registered and was not connected yet.", "Connect it: naru servers connect {name}"),
    ServerStatus.CONNECTING: ("It is being connected.", ""),
    ServerStatus.DISCONNECTED: ("It was disconnected on request.", "Connect it: naru servers connect {name}"),
    ServerStatus.DISABLED: ("It is switched off in its record.", "Switch it on: naru servers enable {name}"),
}
"""Status → what it is, and what to do."""


def explain(connection: Connection, now: float) -> Explanation:
    """Explain a server's state; `now` is the event loop's time."""
    life = connection.life
    failure = life.last_failure
    wait = life.wait_seconds(now)
    began = life.failing_since if life.failing_since is not None else life.since
    summary, remedy = _words(connection, failure, wait, now - began, crash_loop=life.in_crash_loop(now))
    return Explanation(
        status=life.status,
        is_usable=connection.is_live or connection.is_parked,
        summary=summary,
        remedy=remedy,
        failure=failure,
        since_seconds=max(0.0, now - began),
        failed_seconds_ago=None if life.failed_at is None else max(0.0, now - life.failed_at),
        next_retry_seconds=wait,
        attempt=life.attempt,
        max_attempts=life.policy.max_attempts,
        log_tail="\n".join(connection.log_text.splitlines()[-20:]),
    )


def _words(
    connection: Connection, failure: Failure | None, wait: float | None, since: float, *, crash_loop: bool
) -> tuple[str, str]:
    status = connection.status
    if status is ServerStatus.CONNECTED:
        tools = len(connection.tools)
        return f"Connected with {tools} {'tool' if tools == 1 else 'tools'}.", " ".join(connection.catalogue.warnings)
    if connection.is_parked:
        tools = len(connection.tools)
        return f"It rests until a call needs it; {tools} {'tool is' if tools == 1 else 'tools are'} on offer.", ""
    if status in _SIMPLE:
        return _simply(connection, failure, since)
    if failure is None:
        return f"It is {status}.", ""
    began = f"For {duration(since)}, at" if since >= 1 else "Just now, at"
    parts = [f"{began} stage {failure.stage}: {failure.message}"]
    if crash_loop:
        parts.append("It failed again and again within a minute, so it is tried rarely.")
    if status is ServerStatus.NEEDS_AUTH:
        parts.append("It is not tried again by itself.")
    elif status is ServerStatus.DEGRADED:
        parts.append("It is still connected.")
    elif wait is not None:
        limit = connection.life.policy.max_attempts
        count = f"attempt {connection.life.attempt}" + (f" of {limit}" if limit else "")
        parts.append(f"Next try in {duration(wait)} ({count}), or with the next call.")
    elif connection.life.gave_up:
        parts.append("No further try is planned.")
    remedy = failure.remedy
    if wait is None and status is ServerStatus.FAILED:
        remedy = f"{remedy} Then connect it again.".strip()
    return " ".join(parts), remedy


def _simply(connection: Connection, failure: Failure | None, since: float) -> tuple[str, str]:
    summary, remedy = _SIMPLE[connection.status]
    remedy = remedy.format(name=shlex.quote(connection.record.name))
    if connection.status is ServerStatus.CONNECTING:
        if since >= _WORTH_SAYING_SECONDS and may_install(connection.record):
            summary = _installing(connection, since)
        if failure is not None:
            summary, remedy = f"{summary} Before: {failure.message}", failure.remedy or remedy
    return summary, remedy


def _installing(connection: Connection, since: float) -> str:
    last = next((line for line in reversed(connection.log_text.splitlines()) if line.strip()), "")
    said = f"; its log says last: {last.strip()[:120]}" if last else ""
    return f"It has been starting for {duration(since)} and is still installing, or waits for its turn{said}."


def duration(seconds: float) -> str:
    """Return a span for people: `4 s`, `3 min`, `2 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
