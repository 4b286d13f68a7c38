"""A deadline ends its task's wait, and says whether it was the reason."""

from __future__ import annotations

import asyncio

import pytest

from naru.deadlines import Deadline, bound
from tests.waiting import sleep_as_the_machine


async def wait_under(seconds: float, *, move_to: float | None = None) -> tuple[str, int]:
    """Wait for ever under a deadline; return what ended it, and how often the task is still being cancelled."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    deadline = Deadline(loop, loop.time() + seconds)
    if move_to is not None:
        deadline.move(loop.time() + move_to)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return ("the deadline" if deadline.explains() else "someone else"), task.cancelling()
    finally:
        deadline.lift()
    raise AssertionError


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.01])
async def test_a_deadline_ends_the_wait_and_leaves_no_cancellation_behind(seconds: float) -> None:
    assert await asyncio.create_task(wait_under(seconds)) == ("the deadline", 0)


async def test_a_deadline_may_come_sooner_than_it_was_set() -> None:
    assert await asyncio.create_task(wait_under(3600, move_to=0.01)) == ("the deadline", 0)


async def test_a_cancellation_by_someone_else_is_not_the_deadlines() -> None:
    task = asyncio.create_task(wait_under(3600))
    await asyncio.sleep(0)
    task.cancel()
    assert await task == ("someone else", 1)


async def test_of_two_reasons_the_other_one_counts() -> None:
    loop = asyncio.get_running_loop()

    async def work() -> bool:
        task = asyncio.current_task()
        assert task is not None
        when = loop.time() + 0.01
        deadline = Deadline(loop, when)
        loop.call_at(when, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(3600)
        assert deadline.has_passed
        return deadline.explains()

    assert not await asyncio.create_task(work())


async def test_a_lifted_deadline_cancels_nothing_and_a_passed_one_is_not_set_again() -> None:
    loop = asyncio.get_running_loop()

    async def work() -> str:
        lifted = Deadline(loop, loop.time() + 0.01)
        lifted.lift()
        await asyncio.sleep(0.03)
        passed = Deadline(loop, loop.time())
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(3600)
        passed.move(loop.time())
        assert passed.explains()
        await asyncio.sleep(0.03)
        return "undisturbed"

    assert await asyncio.create_task(work()) == "undisturbed"


async def test_work_that_ends_otherwise_leaves_no_cancellation_behind() -> None:
    """An outer `asyncio.timeout` counts them, and would not know its own any more."""
    loop = asyncio.get_running_loop()

    async def work() -> int:
        task = asyncio.current_task()
        assert task is not None
        deadline = Deadline(loop, loop.time())
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass  # as a transport does that turns it into an error of its own
        finally:
            deadline.lift()
        return task.cancelling()

    assert await asyncio.create_task(work()) == 0


async def test_time_in_which_nothing_ran_here_is_had_once_more_for_a_minute_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    clock = loop.time

    def sleep_until(moment: float) -> None:
        monkeypatch.setattr(loop, "time", lambda: clock() + moment)

    async def work() -> None:
        sleep_until(10_000)
        await asyncio.sleep(0.01)  # in which an answer that is there is read
        sleep_until(10_055)
        await asyncio.sleep(0.01)
        sleep_until(20_000)
        await asyncio.sleep(3600)

    with pytest.raises(TimeoutError), bound(30):
        await work()
    assert clock() + 20_000 <= loop.time() < clock() + 20_100, "and no hour of waiting"


async def test_a_sign_of_life_takes_nothing_from_what_is_had_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a program that goes on installing, or a tool that reports progress, after the machine has slept."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    last = clock() + 150

    async def work() -> str:
        with bound(30) as limit:
            monkeypatch.setattr(loop, "time", lambda: clock() + 10_000)
            await asyncio.sleep(0.01)
            limit.move(min(last, loop.time() + 30))
            await asyncio.sleep(0.01)
            return "done"

    assert await work() == "done"


async def test_pauses_may_overlap_and_what_was_lifted_meanwhile_stays_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for two calls of one run that are held for a person at once."""
    with bound(60) as limit:
        with limit.paused():
            second = limit.paused()
            with second:
                await sleep_as_the_machine(monkeypatch, 100)
            await sleep_as_the_machine(monkeypatch, 100)
        await sleep_as_the_machine(monkeypatch, 59)
        left_behind = limit.paused()
        left_behind.__enter__()
    left_behind.__exit__(None, None, None)
    await sleep_as_the_machine(monkeypatch, 1_000)


async def test_after_a_pause_it_has_what_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(limit: Deadline) -> None:
        with limit.paused():
            await sleep_as_the_machine(monkeypatch, 100)
        await sleep_as_the_machine(monkeypatch, 60.5)
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError), bound(60) as limit:
        await work(limit)
