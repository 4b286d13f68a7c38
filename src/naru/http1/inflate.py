"""Undoes a content encoding that we did not ask for, in pieces of bounded size (R-08)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from naru.http1.faults import BrokenBodyError, EncodingError

INFLATED_BYTES = 1 << 20
"""The longest piece given at once; a gzip bomb grows no further than its reader allows."""
_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Inflates one body."""

    __slots__ = ("_inner",)

    def __init__(self, encoding: str) -> None:
        """Take a `Content-Encoding`.

        Raises:
            EncodingError: it is none that can be undone.
        """
        if encoding not in _ENCODINGS:
            raise EncodingError(f"answered in the encoding {encoding[:40]!r}, which nobody asked for")
        self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: zlib's or gzip's head, whichever is there.

    @classmethod
    def of(cls, encoding: str) -> Inflater | None:
        """Return the inflater of a `Content-Encoding`; None where there is nothing to undo. Raises EncodingError."""
        name = encoding.strip().lower()
        return None if name in ("", "identity") else cls(name)

    @property
    def rest(self) -> bytes:
        """What was fed and is not inflated yet."""
        return self._inner.unconsumed_tail

    def feed(self, data: bytes) -> bytes:
        """Return at most INFLATED_BYTES; feed `rest` for more. Raises BrokenBodyError."""
        if self._inner.eof:  # What stands behind the end means nothing, and would be kept.
            return b""
        try:
            return self._inner.decompress(data, INFLATED_BYTES)
        except zlib.error as error:
            raise BrokenBodyError(f"sent a body that is no gzip: {error}") from error

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what a chunk inflates to. Raises BrokenBodyError."""
        while data:
            if piece := self.feed(data):
                yield piece
            data = self.rest
