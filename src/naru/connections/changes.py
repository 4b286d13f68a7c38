"""What becomes of servers, as listeners are told it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from naru.messages import JsonObject
from naru.records import ServerRecord

STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Change:
    """Something that listeners may want to show or pass on."""

    server: str
    what: str
    """`registered`, `updated`, `removed`, `status`, `tools`, `prompts`, `resources`, `approvals`, `runs`, `keys`,
    or `stopping`."""


Listen = Callable[[Change], None]
Hear = Callable[[str, str, JsonObject], None]
"""Gets server, method and params of a notification that belongs to no request."""


def same_way(old: ServerRecord, new: ServerRecord) -> bool:
    """Tell whether two records reach the same server in the same way."""
    return (old.id, old.transport_type, old.config) == (new.id, new.transport_type, new.config)
