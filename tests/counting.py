"""Counts work instead of timing it, so that a test of growth says the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_made(work: Callable[[], object]) -> int:
    """Return how many functions, those written in C included, were called while `work` ran."""
    return _counted(work, ("call", "c_call"), sys.getprofile, sys.setprofile)


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python were run by `work`, each turn of a loop anew."""
    return _counted(work, ("line",), sys.gettrace, sys.settrace)


def _counted(
    work: Callable[[], object],
    wanted: tuple[str, ...],
    hook: Callable[[], object],
    set_hook: Callable[..., None],
) -> int:
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> Callable[..., object]:
        nonlocal count
        count += event in wanted
        return note

    before = hook()
    set_hook(note)
    try:
        work()
    finally:
        set_hook(before)
    return count
