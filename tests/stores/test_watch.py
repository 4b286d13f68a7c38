"""Watching goes on, whatever taking up a change comes to."""

from __future__ import annotations

import asyncio

import pytest

from naru.errors import StoreError
from naru.stores.files.watch import watch
from tests.waiting import HANG_SECONDS


@pytest.mark.parametrize("error", [StoreError("The disk is away."), KeyError("a defect")])
async def test_a_change_that_could_not_be_taken_up_is_told_once_and_tried_again(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    faults, taken_up = [error, error], asyncio.Event()

    async def version() -> object:
        return "changed"

    async def act() -> None:
        if faults:
            raise faults.pop()
        taken_up.set()

    watching = asyncio.create_task(watch(version, act, seen="before", interval=0.01))
    waiting = asyncio.create_task(taken_up.wait())
    await asyncio.wait({watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert not watching.done()
    watching.cancel()
    (told,) = [line for line in caplog.messages if "is not taken up" in line]
    assert str(error) in told
    assert ("Traceback" in caplog.text) == isinstance(error, KeyError), "a defect is told with its place"


async def test_a_look_that_failed_is_not_the_last_one() -> None:
    faults, taken_up = [KeyError("a defect")], asyncio.Event()

    async def version() -> object:
        if faults:
            raise faults.pop()
        return "changed"

    async def act() -> None:
        taken_up.set()

    watching = asyncio.create_task(watch(version, act, seen="before", interval=0.01))
    await asyncio.wait_for(taken_up.wait(), HANG_SECONDS)
    watching.cancel()
