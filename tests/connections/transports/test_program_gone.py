"""A program that has closed its stdin: a write fails with why, not with words of the event loop (R-03, H2)."""

from __future__ import annotations

import asyncio
import sys

import pytest
import uvloop

from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports import stdio
from naru.connections.transports.base import Outgoing
from naru.connections.transports.stdio import StdioTransport
from naru.connections.wire import messages as wire
from naru.messages import JsonObject
from naru.stores.secrets.values import SecretValues
from tests.waiting import HANG_SECONDS, until

_CLOSES_STDIN = "import os, sys, time; print('no room', file=sys.stderr, flush=True); os.close(0); time.sleep(600)"
_ENDS_SLOWLY = "import os, time; os.close(1); time.sleep(0.5); os._exit(7)"


class Inbox:
    """Hears nothing but the end."""

    def __init__(self) -> None:
        self.heard = ""

    def receive(self, message: JsonObject, call: Outgoing | None) -> None:
        raise AssertionError(message)

    def lost(self, failure: Failure) -> None:
        self.heard = failure.message


@pytest.mark.slow
async def test_a_write_to_a_program_that_closed_its_stdin_says_why() -> None:
    config = {"command": sys.executable, "args": ["-c", _CLOSES_STDIN]}
    transport = StdioTransport(config, SecretValues(), ConnectionSettings())
    inbox = Inbox()
    await transport.open(inbox)
    try:
        assert transport._stdin is not None
        await until(transport._stdin.is_closing)
        with pytest.raises(LinkError, match="closed its output"):
            await transport.send(wire.encode({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    finally:
        await transport.close()
    assert "closed its output" in inbox.heard


@pytest.mark.slow
async def test_writes_to_a_program_that_closed_its_stdin_put_off_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_ENDING_SECONDS", 0.5)
    config = {"command": sys.executable, "args": ["-c", _CLOSES_STDIN]}
    transport, inbox = StdioTransport(config, SecretValues(), ConnectionSettings()), Inbox()
    await transport.open(inbox)
    writes: list[asyncio.Future[None]] = []
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while not inbox.heard:
                ping = wire.encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
                writes.append(asyncio.ensure_future(transport.send(ping)))
                await asyncio.sleep(0.05)
    finally:
        await transport.close()
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert "closed its output" in str(outcomes[-1])


async def test_a_program_that_closes_its_output_before_it_ends_is_told_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "_ENDING_SECONDS", HANG_SECONDS)  # a busy machine may take seconds to let it end
    config = {"command": sys.executable, "args": ["-c", _ENDS_SLOWLY]}
    transport, inbox = StdioTransport(config, SecretValues(), ConnectionSettings()), Inbox()
    await transport.open(inbox)
    try:
        await until(lambda: inbox.heard)
        assert inbox.heard == "the process exited with code 7."
    finally:
        await transport.close()


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not for Windows")
def test_two_signs_of_an_end_whose_time_is_over_are_one_end_on_uvloop_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """There what is due at once has no timer to be asked for its time, on a machine that was busy meanwhile (H14)."""
    monkeypatch.setattr(stdio, "_ENDING_SECONDS", -1.0)
    transport, inbox = StdioTransport({"command": "x"}, SecretValues(), ConnectionSettings()), Inbox()
    transport._inbox = inbox

    async def ends() -> None:
        transport.pipe_connection_lost(1, None)
        transport.pipe_connection_lost(0, None)
        await until(lambda: bool(inbox.heard))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(ends())
    assert "closed its output" in inbox.heard
