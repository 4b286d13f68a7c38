"""The last log lines of this process, kept in memory for the console; secrets are taken out before they are kept."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from naru.persons import current_request
from naru.stores.secrets.redact import RedactingFilter

KEPT_LINES = 2000


@dataclass(frozen=True, slots=True)
class Line:
    """One log line."""

    id: int
    """Counts up from 1."""
    at: int
    """Epoch milliseconds."""
    level: int
    level_name: str
    logger: str
    message: str
    error: str
    """A traceback, or nothing."""
    request_id: str
    """Of the request that it is about, or nothing."""


class RecentLines(logging.Handler):
    """A handler that keeps what it is given, the newest so many."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[Line] = deque(maxlen=KEPT_LINES)
        self._ids = count(1)
        self.addFilter(RedactingFilter())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line; the filter has cleaned it."""
        at = int(record.created * 1000)
        kept = (record.levelno, record.levelname, record.name, record.getMessage(), record.exc_text or "")
        self._lines.append(Line(next(self._ids), at, *kept, current_request.get()))

    def newest(
        self, *, limit: int, before: int | None = None, after: int = 0, least: int = 0, text: str = ""
    ) -> tuple[list[Line], int]:
        """Return lines, newest first, and the newest line's id.

        Args:
            limit: how many at most.
            before: only lines with a smaller id.
            after: only lines with a greater id.
            least: only lines of that level (`logging.WARNING`) and above.
            text: words that all stand in message, logger, traceback or request id; case does not count.
        """
        lines = list(self._lines)
        words = text.lower().split()
        found = [
            line
            for line in reversed(lines)
            if line.id > after
            and (before is None or line.id < before)
            and line.level >= least
            and all(word in f"{line.logger} {line.message} {line.error} {line.request_id}".lower() for word in words)
        ]
        return found[:limit], lines[-1].id if lines else 0


@contextmanager
def keeping_lines() -> Iterator[RecentLines]:
    """Keep what the root logger hears inside of it."""
    recent = RecentLines()
    logging.getLogger().addHandler(recent)
    try:
        yield recent
    finally:
        logging.getLogger().removeHandler(recent)
