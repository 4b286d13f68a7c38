"""The first seconds: a request that comes while servers connect waits for them, once (issue 23, line 6)."""

from __future__ import annotations

import asyncio
import math

import pytest

from naru.connections.manager import Manager
from naru.connections.session import opening
from naru.connections.state.settings import ConnectionSettings
from naru.hub import ARRIVAL_SECONDS, HubToolset
from naru.records import ServerRecord, TransportType
from naru.stores.memory import MemoryStore
from tests.connections.in_memory import InMemoryServer, reaching
from tests.interleaving import every

SERVERS = {"quick": 0.0, "slow": 1.0, "hanging": math.inf}
LONG = ConnectionSettings(connect_timeout_seconds=600, request_timeout_seconds=600, probe_timeout_seconds=600)


async def opened() -> Manager:
    store = MemoryStore()
    for name in SERVERS:
        record = ServerRecord(name=name, transport_type=TransportType.STDIO, config={"command": name})
        await store.save(record)
    manager = Manager(store, settings=LONG)
    await manager.reload()
    return manager


def test_a_request_in_the_first_seconds_has_the_tools_of_servers_that_come(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = {name: InMemoryServer(pause_seconds=pause) for name, pause in SERVERS.items()}
    monkeypatch.setattr(opening, "candidates", reaching(servers))

    async def work() -> None:
        clock = asyncio.get_running_loop()
        manager = await opened()
        two = HubToolset(manager, {name: manager.toolsets[name] for name in ("quick", "slow")})
        assert [tool.server for tool in await two.tools()] == ["quick", "slow"]
        assert 0 < clock.time() < ARRIVAL_SECONDS, "it waits for what it needs and no longer"
        all_of_them = HubToolset(manager, manager.toolsets)
        assert [tool.server for tool in await all_of_them.tools()] == ["quick", "slow"]
        assert clock.time() == ARRIVAL_SECONDS, "one that hangs costs its patience"
        await all_of_them.tools()
        assert clock.time() == ARRIVAL_SECONDS, "and once, not at every request"
        await manager.close()

    assert every(work, delays=1) > 10
