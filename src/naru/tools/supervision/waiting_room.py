"""Calls that wait for a person, as files that every process of the installation sees (N9).

Whoever holds a call, its person may answer from anywhere. The folder is its owner's alone, like the keys beside it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from naru.errors import NotFoundError
from naru.stores.files.atomic import remove_file, replace_file
from naru.stores.shared.commons import ALONE, Commons

logger = logging.getLogger(__name__)

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Waiter:
    """A call that waits in some process."""

    id: str
    server: str
    tool: str
    arguments: str
    """As JSON, redacted."""
    caller: str
    description: str
    why: str
    asked_at: int
    expires_at: int
    """Epoch milliseconds."""


class WaitingRoom:
    """One folder; without a folder nobody else sees who waits."""

    def __init__(self, folder: Path | None, *, commons: Commons = ALONE) -> None:
        self._folder = folder.expanduser() if folder else None
        self._commons = commons

    def enter(self, one: Waiter) -> None:
        """Let everybody see a call. Raises StoreError."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        shown = {name: getattr(one, name) for name in Waiter.__slots__}
        content = json.dumps({**shown, "pid": os.getpid(), "hub": self._commons.me}).encode()
        replace_file(self._folder / f"{one.id}.json", content, backup=False)

    def leave(self, waiter_id: str) -> None:
        """Take a call away, with what was answered."""
        for kind in ("json", "answer"):
            if self._folder is not None:
                remove_file(self._folder / f"{waiter_id}.{kind}")

    def waiting(self) -> Sequence[Waiter]:
        """Return all calls that wait in processes that still run, oldest first."""
        if self._folder is None or not self._folder.is_dir():
            return ()
        found = [one for path in self._folder.glob("*.json") if (one := self._read(path)) is not None]
        return sorted(found, key=lambda one: one.asked_at)

    def answer(self, waiter_id: str, decision: str, by: str) -> Waiter:
        """Leave an answer for the process that holds the call. Raises NotFoundError, StoreError."""
        one = None
        if self._folder is not None and _ID.fullmatch(waiter_id):
            one = self._read(self._folder / f"{waiter_id}.json")
        if one is None or self.answered(waiter_id) is not None:
            raise NotFoundError(f"No call {waiter_id[:80]!r} waits.", remedy="It was answered, or its time is over.")
        assert self._folder is not None
        said = json.dumps({"decision": decision, "by": by}).encode()
        replace_file(self._folder / f"{waiter_id}.answer", said, backup=False)
        return one

    def answered(self, waiter_id: str) -> tuple[str, str] | None:
        """Return the decision and who made it; None as long as there is none."""
        if self._folder is None:
            return None
        try:
            said = json.loads((self._folder / f"{waiter_id}.answer").read_bytes())
            return str(said["decision"]), str(said["by"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.warning("an answer to the waiting call %s cannot be read: %s", waiter_id, type(error).__name__)
            return None

    def _read(self, path: Path) -> Waiter | None:
        try:
            kept = json.loads(path.read_bytes())
            pid, hub = int(kept.pop("pid")), str(kept.pop("hub", ""))
            one = Waiter(**kept)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.warning("the waiting call in %s cannot be read: %s", path.name, type(error).__name__)
            return None
        is_late = one.expires_at < time.time() * 1000
        if hub in ("", self._commons.me):
            is_over = is_late or not (hub or _runs(pid))
        elif self._commons.me:  # that hub may have another clock than we; it takes away what is late itself
            is_over = hub not in self._commons.members()
        else:
            return None if is_late else one  # a command that shares the folder alone cannot know which hubs live
        if is_over:
            self.leave(one.id)  # its process was killed, or has forgotten it
            return None
        return one


def _runs(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # there signal 0 is Ctrl-C; the time of the call ends its waiting
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
