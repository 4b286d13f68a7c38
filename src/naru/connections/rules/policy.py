"""The rules of this installation (H12): which names, who may register programs, how long a result may be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from naru.config import PolicySettings
from naru.connections.rules.foreign_text import (
    clean_definition,
    cut_notice,
    schema_size,
    show_every_character,
    visible_text,
    whole_character,
)
from naru.connections.rules.launch_policy import judge_launch, package_warnings
from naru.connections.rules.pins import Pin, PinBook, PinStatus
from naru.errors import ConflictError, NotFoundError, PolicyError, StoreError
from naru.messages import Part, ResourcePart, TextPart, ToolDefinition, ToolResult
from naru.records import ServerRecord, TransportType
from naru.stores.unused_keys import unused_keys

logger = logging.getLogger(__name__)

MAX_SCHEMA_BYTES = 64 * 1024
"""Bytes of a tool's input schema (S-54)."""


class Policy:
    """Judges registrations and bounds results."""

    def __init__(self, settings: PolicySettings | None = None) -> None:
        self.settings = settings or PolicySettings()

    def check_name(self, name: str) -> None:
        """Refuse a server that is not on the allow-list; an empty list allows all. Raises PolicyError."""
        allowed = self.settings.allowed_server_names
        if allowed and name not in allowed:
            raise PolicyError(
                f"A server named {name!r} is not allowed here.",
                remedy="The allowed names are in mcp.security.allowed-server-names.",
            )

    def check_remote(self, record: ServerRecord, *, is_admin: bool) -> tuple[str, ...]:
        """Judge a registration or change that came over HTTP; return warnings to show.

        Raises:
            PolicyError: it may not be registered that way (S-20 to S-23).
        """
        self.check_name(record.name)
        if record.transport_type is not TransportType.STDIO:
            return ()
        if not is_admin:
            raise PolicyError("Only an admin may register a server that starts a program.")
        if not self.settings.allow_remote_exec:
            raise PolicyError(
                "Registering a server that starts a program over HTTP is switched off.",
                remedy="Declare it in naru.yaml or mcp.json, use `naru servers add`, or set "
                "mcp.security.allow-remote-exec (NARU_MCP__SECURITY__ALLOW_REMOTE_EXEC=true).",
            )
        config = record.config
        if config.get("envFile"):
            raise PolicyError("config.envFile names a file of this machine: give the variables in config.env.")
        launch = judge_launch(
            config["command"],
            config.get("args") or (),
            config.get("env") or {},
            allowed=self.settings.allowed_commands,
            unsafe_env=self.settings.allow_unsafe_env,
        )
        return launch.warnings

    def warnings(self, record: ServerRecord) -> tuple[str, ...]:
        """Return what a person should know about an entry, wherever it came from (S-70)."""
        unused = tuple(str(one) for one in unused_keys(record) if one.remedy)
        if record.transport_type is not TransportType.STDIO:
            return unused
        return (*package_warnings(record.config["command"], record.config.get("args") or ()), *unused)

    def cap(self, result: ToolResult) -> ToolResult:
        """Bound the text of a result, over all its parts, the notice counted in (H12, N12)."""
        limit = self.settings.max_tool_output_length
        total = sum(map(_length, result.content))
        if not limit or total <= limit:
            return result
        notice = cut_notice(limit, total)
        parts: list[Part] = []
        left, is_cut = limit - len(notice), False
        for part in result.content:
            text = _text(part)
            if not text or (len(text) <= left and not is_cut):
                parts.append(part)
                left -= len(text)
            elif not is_cut:
                is_cut, text = True, text[: whole_character(text, left)] + notice
                parts.append(replace(part, text=text) if isinstance(part, ResourcePart) else TextPart(text))
        return replace(result, content=tuple(parts))


@dataclass(frozen=True, slots=True)
class Withheld:
    """A tool that is not offered, and why."""

    name: str
    reason: str
    status: str
    """`pending`, `changed`, `disabled` or `refused`."""


