"""Bodies that were compressed unasked grow in bounded pieces (R-08)."""

from __future__ import annotations

import gzip
import sys
import zlib

import pytest

from naru.http1.faults import BrokenBodyError, EncodingError
from naru.http1.inflate import INFLATED_BYTES, Inflater

GZIPPED = gzip.compress(b"a" * 9, mtime=0)
"""Without the second in which it was made: workers that disagree about a parameter run no test at all."""


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", GZIPPED),
        ("X-GZIP ", GZIPPED),
        ("deflate", zlib.compress(b"a" * 9)),
        ("gzip", b"".join(gzip.compress(b"a" * size, mtime=0) for size in (4, 0, 5)) + bytes(3)),
    ],
    ids=["gzip", "another spelling", "deflate", "several members, and padding"],
)
def test_a_body_is_undone_in_any_pieces(encoding: str, packed: bytes) -> None:
    inflater = Inflater.of(encoding)
    assert inflater is not None
    assert b"".join(piece for byte in packed for piece in inflater.pieces(bytes([byte]))) == b"a" * 9
    assert b"".join(Inflater("gzip").pieces(packed)) == b"a" * 9
    inflater.close()


@pytest.mark.parametrize("encoding", ["", " identity"])
def test_there_is_nothing_to_undo(encoding: str) -> None:
    assert Inflater.of(encoding) is None


def test_a_bomb_grows_in_bounded_pieces() -> None:
    pieces = [len(piece) for piece in Inflater("gzip").pieces(gzip.compress(bytes(5 * INFLATED_BYTES)))]
    assert (sum(pieces), max(pieces)) == (5 * INFLATED_BYTES, INFLATED_BYTES)


def test_what_cannot_be_undone_is_named() -> None:
    with pytest.raises(EncodingError, match="'br', which nobody asked for"):
        Inflater.of("br")
    with pytest.raises(BrokenBodyError, match="no gzip"):
        Inflater("gzip").feed(b"plain text")


@pytest.mark.parametrize("packed", [GZIPPED, GZIPPED * 2], ids=["one member", "two"])
def test_a_body_that_ends_in_its_middle_is_told_wherever_that_is(packed: bytes) -> None:
    for size in range(1, len(packed)):
        inflater = Inflater("gzip")
        assert set(b"".join(inflater.pieces(packed[:size]))) <= set(b"a")
        if size in (len(GZIPPED), len(GZIPPED) + 1):  # one byte more says nothing yet
            inflater.close()
            continue
        with pytest.raises(BrokenBodyError, match="broke off its compressed body"):
            inflater.close()


def test_what_stands_behind_the_end_is_neither_given_nor_kept() -> None:
    inflater = Inflater("gzip")
    assert b"".join(inflater.pieces(GZIPPED)) == b"a" * 9
    before = sys.getsizeof(inflater._inner.unused_data)
    for _ in range(100):
        assert list(inflater.pieces(b"x" * 1000)) == []
    assert sys.getsizeof(inflater._inner.unused_data) == before
