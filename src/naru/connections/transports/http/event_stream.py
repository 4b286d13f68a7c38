"""Server-sent events out of chunks, in linear time and with a cap (R-09). No I/O."""

from __future__ import annotations

from dataclasses import dataclass

MOST_RETRY_SECONDS = 60.0
"""A server may ask for a longer pause; what it says meanwhile would be lost."""
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `data` is undecoded so that JSON can be parsed from it directly."""

    name: str
    data: bytes
    id: str | None = None
    """The last event id as of this event; None when none was ever sent."""


class EventTooLargeError(ValueError):
    """An event, or a line of one, is longer than the cap."""


class EventStreamParser:
    """The parsing half of the HTML standard's event streams: LF, CRLF or CR line ends, BOM, comments."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.last_id: str | None = None
        """That of the last event that was whole: from there a stream is resumed."""
        self.retry_seconds: float | None = None
        """What the server asked to wait before reconnecting."""
        self.begin()

    def begin(self) -> None:
        """Read another stream that goes on where this one broke off: half an event is sent again as a whole."""
        self._parts: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._id = self.last_id
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Take a chunk, return the events it completed.

        Raises:
            EventTooLargeError: the cap is exceeded; the stream cannot be read any further.
        """
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        events: list[Event] = []
        if not chunk:
            return events
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, last = chunk.split(b"\n")
        for line in lines:
            if self._parts:
                self._keep(line)
                line = b"".join(self._parts)
                self._parts, self._size = [], 0
            self._line(line, events)
        if last:
            self._keep(last)
        return events

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self.max_bytes + 16:
            raise EventTooLargeError(self._too_large())

    def _too_large(self) -> str:
        return f"the server sent an event of more than {self.max_bytes} bytes"

    def _line(self, line: bytes, events: list[Event]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            self.last_id = self._id
            if self._data:
                events.append(Event(self._name or "message", b"\n".join(self._data), self.last_id))
            self._name, self._data, self._data_size = "", [], 0
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data_size += len(value) + 1
            if self._data_size > self.max_bytes + 1:
                raise EventTooLargeError(self._too_large())
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit():
            self.retry_seconds = min(int(value[:_DIGITS]) / 1000, MOST_RETRY_SECONDS)
