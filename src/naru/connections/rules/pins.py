"""What a server's tools looked like when they were approved (S-50): later or changed ones are shown, not offered.

A server's first list is approved as it comes, since registering it is an act of trust; everything after that is
compared with it: `approved`, `pending` (came later) or `changed`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from naru.errors import ConflictError, NotFoundError
from naru.messages import JsonObject, ToolDefinition
from naru.records import ServerRecord, now_ms
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.followed import FollowedFile

LAUNCH_FIELDS = ("command", "args", "cwd", "url", "envFile")
"""Fields of a config that say which server it is; another one under the same name is another server (S-24)."""


class PinStatus(StrEnum):
    """How a tool stands to what was approved."""

    APPROVED = "approved"
    PENDING = "pending"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Pin:
    """One tool: what was approved, and what the server says now."""

    status: PinStatus
    sha256: str
    """Of the definition as it is now."""
    seen: JsonObject
    approved: JsonObject | None = None
    changed_at: int = 0
    """Epoch milliseconds of the last difference."""

    def diff(self) -> list[str]:
        """Return the difference to what was approved, line by line."""
        before = _lines(self.approved) if self.approved is not None else []
        return list(difflib.unified_diff(before, _lines(self.seen), "approved", "now", lineterm="", n=2))


@dataclass(frozen=True, slots=True)
class _Server:
    identity: str
    pins: Mapping[str, Pin]
    trusted: str = ""
    """The identity under which an admin wants it from now on: what it lists first as that is approved."""


class PinBook:
    """All pins of one installation, in a file of mode 0600; None keeps them in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path.expanduser() if path else None
        self._servers: dict[str, _Server] = {}
        self.changes = 0
        """How often they were found to be others than this process knew."""
        self._file = (
            FollowedFile(
                self._path,
                _servers,
                self._take,
                what="The approved tool definitions",
                remedy=f"Put {self._path.name}.bak in its place, or remove it to approve all servers anew.",
            )
            if self._path
            else None
        )

    @property
    def is_kept(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def load(self) -> None:
        """Read the file as it is now, whoever wrote it; a missing one is empty.

        Raises:
            StoreError: it cannot be read: changed tools could no longer be told, so Naru does not go on without it.
        """
        if self._file is not None:
            self._file.look({})

    def _take(self, servers: dict[str, _Server]) -> None:
        self.changes += servers != self._servers
        self._servers = servers

    def trust(self, record: ServerRecord) -> None:
        """Note that an admin registered or changed this server: what it lists next, to each person, is approved.

        Waits for its turn at the file: call it from a thread. Raises StoreError.
        """
        identity = identity_of(record)

        def edit(known: _Server | None) -> _Server | None:
            return known and replace(known, trusted=identity if known.identity != identity else "")

        self.load()
        for place in self.places(record.name):
            self._edit(place, edit)

    def review(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Mapping[str, Pin]:
        """Compare a list with what was approved, remember what is new, and return each tool's pin.

        Waits for its turn at the file where something is new.

        Raises:
            StoreError: the pins could not be kept.
        """
        kept = self._edit(record.name, lambda known: _reviewed(known, record, tools))
        return kept.pins if kept else {}

    def pins(self, server: str) -> Mapping[str, Pin]:
        """Return the pins of a server; empty when it was never listed."""
        known = self._servers.get(server)
        return known.pins if known else {}

    def places(self, server: str) -> list[str]:
        """Return the names under which a server has pins: its own, and one for each person where it is personal."""
        return [server, *(name for name in self._servers if name.startswith(f"{server}/"))]

    def approve(self, record: ServerRecord, tools: Iterable[str] | None = None) -> list[str]:
        """Approve tools, or all of the server's; return those that were not approved before.

        Waits for its turn at the file: call it from a thread.

        Args:
            record: the server's.
            tools: their names; a mapping says with each the `sha256` of what the person saw, else it is as it is now.

        Raises:
            NotFoundError: no such tool was ever listed.
            ConflictError: a tool is not the one that was seen any more; none is approved.
            StoreError: it could not be kept.
        """
        approved: list[str] = []
        seen = tools if isinstance(tools, Mapping) else {}

        def edit(known: _Server | None) -> _Server | None:
            pins = dict(known.pins) if known else {}
            wanted = list(pins) if tools is None else list(tools)
            for name in wanted:
                if name not in pins:
                    raise NotFoundError(f"Server {record.name!r} has listed no tool {name!r}.")
                if seen.get(name, pins[name].sha256) != pins[name].sha256:
                    raise ConflictError(
                        f"Tool {name!r} of server {record.name!r} has changed since you looked; nothing was approved.",
                        remedy="Look at how it differs now, then approve it.",
                    )
            approved[:] = [name for name in wanted if pins[name].status is not PinStatus.APPROVED]
            for name in approved:
                pins[name] = _approved(pins[name].seen)
            return _Server(identity_of(record), pins) if approved else known

        self._edit(record.name, edit)
        return approved

    def forget(self, server: str) -> None:
        """Drop a removed server's pins. Waits for its turn: call it from a thread. Raises StoreError."""
        self._edit(server, lambda known: None)

    def _edit(self, server: str, edit: Callable[[_Server | None], _Server | None]) -> _Server | None:
        """Bring a server's pins to what `edit` makes of them as they are now. Raises StoreError."""
        self.load()
        known = self._servers.get(server)
        now = edit(known)
        if now == known:
            return now
        if self._file is None:
            self._servers = _with(self._servers, server, now)
            return now
        path = self._file.path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(path):
            self.load()
            before = self._servers
            now = edit(before.get(server))
            edited = _with(before, server, now)
            self._file.read_again()  # whatever becomes of the file
            self._servers = edited
            servers = {name: asdict(kept) for name, kept in edited.items()}
            text = json.dumps({"format": 1, "servers": servers}, ensure_ascii=False)
            replace_file(path, text.encode("utf-8", "surrogatepass") + b"\n")
        return now


def _with(servers: Mapping[str, _Server], server: str, now: _Server | None) -> dict[str, _Server]:
    """Return all servers with one as it is now: another thread never sees a server that is gone for a moment."""
    others = {name: kept for name, kept in servers.items() if name != server}
    return others if now is None else {**others, server: now}


def _reviewed(known: _Server | None, record: ServerRecord, tools: Sequence[ToolDefinition]) -> _Server:
    """Return a server's pins after a list of its tools."""
    identity = identity_of(record)
    if known is None or known.trusted == identity:
        return _Server(identity, {tool.name: _approved(definition_of(tool)) for tool in tools})
    same_server = known.identity == identity
    pins = {tool.name: _compare(known.pins.get(tool.name), definition_of(tool), same_server) for tool in tools}
    gone = {name: pin for name, pin in known.pins.items() if name not in pins}
    pins = {**pins, **gone}  # a tool that vanishes and comes back is still the approved one
    is_approved = all(pin.status is PinStatus.APPROVED for pin in pins.values())
    return replace(known, identity=identity if is_approved else known.identity, pins=pins)


def definition_of(tool: ToolDefinition) -> JsonObject:
    """Return the part of a definition that is pinned."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }


def digest_of(definition: JsonObject) -> str:
    """Return the SHA-256 of a definition in a canonical form."""
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def identity_of(record: ServerRecord) -> str:
    """Return a hash of which server a record reaches; headers and variables may change, the program and URL may not."""
    launch = {field: record.config.get(field) for field in LAUNCH_FIELDS}
    return digest_of({"id": record.id, "transport": record.transport_type, **launch})


def _approved(definition: JsonObject) -> Pin:
    return Pin(PinStatus.APPROVED, digest_of(definition), definition, definition)


def _compare(known: Pin | None, definition: JsonObject, same_server: bool) -> Pin:
    digest = digest_of(definition)
    now = now_ms()
    if known is None:
        return Pin(PinStatus.PENDING, digest, definition, None, now)
    if known.approved is None:
        moved = known.sha256 != digest
        return replace(known, sha256=digest, seen=definition, changed_at=now if moved else known.changed_at)
    if same_server and digest_of(known.approved) == digest:
        return _approved(known.approved)
    changed_at = known.changed_at if known.sha256 == digest and known.status is PinStatus.CHANGED else now
    return Pin(PinStatus.CHANGED, digest, definition, known.approved, changed_at)


def _servers(document: JsonObject) -> dict[str, _Server]:
    return {
        name: _Server(
            kept["identity"], {tool: _pin(pin) for tool, pin in kept["pins"].items()}, str(kept.get("trusted", ""))
        )
        for name, kept in document["servers"].items()
    }


def _pin(kept: dict[str, Any]) -> Pin:
    return Pin(**{**kept, "status": PinStatus(kept["status"])})


def _lines(definition: JsonObject | None) -> list[str]:
    return json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=False).splitlines()
