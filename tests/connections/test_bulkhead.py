"""The gate in front of one server (R-35)."""

from __future__ import annotations

import asyncio

import pytest

from naru.connections.state.bulkhead import Bulkhead
from naru.connections.state.faults import BusyError


async def hold(gate: Bulkhead, release: asyncio.Event, order: list[int], number: int) -> None:
    async with gate:
        order.append(number)
        await release.wait()


async def test_only_so_many_run_and_the_line_is_served_in_order() -> None:
    gate, release, order = Bulkhead(2, 10, 5), asyncio.Event(), []
    tasks = [asyncio.ensure_future(hold(gate, release, order, number)) for number in range(6)]
    await asyncio.sleep(0)
    assert (gate.active, gate.waiting) == (2, 4)
    release.set()
    await asyncio.gather(*tasks)
    assert order == list(range(6))
    assert (gate.active, gate.waiting) == (0, 0)


async def test_a_full_line_and_a_slow_one_are_refused_with_the_reason() -> None:
    gate, release = Bulkhead(1, 1, 0.1), asyncio.Event()
    first = asyncio.ensure_future(hold(gate, release, [], 0))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(hold(gate, release, [], 1))
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="1 requests are running and 1 are waiting"):
        async with gate:
            pass
    with pytest.raises(BusyError, match=r"within 0\.1 s"):
        await second
    release.set()
    await first
    assert (gate.active, gate.waiting) == (0, 0)


async def test_one_who_leaves_the_line_gives_the_slot_to_the_next() -> None:
    gate, release, order = Bulkhead(1, 10, 5), asyncio.Event(), []
    tasks = [asyncio.ensure_future(hold(gate, release, order, number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    release.set()
    await asyncio.sleep(0)
    tasks[2].cancel()  # perhaps in the very moment it gets its slot
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (gate.active, gate.waiting) == (0, 0)
    assert order[0] == 0
    assert order[-1] == 3
