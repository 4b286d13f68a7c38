"""Lines out of chunks, in linear time and with a cap. No I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line longer than the cap, dropped; its two ends may still tell whose it was."""

    length: int
    head: bytes
    tail: bytes


class LineFramer:
    """Splits a byte stream at LF; every byte is copied at most twice, however it is cut (R-07)."""

    KEPT_ENDS = 512

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    @property
    def unfinished_bytes(self) -> int:
        """How much of a line is here whose end is not."""
        return self._size

    def feed(self, chunk: bytes) -> list[bytes | Oversized]:
        """Take a chunk, return the lines it completed, without their ends."""
        first, *rest = chunk.split(b"\n")
        if not rest:
            self._keep(first)
            return []
        lines = [self._finish(first)]
        *whole, last = rest
        lines += [self._checked(line) for line in whole]
        if last:
            self._keep(last)
        return lines

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self.max_bytes:
            if not self._head:
                self._head = b"".join(self._parts)[: self.KEPT_ENDS]
            self._parts = [b"".join(self._parts[-2:])[-self.KEPT_ENDS :]]

    def _finish(self, part: bytes) -> bytes | Oversized:
        if not self._parts:
            return self._checked(part)
        self._keep(part)
        size, head, parts = self._size, self._head, self._parts
        self._parts, self._size, self._head = [], 0, b""
        if size > self.max_bytes:
            return Oversized(size, head, b"".join(parts)[-self.KEPT_ENDS :])
        return b"".join(parts)

    def _checked(self, line: bytes) -> bytes | Oversized:
        if len(line) > self.max_bytes:
            return Oversized(len(line), line[: self.KEPT_ENDS], line[-self.KEPT_ENDS :])
        return line
