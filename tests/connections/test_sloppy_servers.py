"""Servers that break a rule: used where their meaning is plain, told what to mend where it is not (N10, R-04, R-06)."""

from __future__ import annotations

import asyncio

import pytest

from naru.connections.manager import Manager
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from tests.connections.conftest import managed, stdio


@pytest.mark.parametrize(
    ("how", "answer"),
    [
        ("no-jsonrpc", "ok"),
        ("null-capabilities", "ok"),
        ("no-capabilities", "ok"),
        ("list-result", "ok"),
        ("text-result", "ok"),
        ("bare-content", "ok"),
        ("null-result", ""),
        ("text-id", "ok"),
    ],
)
async def test_what_a_server_plainly_means_is_understood(manager: Manager, how: str, answer: str) -> None:
    await manager.register(stdio("s", "sloppy_server.py", how))
    assert await manager.connect("s"), manager.explain("s").summary
    assert (await manager.call_tool("s", "echo", {})).text == answer


@pytest.mark.parametrize(("how", "says"), [("null-tools", ""), ("no-list", "does not know tools/list")])
async def test_a_server_without_a_list_is_connected_without_tools(manager: Manager, how: str, says: str) -> None:
    await manager.register(stdio("s", "sloppy_server.py", how))
    assert await manager.connect("s"), manager.explain("s").summary
    assert manager.tools("s") == []
    assert says in " ".join(manager.connection("s").catalogue.warnings)


MEND = {
    "fraction-id": "an id must come back as the number that it was",
    "content-length": "frames its messages like a language server",
    "no-line-end": "never ended the line",
    "pretty": "it must write one message a line",
    "prompt": "the last '> {",
    "utf-16": "no JSON-RPC message",
    "text-error": "Report it to the server's makers",
}


@pytest.mark.slow
async def test_n10_a_server_that_cannot_be_understood_is_told_what_to_mend() -> None:
    never_again = ReconnectPolicy(enabled=False)  # so that each can be asked why after the last one has had its turn
    settings = ConnectionSettings(connect_timeout_seconds=15, probe_timeout_seconds=1, reconnect=never_again)
    async with managed(settings) as manager:
        for how in MEND:
            await manager.register(stdio(how, "sloppy_server.py", how))
        assert await asyncio.gather(*(manager.connect(how) for how in MEND)) == [False] * len(MEND)
        told = {how: manager.explain(how).remedy for how in MEND}
        assert {how: says for how, says in MEND.items() if says not in told[how]} == {}, told
