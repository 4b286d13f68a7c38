"""Events from bytes, incrementally: payloads of `data:` fields, nothing else is needed of them; or lines of JSON."""

from __future__ import annotations

from naru.errors import ModelError

_LIMIT_BYTES = 16 << 20


class SseReader:
    """Splits an event stream into payloads; fed with chunks as they arrive, in linear time."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads that this chunk completes."""
        if not self._pieces and not self._data and _is_one_event(chunk):
            return [chunk[6:-2]]
        if b"\n" not in chunk and b"\r" not in chunk:
            self._hold(chunk)
            return []
        text = b"".join((*self._pieces, chunk)) if self._pieces else chunk
        self._pieces, self._held_bytes = [], 0
        # A lone \r at the end may be half of \r\n: splitlines would count it twice.
        held = b""
        if text.endswith(b"\r"):
            text, held = text[:-1], b"\r"
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n") if b"\r" in text else text.split(b"\n")
        self._hold(lines.pop() + held)
        payloads = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._data_bytes += len(line)
                if self._data_bytes > _LIMIT_BYTES:
                    raise _too_long()
            elif not line and self._data:
                payloads.append(self._take())
        return payloads

    def close(self) -> list[bytes]:
        """Return what a stream that ended without its last blank line still held."""
        return self.feed(b"\n\n") if self._pieces or self._data else []

    def _hold(self, rest: bytes) -> None:
        if not rest:
            return
        self._pieces.append(rest)
        self._held_bytes += len(rest)
        if self._held_bytes > _LIMIT_BYTES:
            raise _too_long()

    def _take(self) -> bytes:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data, self._data_bytes = [], 0
        return data


class LineReader:
    """Splits a stream of lines, each of them an object (NDJSON)."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._held_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk completes."""
        head, ended, rest = chunk.rpartition(b"\n")
        lines: list[bytes] = []
        if ended:
            lines = b"".join((*self._pieces, head)).split(b"\n")
            self._pieces, self._held_bytes = [], 0
        self._pieces.append(rest)
        self._held_bytes += len(rest)
        if self._held_bytes > _LIMIT_BYTES:
            raise _too_long()
        return lines

    def close(self) -> list[bytes]:
        """Return the last line of a stream that ended without its end."""
        return self.feed(b"\n") if self._held_bytes else []


def _too_long() -> ModelError:
    return ModelError(f"The endpoint sent an event of more than {_LIMIT_BYTES >> 20} MB.")


def _is_one_event(chunk: bytes) -> bool:
    """Tell whether a chunk is one plain event, as most are while a model writes."""
    return (
        chunk.startswith(b"data: ")
        and chunk.find(b"\n") == len(chunk) - 2
        and chunk.endswith(b"\n")
        and b"\r" not in chunk
    )
