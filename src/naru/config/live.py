"""Which settings a running hub takes up from its file, and which wait for the next start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from naru.config.settings import Settings

LIVE = frozenset(
    {
        "server.allowed_hosts",
        "server.allowed_origins",
        "server.trusted_proxies",
        "server.max_body_bytes",
        "server.max_media_body_bytes",
        "server.rate_limit_per_minute",
        "chat.client",
        "chat.client_by_key",
        "chat.aliases",
        "chat.steps",
        "agent.max_iterations",
        "agent.tool_timeout_seconds",
        "agent.model_timeout_seconds",
        "agent.model_failure",
        "agent.page_characters",
        "agent.keep_runs_days",
        "mcp.servers",
        "mcp.files",
        "mcp.max_tools_per_request",
        "mcp.security.allowed_server_names",
        "mcp.security.max_tool_output_length",
        "approvals.ask",
        "approvals.allow",
        "approvals.deny",
        "approvals.wait_seconds",
        "approvals.on_timeout",
        "approvals.ask_client",
        "approvals.max_waiting",
        "log_level",
    }
)
"""What is read anew whenever it is used, or is told to whoever keeps it; everything else is built at the start."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a changed file came to."""

    live: tuple[str, ...] = ()
    """Settings that hold from now on."""
    waiting: tuple[str, ...] = ()
    """Settings that hold from the next start on."""


def take_up(settings: Settings, before: Settings, after: Settings) -> Taken:
    """Bring the settings of a running hub from what its file said to what it says; only what may change does.

    What flags have set stays: the file was not asked for it.
    """
    live, waiting = [], []
    for path in changed(before, after):
        if path not in LIVE:
            waiting.append(path)
            continue
        live.append(path)
        *sections, name = path.split(".")
        mine, new = settings, after
        for section in sections:
            mine, new = getattr(mine, section), getattr(new, section)
        setattr(mine, name, getattr(new, name))
    return Taken(tuple(live), tuple(waiting))


def changed(before: Settings, after: Settings) -> Iterator[str]:
    """Yield the names of settings whose values differ."""
    return _changed(before, after, "")


def _changed(before: Any, after: Any, path: str) -> Iterator[str]:
    for name in type(before).model_fields:
        one, other, place = getattr(before, name), getattr(after, name), f"{path}{name}"
        if isinstance(one, BaseModel) and isinstance(other, BaseModel):
            yield from _changed(one, other, f"{place}.")
        elif one != other:
            yield place