class PolicyGuard:
    """The policy as the manager asks it (`guard.Guard`): names, filters, pins, clean texts, bounded results."""

    def __init__(self, policy: Policy, pins: PinBook | None = None, *, quarantines: bool = False) -> None:
        self.policy = policy
        self.pins = pins or PinBook()
        self.quarantines = quarantines
        """Tools that changed or came later are hidden until approved; else they are only noted and shown."""
        self._reviewed: dict[str, tuple[ServerRecord, Sequence[ToolDefinition], _Review]] = {}
        self._judged = (self.pins.changes, quarantines)
        """What lists were judged by."""

    def admit(self, record: ServerRecord) -> None:
        """Let a record be registered and connected. Raises PolicyError."""
        self.policy.check_name(record.name)

    def trust(self, record: ServerRecord) -> None:
        """Approve what this server lists next (S-50). Waits for its turn: call it from a thread."""
        try:
            self.pins.trust(record)
        except StoreError as error:  # its record is kept all the same
            logger.warning("what server %s lists next is to be approved by hand: %s", record.name, error)

    async def note(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
        """Pin what is new of a list, in a thread: another process may hold the file. Raises StoreError."""
        if self.pins.is_kept:
            await asyncio.to_thread(self._pinned, record, tools)

    def _pinned(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
        sound = [tool for position, tool in enumerate(tools) if self._fault(tool, position) is None]
        if sound:
            self.pins.review(record, sound)

    def offered(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Return the tools that may be offered and called; judged once for each list."""
        return self._review(record, tools).offered

    def withheld(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Sequence[Withheld]:
        """Return the other tools, and why."""
        return self._review(record, tools).withheld

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Return a result cut to the limit."""
        return self.policy.cap(result)

    def approve(self, record: ServerRecord, tools: Iterable[str] | None = None) -> list[str]:
        """Approve tools, whoever they were listed to, as `PinBook.approve` does. Waits: call it from a thread.

        Raises:
            NotFoundError: no such tool was ever listed.
            ConflictError: they were listed to nobody as the person saw them.
            StoreError: it could not be kept.
        """
        places = [place for place in self.pins.places(record.name) if self.pins.pins(place)] or [record.name]
        approved: dict[str, None] = {}
        refused: list[NotFoundError | ConflictError] = []
        for place in places:
            try:
                approved |= dict.fromkeys(self.pins.approve(record.model_copy(update={"name": place}), tools))
            except (NotFoundError, ConflictError) as error:
                refused.append(error)
            finally:
                self._reviewed.pop(place, None)  # after it: meanwhile the list may have been judged as it was
        if len(refused) == len(places):
            raise refused[-1]
        return list(approved)

    def look_again(self) -> bool:
        """Judge all lists anew if tools were approved elsewhere, or are hidden from now on; tell whether that is so.

        Raises:
            StoreError: what was approved cannot be read.
        """
        self.pins.load()
        before, self._judged = self._judged, (self.pins.changes, self.quarantines)
        if before == self._judged:
            return False
        self._reviewed.clear()
        return True

    def forget(self, server: str) -> None:
        """Drop what is known of a removed server. Raises StoreError."""
        for place in self.pins.places(server):
            self.pins.forget(place)
            self._reviewed.pop(place, None)

    def _review(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> _Review:
        kept = self._reviewed.get(record.name)
        if kept is not None and kept[0] is record and kept[1] is tools:
            return kept[2]
        faults = [self._fault(tool, position) for position, tool in enumerate(tools)]
        sound = [tool for tool, fault in zip(tools, faults, strict=True) if fault is None]
        pins = self.pins.review(record, sound) if sound else {}
        offered: list[ToolDefinition] = []
        withheld: list[Withheld] = []
        for tool, fault in zip(tools, faults, strict=True):
            why = fault or self._objection(record, tool, pins[tool.name])
            if why is None:
                offered.append(clean_definition(tool))
            else:
                withheld.append(why)
        review = _Review(tuple(offered), tuple(withheld))
        if tools:  # none while it is not connected; its last list stays judged
            self._reviewed[record.name] = (record, tools, review)
        for why in withheld:
            if why.status != "disabled":
                logger.warning("tool %s of server %s is withheld: %s", why.name, record.name, why.reason)
        return review

    def _fault(self, tool: ToolDefinition, position: int) -> Withheld | None:
        """Return why a tool cannot be taken at all."""
        limit = self.policy.settings.max_tools_per_server
        if visible_text(tool.name) != tool.name:
            return Withheld(show_every_character(tool.name), "its name holds invisible characters", "refused")
        if limit and position >= limit:
            return Withheld(tool.name, f"the server lists more than {limit} tools", "refused")
        size = schema_size(tool)
        if size is None or size > MAX_SCHEMA_BYTES:
            return Withheld(tool.name, f"its schema has more than {MAX_SCHEMA_BYTES // 1024} KiB or levels", "refused")
        return None

    def _objection(self, record: ServerRecord, tool: ToolDefinition, pin: Pin) -> Withheld | None:
        """Return why a sound tool is not offered."""
        allowed = record.allowed_tools
        if tool.name in record.disabled_tools or (allowed is not None and tool.name not in allowed):
            return Withheld(tool.name, "it is switched off in the server's record", "disabled")
        if pin.status is not PinStatus.APPROVED:
            said = "it was added later" if pin.status is PinStatus.PENDING else "its definition is not the approved one"
            if self.quarantines:
                return Withheld(tool.name, f"{said}; approve it to offer it", pin.status)
            logger.warning("tool %s of server %s: %s (%s)", tool.name, record.name, said, pin.sha256[:12])
        return None


@dataclass(frozen=True, slots=True)
class _Review:
    offered: tuple[ToolDefinition, ...]
    withheld: tuple[Withheld, ...]


def _text(part: Part) -> str:
    match part:
        case TextPart(text=text):
            return text
        case ResourcePart(text=str(text)):
            return text
    return ""


def _length(part: Part) -> int:
    return len(_text(part))


def argv_shown(record: ServerRecord, args: Sequence[str]) -> list[str]:
    """Return a program's whole command line with every character visible (S-26); `args` are the masked ones."""
    return [show_every_character(text) for text in (str(record.config.get("command", "")), *args)]
