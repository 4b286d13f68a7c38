"""What the admin API says and hears about servers (H9): camelCase, times in epoch milliseconds, secrets masked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from naru.connections.explain import Explanation
from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.connections.personal import pinned_as
from naru.connections.rules.pins import definition_of
from naru.connections.rules.policy import PolicyGuard, argv_shown
from naru.messages import JsonObject
from naru.persons import current_person, reach
from naru.records import ServerRecord, TransportType, now_ms
from naru.stores.formats.spellings import COMMON_KEYS, PROGRAM_KEYS, URL_KEYS
from naru.stores.secrets.redact import REDACTOR, masked_config
from naru.web.bodies import UnusableBodyError
from naru.web.korean import spoken

PENDING = ("pending", "changed")
"""What is said of a withheld tool that waits for approval."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class ServerBody(_Wire):
    """A server to register: name, how to reach it, whether to connect it."""

    name: str
    description: str | None = None
    transport_type: str | None = None
    """`STDIO`, `SSE` or `HTTP` in any spelling; without it a command means STDIO, and a URL is tried as both."""
    config: dict[str, Any] = Field(default_factory=dict)
    version: str | None = None
    auto_connect: bool = True


class ServerChange(_Wire):
    """What to change of a server; what is left out stays. Read-only members may be sent back as they were read."""

    name: str | None = None
    description: str | None = None
    transport_type: str | None = None
    config: dict[str, Any] | None = None
    version: str | None = None
    auto_connect: bool | None = None


class ToolNames(_Wire):
    """Tools to approve, each with the `sha256` that was shown, or their names alone; all when left out."""

    tools: dict[str, str] | list[str] | None = None


class LastFailure(_Wire):
    """What went wrong last (N10)."""

    stage: str
    code: str
    message: str
    at: int | None = None
    since: int | None = None
    next_retry_at: int | None = None


class ServerSummary(_Wire):
    """A server in a list."""

    id: str
    name: str
    description: str | None = None
    transport_type: str | None
    auto_connect: bool
    status: str
    tool_count: int
    version: str | None = None
    last_error: str | None = None
    last_error_at: int | None = None
    last_failure: LastFailure | None = None
    runs_at: str | None = None
    """Of a program that runs once for all hubs: `here`, or the address of the hub that runs it."""
    created_at: int
    updated_at: int


class ServerExplanation(_Wire):
    """Why a server is not usable, and what to do."""

    status: str
    is_usable: bool
    summary: str
    remedy: str
    last_failure: LastFailure | None = None
    attempt: int = 0
    max_attempts: int = 0
    log_tail: str = ""


class WithheldTool(_Wire):
    """A tool that is not offered."""

    name: str
    status: str
    reason: str
    diff: list[str] = Field(default_factory=list)
    sha256: str = ""
    """Of what `diff` shows; empty where nobody can approve it."""


class ServerDetail(ServerSummary):
    """A server with everything there is to know."""

    config: dict[str, Any]
    tools: list[str]
    withheld_tools: list[WithheldTool] = Field(default_factory=list)
    explanation: ServerExplanation
    launch: dict[str, Any] | None = None
    """For a program: its command line with every character visible, and the names of its variables (S-26)."""
    protocol_version: str | None = None
    server_info: dict[str, Any] | None = None
    warnings: list[str] = Field(default_factory=list)


