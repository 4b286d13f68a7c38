"""Lines out of chunks."""

from __future__ import annotations

import itertools
import time

from hypothesis import given
from hypothesis import strategies as st

from naru.connections.transports.framing import LineFramer, Oversized


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@given(
    st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.lists(st.integers(0))
)
def test_lines_are_the_same_however_the_bytes_are_cut(lines: list[bytes], places: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines) + b"rest"
    framer = LineFramer(1000)
    assert [line for chunk in cut(data, places) for line in framer.feed(chunk)] == lines


@given(st.integers(1, 4000), st.lists(st.integers(0), max_size=20))
def test_a_line_beyond_the_cap_is_dropped_alone_and_both_its_ends_are_kept(extra: int, places: list[int]) -> None:
    """R-07"""
    long = b"H" * 600 + b"x" * (1000 + extra) + b"T" * 600
    framer = LineFramer(1000)
    first, dropped, last = [
        line for chunk in cut(b"first\n" + long + b"\nlast\n", places) for line in framer.feed(chunk)
    ]
    assert (first, last) == (b"first", b"last")
    assert dropped == Oversized(len(long), b"H" * 512, b"T" * 512)


def test_the_cost_of_a_character_does_not_grow_with_the_line() -> None:
    """R-07: linear."""

    def cost(size: int) -> float:
        best = 1e9
        for _ in range(5):
            framer, chunk = LineFramer(64 * 1024 * 1024), b"x" * 4096
            start = time.thread_time()
            for _ in range(size // 4096):
                framer.feed(chunk)
            assert len(framer.feed(b"\n")[0]) == size  # type: ignore[arg-type]
            best = min(best, time.thread_time() - start)
        return best / size

    ratio = cost(16 * 1024 * 1024) / cost(1024 * 1024)
    print(f"R-07: cost of a byte in a 16 MiB line against a 1 MiB line: {ratio:.2f}")
    assert ratio < 8, "quadratic would be 16"
