"""Undoes a content encoding that we did not ask for, in pieces of bounded size (R-08)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from naru.http1.faults import BrokenBodyError, EncodingError

INFLATED_BYTES = 1 << 20
"""The longest piece given at once; a gzip bomb grows no further than its reader allows."""
_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_MEMBER = b"\x1f\x8b"
"""How each member of a gzip begins."""


class Inflater:
    """Inflates one body: of gzip all members, one after the other (RFC 1952, 2.2)."""

    __slots__ = ("_head", "_inner", "_is_first", "_is_over", "rest")

    def __init__(self, encoding: str) -> None:
        """Take a `Content-Encoding`.

        Raises:
            EncodingError: it is none that can be undone.
        """
        if encoding not in _ENCODINGS:
            raise EncodingError(f"answered in the encoding {encoding[:40]!r}, which nobody asked for")
        self.rest = self._head = b""
        """What was fed and is not inflated yet; how the member that is read begins."""
        self._is_over = False
        self._begin(is_first=True)

    @classmethod
    def of(cls, encoding: str) -> Inflater | None:
        """Return the inflater of a `Content-Encoding`; None where there is nothing to undo. Raises EncodingError."""
        name = encoding.strip().lower()
        return None if name in ("", "identity") else cls(name)

    def feed(self, data: bytes) -> bytes:
        """Return at most INFLATED_BYTES; feed `rest` for more. Raises BrokenBodyError."""
        if self._is_over:
            return b""
        self._head = (self._head + data[:2])[:2]
        try:
            piece = self._inner.decompress(data, INFLATED_BYTES)
        except zlib.error as error:
            if self._is_within:
                raise BrokenBodyError(f"sent a body that is no gzip: {error}") from error
            self._is_over, self.rest = True, b""  # What stands behind the last member means nothing.
            return b""
        self.rest = self._inner.unconsumed_tail
        if self._inner.eof:
            self.rest = self._inner.unused_data
            self._begin(is_first=False)
        return piece

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what a chunk inflates to. Raises BrokenBodyError."""
        while data:
            if piece := self.feed(data):
                yield piece
            data = self.rest

    def close(self) -> None:
        """Take the body's end. Raises BrokenBodyError: it comes in the middle."""
        if self._is_within:
            raise BrokenBodyError("broke off its compressed body")

    @property
    def _is_within(self) -> bool:
        """Whether a member has begun: behind the first one anything may stand."""
        return self._head == _MEMBER or (self._is_first and bool(self._head))

    def _begin(self, *, is_first: bool) -> None:
        self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: zlib's or gzip's head, whichever is there.
        self._is_first = is_first
        self._head = b""
