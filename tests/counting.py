"""Counts work instead of timing it, so that a test of growth says the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_made(work: Callable[[], object]) -> int:
    """Return how many functions, those written in C included, were called while `work` ran."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python were run by `work`, each turn of a loop anew."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
