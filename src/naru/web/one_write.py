"""uvicorn's HTTP protocol, with an answer's head and the first piece of its body in one write.

uvicorn writes them apart, and each write is a system call: on a short answer a fifth of the whole cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = b"HTTP/1."
_JOINED_BYTES = 64 << 10
"""A longer body is written by itself: copying it would cost more than the call."""


class OneWriteProtocol(HttpToolsProtocol):
    """What `uvicorn.Config(http=…)` takes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Serve a connection."""
        super().connection_made(cast("asyncio.Transport", HeadHolding(transport)))


class HeadHolding:
    """A transport that holds a head back until the next write, or the end of this turn of the event loop."""

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner = inner
        self._write = inner.write
        self._held = b""
        self._call_soon = asyncio.get_running_loop().call_soon
        # The rest is the inner transport's own, without a call in between.
        self.get_extra_info = inner.get_extra_info
        self.is_closing = inner.is_closing
        self.pause_reading, self.resume_reading = inner.pause_reading, inner.resume_reading
        self.is_reading = inner.is_reading
        self.get_protocol, self.set_protocol = inner.get_protocol, inner.set_protocol
        self.get_write_buffer_limits = inner.get_write_buffer_limits
        self.set_write_buffer_limits = inner.set_write_buffer_limits
        self.can_write_eof = inner.can_write_eof

    def write(self, data: bytes) -> None:
        """Write, a head together with what follows it."""
        if self._held:
            held, self._held = self._held, b""
            if len(data) > _JOINED_BYTES:
                self._write(held)
                self._write(data)
            else:
                self._write(held + data)
        elif data[:7] == _HEAD:
            self._held = data
            self._call_soon(self._flush)
        else:
            self._write(data)

    def writelines(self, pieces: Iterable[bytes]) -> None:
        """Write several."""
        self.write(b"".join(pieces))

    def write_eof(self) -> None:
        """Write what is held, then end the sending side."""
        self._flush()
        self._inner.write_eof()

    def close(self) -> None:
        """Write what is held, then close."""
        self._flush()
        self._inner.close()

    def abort(self) -> None:
        """Close at once."""
        self._held = b""
        self._inner.abort()

    def get_write_buffer_size(self) -> int:
        """Return how much waits to be written."""
        return self._inner.get_write_buffer_size() + len(self._held)

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            if not self._inner.is_closing():
                self._write(held)
