"""Deadlines that stand still while a person is waited for: thinking about a call is not the tool's time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from naru.deadlines import Deadline


@dataclass(slots=True)
class Patience:
    """One deadline, and how long it stood still."""

    deadline: Deadline
    waited_seconds: float = 0.0


_running: ContextVar[tuple[Patience, ...]] = ContextVar("naru_patience", default=())


@contextmanager
def patient(deadline: Deadline) -> Iterator[Patience]:
    """Let `paused` inside of the block, also in tasks that it starts, stop this deadline."""
    mine = Patience(deadline)
    token = _running.set((*_running.get(), mine))
    try:
        yield mine
    finally:
        _running.reset(token)


@contextmanager
def paused() -> Iterator[None]:
    """Stop all deadlines that agreed to it for as long as the block runs."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    stopped = _running.get()
    with ExitStack() as pauses:
        for one in stopped:
            pauses.enter_context(one.deadline.paused())
        try:
            yield
        finally:
            for one in stopped:
                one.waited_seconds += loop.time() - began
