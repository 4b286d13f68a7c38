"""Tools that another process of the data folder approves (S-50): offered here, also where its notice was lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.connections.rules.pins import PinBook
from naru.messages import ToolDefinition
from naru.records import ServerRecord
from tests.team.conftest import declared, team
from tests.waiting import until

pytestmark = pytest.mark.slow


async def test_tools_that_another_process_approves_are_offered_without_a_notice(tmp_path: Path) -> None:
    place = tmp_path / "pins.json"
    PinBook(place).review(ServerRecord(name="kept", config={"url": "http://h/"}), [ToolDefinition("read")])
    async with team(tmp_path, servers=[declared("kept")], mcp={"security": {"quarantine": "on"}}) as made:
        manager = made.hub.manager
        assert manager.tools("kept") == []
        other = PinBook(place)
        other.load()
        assert other.approve(manager.connection("kept").record)
        await until(lambda: manager.tools("kept"))
