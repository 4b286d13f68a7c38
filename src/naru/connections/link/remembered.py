"""What a server said when its link was last open, kept on disk: its tools can be offered before it is started."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from naru.connections.rules.pins import identity_of
from naru.connections.session.session import Session
from naru.connections.wire.protocol import Era
from naru.errors import StoreError
from naru.messages import JsonObject
from naru.records import ServerRecord
from naru.stores.files.atomic import replace_file

logger = logging.getLogger(__name__)
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server and we agreed on when its link opened."""

    era: Era = "legacy"
    version: str = ""
    """The negotiated protocol version; empty before the first link."""
    capabilities: JsonObject = field(default_factory=dict)
    server_info: JsonObject = field(default_factory=dict)
    instructions: str = ""

    @staticmethod
    def of(session: Session) -> Facts:
        """Return the facts of a negotiated session."""
        return Facts(session.era, session.version, session.capabilities, session.server_info, session.instructions)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A server as it was when its link was last open."""

    facts: Facts
    lists: Mapping[str, Sequence[JsonObject]]
    """Kind (`tools`, `prompts`, …) to its items as sent; a kind that nobody asked for is missing."""


class Memory:
    """One file for each server in a folder; without a folder nothing is remembered. Losing it costs a start each."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder.expanduser() if folder else None

    def keep(self, record: ServerRecord, seen: Remembered) -> None:
        """Write what was seen; what cannot be written is logged and otherwise ignored."""
        if self._folder is None:
            return
        entry = {"format": _FORMAT, "identity": identity_of(record), **asdict(seen)}
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            text = json.dumps(entry, ensure_ascii=False)
            replace_file(self._path(record.name), text.encode("utf-8", "surrogatepass"), backup=False)
        except (OSError, StoreError, ValueError) as error:
            logger.warning("the tools of server %s are not remembered: %s", record.name, error)

    def recall(self, record: ServerRecord) -> Remembered | None:
        """Return what was seen of this very server: the same program or URL; None when there is nothing usable."""
        if self._folder is None:
            return None
        try:
            entry = json.loads(self._path(record.name).read_bytes().decode("utf-8", "surrogatepass"))
            if entry["format"] != _FORMAT or entry["identity"] != identity_of(record):
                return None
            return _remembered(entry)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("what is remembered of server %s cannot be used: %s", record.name, type(error).__name__)
            return None

    def forget(self, name: str) -> None:
        """Drop what is known of a removed server; what cannot be removed is logged, and is of no other server's use."""
        if self._folder is not None:
            try:
                self._path(name).unlink(missing_ok=True)
            except OSError as error:
                logger.warning("the tools of server %s are still remembered: %s", name, error)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"


def _remembered(entry: dict[str, Any]) -> Remembered:
    lists = {kind: [item for item in items if isinstance(item, dict)] for kind, items in entry["lists"].items()}
    return Remembered(Facts(**entry["facts"]), lists)
