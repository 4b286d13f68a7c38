"""Reports of progress beside a call: whatever a server sends and whoever hears it, the call's result is kept."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from naru.connections.manager import Manager
from naru.connections.session import opening
from naru.records import ServerRecord, TransportType
from naru.tools.toolset import CallContext
from tests.connections.conftest import managed
from tests.connections.in_memory import InMemoryServer, reaching
from tests.waiting import HANG_SECONDS, until


class Telling(InMemoryServer):
    """Reports before it answers a call."""

    def __init__(self, *reports: dict[str, Any]) -> None:
        super().__init__("work")
        self.reports = reports

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            self.report(params["_meta"]["progressToken"])
        return super().answer(method, params)

    def report(self, token: int) -> None:
        for report in self.reports:
            message = {"method": "notifications/progress", "params": {"progressToken": token, **report}}
            self.links[0].say({"jsonrpc": "2.0", **message})


@asynccontextmanager
async def connected(server: Telling, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Manager]:
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed() as manager:
        await manager.register(ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": "s"}))
        assert await manager.connect("s")
        yield manager


async def test_numbers_that_are_none_cost_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[float, float | None, str]] = []

    async def hear(*report: Any) -> None:
        heard.append(report)

    server = Telling({"progress": 10**400, "total": "many"}, {"progress": 2, "total": 3, "message": "two"})
    async with connected(server, monkeypatch) as manager:
        assert (await manager.call_tool("s", "work", {}, CallContext(on_progress=hear))).text == "work"
    assert heard == [(0.0, None, ""), (2.0, 3.0, "two")]


async def test_a_hearer_that_fails_costs_no_result_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def hear(*report: Any) -> None:
        raise RuntimeError("no ear")

    async with connected(Telling({"progress": 1}, {"progress": 2}), monkeypatch) as manager:
        assert (await manager.call_tool("s", "work", {}, CallContext(on_progress=hear))).text == "work"
    assert caplog.text.count("RuntimeError: no ear") == 1


async def test_a_slow_hearer_hears_the_newest_of_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[float] = []
    is_over = asyncio.Event()

    async def hear(progress: float, *rest: Any) -> None:
        await is_over.wait()
        heard.append(progress)

    server = Telling(*({"progress": n} for n in range(3_000)))
    async with connected(server, monkeypatch) as manager:
        call = asyncio.ensure_future(manager.call_tool("s", "work", {}, CallContext(on_progress=hear)))
        await until(lambda: server.called)
        await asyncio.sleep(0)  # in which all that it said arrives
        is_over.set()
        assert (await asyncio.wait_for(call, HANG_SECONDS)).text == "work"
    assert heard[-1] == 2_999
    assert heard == sorted(heard)
    assert len(heard) <= 1_001


async def test_a_cancelled_call_waits_for_no_hearer(monkeypatch: pytest.MonkeyPatch) -> None:
    hears = asyncio.Event()

    async def hear(*report: Any) -> None:
        hears.set()
        await asyncio.Event().wait()

    server = Telling({"progress": 1})
    async with connected(server, monkeypatch) as manager:
        server.pause_seconds = math.inf
        call = asyncio.ensure_future(manager.call_tool("s", "work", {}, CallContext(on_progress=hear)))
        async with asyncio.timeout(HANG_SECONDS):
            while not hears.is_set():
                await asyncio.sleep(0)
                for token in range(20):
                    server.report(token)
        call.cancel()
        done, _ = await asyncio.wait({call}, timeout=HANG_SECONDS)
        assert done, "the call is over as soon as nobody wants it"
        assert call.cancelled()