def check_config_keys(transport: TransportType | None, config: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    """Refuse keys that do not exist or belong to the other kind of transport (S-21).

    Args:
        transport: the record's.
        config: what was sent.
        kept: the stored config, whose unknown keys may be sent back.

    Raises:
        UnusableBodyError: names the key.
    """
    own = PROGRAM_KEYS if transport is TransportType.STDIO else URL_KEYS
    other = (PROGRAM_KEYS | URL_KEYS) - own
    for key in config:
        if key in other:
            raise UnusableBodyError(f"config.{key} does not go with transport {transport or 'HTTP or SSE'}.")
        if key not in own and key not in COMMON_KEYS and key not in kept:
            raise UnusableBodyError(
                f"config.{key} does not exist.", remedy=f"Known: {', '.join(sorted(own | COMMON_KEYS))}."
            )


def etag_of(record: ServerRecord) -> str:
    """Return the version of a record for ETag and If-Match."""
    text = record.model_dump_json()
    return f'"{record.updated_at}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"'


def summary_of(manager: Manager, record: ServerRecord) -> dict[str, Any]:
    """Return a server as lists show it."""
    return ServerSummary(**_summary(manager, record)).model_dump(by_alias=True, exclude_none=True) | {
        "transportType": record.transport_type
    }


def detail_of(manager: Manager, record: ServerRecord) -> dict[str, Any]:
    """Return a server with its config, tools and explanation."""
    connection = manager.connections.get(record.name)
    detail = ServerDetail(
        **_summary(manager, record),
        config=masked_config(record.config),
        tools=[tool.name for tool in manager.tools(record.name)] if connection else [],
        withheld_tools=withheld_of(manager, record.name),
        explanation=as_spoken(explanation_of(manager, record.name)),
        launch=_launch(record),
        protocol_version=(connection.protocol_version or None) if connection else None,
        server_info=(connection.server_info or None) if connection else None,
        warnings=_warnings(manager, record, connection),
    )
    return detail.model_dump(by_alias=True, exclude_none=True) | {"transportType": record.transport_type}


def explanation_of(manager: Manager, name: str) -> ServerExplanation:
    """Return the answer to "why is this server not usable and what do I do" (N10)."""
    if name not in manager.connections:
        return ServerExplanation(
            status="PENDING", is_usable=False, summary="It is stored, and not taken up yet.", remedy="Connect it."
        )
    found = manager.explain(name)
    return ServerExplanation(
        status=found.status,
        is_usable=found.is_usable,
        summary=REDACTOR.clean(found.summary),
        remedy=REDACTOR.clean(found.remedy),
        last_failure=_failure(found),
        attempt=found.attempt,
        max_attempts=found.max_attempts,
        log_tail=REDACTOR.clean(found.log_tail) if _may_read_log(manager, name) else "",
    )


def _may_read_log(manager: Manager, name: str) -> bool:
    """Tell whether whoever asks may see what a server wrote of all its callers: only who may ask for its log."""
    return current_person.get().access not in ("read", "user") or name in manager.personal_servers


def as_spoken(found: ServerExplanation) -> ServerExplanation:
    """Return an explanation in the language of who asks."""
    code = f"server:{found.last_failure.code}" if found.last_failure else ""
    return found.model_copy(update={"summary": spoken(found.summary, code), "remedy": spoken(found.remedy)})


def withheld_of(manager: Manager, name: str) -> list[WithheldTool]:
    """Return the tools of a server that are not offered, with the difference to what was approved."""
    connection = manager.connections.get(name)
    guard = manager.guard
    if connection is None or not isinstance(guard, PolicyGuard):
        return []
    pinned = pinned_as(connection)
    pins, seen = guard.pins.pins(pinned.name), reach()
    hints = {tool.name: tool.annotations for tool in connection.tools}
    return [
        WithheldTool(
            name=tool.name,
            status=tool.status,
            reason=spoken(tool.reason),
            **(
                {"diff": pin.diff(), "sha256": pin.sha256}
                if tool.status in PENDING and (pin := pins.get(tool.name))
                else {}
            ),
        )
        for tool in guard.withheld(pinned, connection.tools)
        if seen.tool(name, tool.name, hints.get(tool.name))
    ]


def tools_of(manager: Manager, name: str) -> list[JsonObject]:
    """Return the offered tools of a server with their definitions and how they stand to what was approved."""
    guard = manager.guard
    connection = manager.connections.get(name)
    pinned = pinned_as(connection).name if connection is not None else name
    pins = guard.pins.pins(pinned) if isinstance(guard, PolicyGuard) else {}
    shown: list[JsonObject] = []
    for tool in manager.tools(name):
        pin = pins.get(tool.name)
        standing = {"sha256": pin.sha256, "status": pin.status, "diff": pin.diff()} if pin else {}
        shown.append(definition_of(tool) | standing)
    return shown


def _summary(manager: Manager, record: ServerRecord) -> dict[str, Any]:
    connection = manager.connections.get(record.name)
    failure = _failure(manager.explain(record.name)) if connection else None
    return {
        "id": record.id,
        "name": record.name,
        "description": record.description,
        "transport_type": record.transport_type,
        "auto_connect": record.auto_connect,
        "status": (connection.status if connection else "PENDING"),
        "tool_count": len(manager.tools(record.name)) if connection else 0,
        "version": record.version,
        "last_error": failure.message if failure else None,
        "last_error_at": failure.at if failure else None,
        "last_failure": failure,
        "runs_at": manager.http.once.where.get(record.name) if manager.http.once else None,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _failure(found: Explanation) -> LastFailure | None:
    if found.failure is None:
        return None
    now = now_ms()

    def moment(seconds: float | None, sign: int) -> int | None:
        return None if seconds is None else now + sign * int(seconds * 1000)

    return LastFailure(
        stage=found.failure.stage,
        code=found.failure.code,
        message=spoken(REDACTOR.clean(found.failure.message), f"server:{found.failure.code}"),
        at=moment(found.failed_seconds_ago, -1),
        since=None if found.is_usable else moment(found.since_seconds, -1),
        next_retry_at=moment(found.next_retry_seconds, 1),
    )


def _launch(record: ServerRecord) -> dict[str, Any] | None:
    if record.transport_type is not TransportType.STDIO:
        return None
    shown = masked_config(record.config)
    return {"argv": argv_shown(record, shown.get("args") or ()), "envNames": sorted(shown.get("env") or {})}


_SLIPS = {
    "noise_lines": "Lines on its stdout that are no JSON-RPC message: {}.",
    "strays": "Answers that nobody waits for (late, doubled, or with a wrong id): {}.",
    "malformed": "Answers with neither or both of a result and an error: {}.",
    "oversized": "Messages that are too long: {}.",
}


def _warnings(manager: Manager, record: ServerRecord, connection: Connection | None) -> list[str]:
    warnings = list(manager.guard.policy.warnings(record)) if isinstance(manager.guard, PolicyGuard) else []
    if connection is not None:
        warnings += connection.catalogue.warnings
        warnings += [_SLIPS[name].format(count) for name, count in asdict(connection.counters).items() if count]
    return [spoken(REDACTOR.clean(warning)) for warning in warnings]
