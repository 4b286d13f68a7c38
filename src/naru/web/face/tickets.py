"""Tickets of Plan B: the right to run one call once (SECURITY S-41), kept in memory or where other hubs see them."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from naru.dialects import ParsedCall
from naru.errors import ConflictError, NotFoundError
from naru.stores.files.atomic import file_lock, remove_file, replace_file
from naru.web.face.memory import Recent

TICKET_SECONDS = 300.0
_KEPT_SECONDS = 3600.0
"""Longer than a ticket lives: a used one is a conflict, and a history still says what it stood for."""
_SWEEP_SECONDS = 60.0
_TICKET = re.compile(r"[A-Za-z0-9_-]{22,40}")


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to run one call once."""

    caller: str
    call: ParsedCall
    definition: str
    """Hash of the tool as it was offered."""
    until: float
    used: bool = False


class Shelf(Protocol):
    """Keeps tickets for an hour."""

    def turn(self, ticket: str) -> AbstractContextManager[None]:
        """Hold a ticket against all others who would use it. Raises StoreError."""
        ...

    def get(self, ticket: str) -> Ticket | None:
        """Return a ticket that is known."""
        ...

    def put(self, ticket: str, known: Ticket) -> None:
        """Keep a ticket. Raises StoreError."""
        ...


class MemoryShelf:
    """For the one hub that there is."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        kept: Recent[Ticket] = Recent(seconds=max(seconds * 2, _KEPT_SECONDS), entries=10_000, clock=clock)
        self.get = kept.get
        self.put = kept.put
        self._one_by_one = threading.Lock()

    @contextlib.contextmanager
    def turn(self, ticket: str) -> Iterator[None]:
        """Hold all tickets: each is used up in a moment."""
        with self._one_by_one:
            yield


class FolderShelf:
    """One file a ticket, in a folder that all hubs share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser()
        self._swept_at = 0.0

    def turn(self, ticket: str) -> AbstractContextManager[None]:
        """Hold a ticket against all others who would use it. Raises StoreError."""
        known = _TICKET.fullmatch(ticket) is not None and self._path(ticket).exists()
        return file_lock(self._path(ticket)) if known else contextlib.nullcontext()

    def get(self, ticket: str) -> Ticket | None:
        """Return a ticket that is known."""
        if not _TICKET.fullmatch(ticket):
            return None
        try:
            kept: dict[str, Any] = json.loads(self._path(ticket).read_bytes())
        except FileNotFoundError:
            return None
        call = kept.pop("call")
        return Ticket(call=ParsedCall(call["id"], call["name"], call["arguments"]), **kept)

    def put(self, ticket: str, known: Ticket) -> None:
        """Keep a ticket. Raises StoreError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._sweep()
        kept = {
            "caller": known.caller,
            "call": {"id": known.call.id, "name": known.call.name, "arguments": known.call.arguments},
            "definition": known.definition,
            "until": known.until,
            "used": known.used,
        }
        replace_file(self._path(ticket), json.dumps(kept).encode(), backup=False)

    def _sweep(self) -> None:
        now = time.time()
        if now - self._swept_at < _SWEEP_SECONDS:
            return
        self._swept_at = now
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < now - _KEPT_SECONDS:
                    remove_file(path)

    def _path(self, ticket: str) -> Path:
        return self._folder / f"{ticket}.json"


class Minting:
    """The tickets of one answer: made where its text is written, and kept before the client is told of them."""

    def __init__(self, shelf: Shelf, make: Callable[[ParsedCall, str], Ticket]) -> None:
        self._shelf = shelf
        self._make = make
        self._made: list[tuple[str, Ticket]] = []

    @property
    def is_behind(self) -> bool:
        """Whether a ticket has been made that nobody would take yet."""
        return bool(self._made)

    def mint(self, call: ParsedCall, definition: str) -> str:
        """Return a new ticket."""
        ticket = secrets.token_urlsafe(16)
        self._made.append((ticket, self._make(call, definition)))
        return ticket

    def keep(self) -> None:
        """Keep what was minted. Waits where other hubs are to see it: call it from a thread. Raises StoreError."""
        made, self._made = self._made, []
        for ticket, known in made:
            with self._shelf.turn(ticket):
                self._shelf.put(ticket, known)


class Tickets:
    """Mints tickets and redeems them: once, by the same caller, for the same definition (S-41)."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        seconds: float = TICKET_SECONDS,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Keep them in a folder that other hubs share, or in memory."""
        self._seconds = seconds
        # Several machines have one thing in common: the time of day.
        self._clock = clock or (time.time if folder else time.monotonic)
        self._shelf: Shelf = FolderShelf(folder) if folder else MemoryShelf(seconds, self._clock)

    def mint(self, caller: str, call: ParsedCall, definition: str) -> str:
        """Return a new ticket: 128 random bits. Waits where other hubs are to see it. Raises StoreError."""
        made = self.minting(caller)
        ticket = made.mint(call, definition)
        made.keep()
        return ticket

    def minting(self, caller: str) -> Minting:
        """Return what mints the tickets of one answer."""
        return Minting(
            self._shelf, lambda call, definition: Ticket(caller, call, definition, self._clock() + self._seconds)
        )

    def redeem(self, caller: str, ticket: str) -> Ticket:
        """Use a ticket up. Waits for its turn where other hubs see it: call it from a thread.

        Raises:
            NotFoundError: it is unknown, too old, or somebody else's.
            ConflictError: it has been used.
            StoreError: that it is used could not be kept; it is not.
        """
        with self._shelf.turn(ticket):
            found = self._shelf.get(ticket)
            if found is None or found.caller != caller:
                raise NotFoundError("There is no such ticket.", remedy="Ask the model again for a new command.")
            if found.used:
                raise ConflictError(
                    "This ticket has been used; it runs once.", remedy="Ask the model for a new command."
                )
            if found.until < self._clock():
                raise NotFoundError(
                    f"This ticket is older than {self._seconds:.0f} s.", remedy="Ask the model again for a new command."
                )
            self._shelf.put(ticket, replace(found, used=True))
            return found

    def call_of(self, caller: str, ticket: str) -> ParsedCall | None:
        """Return what a ticket stands for, to read a history; nothing is run."""
        found = self._shelf.get(ticket)
        return found.call if found is not None and found.caller == caller else None
