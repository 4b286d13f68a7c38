"""Servers that keep state between calls, with a link for each caller (PERF 9.1; metamcp's 2,018 processes)."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from naru.connections.link import private_links
from naru.connections.link.surroundings import Surroundings
from naru.connections.manager import Manager
from naru.connections.session.options import RequestOptions
from naru.connections.state.faults import LinkError
from naru.errors import ToolError
from naru.records import ServerRecord, ServerStatus
from naru.tools.toolset import CallContext
from tests.connections.conftest import managed, stdio
from tests.waiting import until


async def pid(manager: Manager, caller: str) -> str:
    return (await manager.call_tool("raw", "pid", {}, CallContext(caller=caller))).text


async def isolated(manager: Manager, **config: object) -> None:
    await manager.register(stdio("raw", "raw_server.py", isolation="caller", **config))
    assert await manager.connect("raw")


async def test_each_caller_has_a_process_of_its_own_and_keeps_it(manager: Manager) -> None:
    await isolated(manager)
    pids = {caller: await pid(manager, caller) for caller in ("ada", "bob", "")}
    assert len(set(pids.values())) == 3
    assert {caller: await pid(manager, caller) for caller in ("ada", "bob", "")} == pids
    together = await asyncio.gather(*(pid(manager, "eve") for _ in range(10)))
    assert len(set(together)) == 1, "one start for ten calls"
    await manager.disconnect("raw")
    children = psutil.Process().children()
    assert not {int(one) for one in pids.values()} & {child.pid for child in children}


async def test_without_isolation_callers_share_one_process(manager: Manager) -> None:
    await manager.register(stdio("raw", "raw_server.py"))
    assert await manager.connect("raw")
    assert await pid(manager, "ada") == await pid(manager, "bob")


async def test_links_are_few_and_the_longest_unused_gives_way(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_links, "MOST", 2)
    await isolated(manager)
    ada = await pid(manager, "ada")
    bob = await pid(manager, "bob")
    assert await pid(manager, "ada") == ada
    await pid(manager, "eve")
    assert await pid(manager, "ada") == ada
    assert await pid(manager, "bob") != bob, "bob's was the longest unused"
    busy = [
        asyncio.ensure_future(manager.call_tool("raw", "sleep", {"seconds": 5}, CallContext(caller=caller)))
        for caller in ("ada", "bob")
    ]
    private = manager.connection("raw")._private
    assert private is not None
    await until(lambda: sum(link.in_flight for link in private._links.values()) == 2)
    with pytest.raises(ToolError, match="2 callers are at work"):
        await pid(manager, "eve")
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)


async def test_a_callers_link_that_rests_is_closed() -> None:
    async with managed() as manager:
        await isolated(manager, idleStopMs=200)
        first = await pid(manager, "ada")
        await until(lambda: not psutil.pid_exists(int(first)))
        assert await pid(manager, "ada") != first


async def test_a_call_that_waited_while_its_server_was_removed_starts_no_process(manager: Manager) -> None:
    """It may have waited for a person's yes."""
    before = psutil.Process().children()
    await isolated(manager)
    await pid(manager, "ada")
    connection = manager.connection("raw")
    await manager.unregister("raw")
    for caller in ("ada", "bob", ""):
        with pytest.raises(LinkError):
            await connection.request("tools/call", {"name": "pid", "arguments": {}}, RequestOptions(caller=caller))
    assert set(psutil.Process().children()) <= set(before)


async def test_a_callers_link_that_fails_is_not_tried_anew_for_each_call_against_its_own_patience() -> None:
    """R-32: what starts a link is its first call; then its own rules say when."""
    tried: list[ServerRecord] = []

    class Failing:
        in_flight = queued = 0

        def __init__(self, record: ServerRecord, around: Surroundings) -> None:
            self.record, self.status = record, ServerStatus.PENDING

        async def connect(self) -> bool:
            tried.append(self.record)
            self.status = ServerStatus.FAILED
            return False

        async def close(self) -> None: ...

    links = private_links.PrivateLinks(stdio("raw", "raw_server.py"), Surroundings(), Failing)
    assert await links.of("ada") is await links.of("ada")
    assert len(tried) == 1
