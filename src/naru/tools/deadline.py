"""A deadline that costs nothing to work that never waits: most tools answer in their first step."""

from __future__ import annotations

import functools
import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from naru.deadlines import bound

T = TypeVar("T")


class DeadlineExceededError(Exception):
    """The work did not finish in time; unlike TimeoutError, never raised by the work itself."""


async def within(seconds: float | None, work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine in this task, with a deadline once it waits for something.

    Raises:
        DeadlineExceededError: it did not finish in time; it was cancelled.
    """
    if seconds is None:
        return await work
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # what the coroutine returned
    try:
        with bound(seconds) as deadline:
            return await _resumed(work, waits_for)
    except TimeoutError as error:
        if deadline.has_passed:
            raise DeadlineExceededError from error
        raise


@types.coroutine
def _resumed(work: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Go on with a coroutine whose first step is done: what `yield from` does, one step later."""
    while True:
        try:
            sent = yield waits_for
        except GeneratorExit:
            work.close()
            raise
        except BaseException as thrown:  # noqa: BLE001  # handed on to the work, cancellation above all
            step: Any = functools.partial(work.throw, thrown)
        else:
            step = functools.partial(work.send, sent)
        try:
            waits_for = step()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # what the coroutine returned
