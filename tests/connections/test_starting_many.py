"""Starting many programs at once: so many at a time, patience while one installs (issue 16, line 3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from naru.connections.state.faults import Failure
from naru.connections.state.lifecycle import Lifecycle, ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings, settings_for
from naru.connections.state.starts import INSTALL_SECONDS, Starts, may_install, patience
from naru.connections.transports.base import LogRing
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.stores.secrets.values import SecretValues
from tests.connections.conftest import QUICK, managed, stdio
from tests.waiting import until

_FAILURE = Failure("connect", "exited", "it ended.")
SLOW = """
import json, pathlib, sys, time
folder, seconds, talks = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "talks"
mine = folder / f"running-{sys.argv[4]}"
mine.touch()
most = folder / f"most-{sys.argv[4]}"
most.write_text(str(len(list(folder.glob("running-*")))))
end = time.monotonic() + seconds
while time.monotonic() < end:
    time.sleep(0.2)
    if talks:
        print("Downloading package …", file=sys.stderr, flush=True)
mine.unlink()
for line in sys.stdin:
    message = json.loads(line)
    number = message.get("id")
    info = {"name": "x", "version": "1"}
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if message["method"] == "tools/list":
        result = {"tools": []}
    if message["method"] in ("initialize", "tools/list"):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
    elif number is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}}), flush=True)
"""


def slow(folder: Path, name: str, seconds: float, *, talks: bool = False, **config: object) -> ServerRecord:
    program = folder / "slow.py"
    program.write_text(SLOW, encoding="utf-8")
    return stdio(name, str(program), str(folder), str(seconds), "talks" if talks else "silent", name, **config)


@pytest.mark.slow
async def test_no_more_start_at_a_time_than_the_budget_and_all_of_them_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve that need two seconds each, two at a time, with a patience that all twelve together would use up."""
    monkeypatch.setattr("naru.connections.state.starts._HELD_SECONDS", 60)
    settings = replace(QUICK, max_connecting=2, connect_timeout_seconds=12)
    async with managed(settings) as manager:
        for number in range(12):
            await manager._store.save(slow(tmp_path, f"s{number}", 2))
        await manager.initialize_from_store()
        await until(lambda: all(connection.is_live for connection in manager.connections.values()))
        assert {manager.connection(f"s{n}").life.attempt for n in range(12)} == {0}, "each came at its first try"
    assert max(int(path.read_text(encoding="utf-8")) for path in tmp_path.glob("most-*")) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(("talks", "connects"), [(True, True), (False, False)])
async def test_a_start_whose_stderr_moves_is_told_from_one_that_hangs(
    talks: bool, connects: bool, tmp_path: Path
) -> None:
    async with managed(replace(QUICK, connect_timeout_seconds=5)) as manager:
        await manager.register(slow(tmp_path, "s", 7 if talks else 600, talks=talks))
        assert await manager.connect("s") is connects
        if not connects:
            assert "`startTimeout`" in manager.explain("s").remedy
            await until(lambda: manager.explain("s").status is ServerStatus.CONNECTING)
            assert "`startTimeout`" in manager.explain("s").remedy, "while it is tried again, too"


@pytest.mark.slow
async def test_patience_is_a_setting_of_the_record(tmp_path: Path) -> None:
    """Line 7, too: a server that needs longer than ours starts."""
    async with managed(replace(QUICK, connect_timeout_seconds=2)) as manager:
        await manager.register(slow(tmp_path, "own", 4, startTimeout="30s"))
        await manager.register(slow(tmp_path, "timeout", 4, timeout=40_000))
        assert await asyncio.gather(manager.connect("own"), manager.connect("timeout")) == [True, True]


@pytest.mark.slow
async def test_what_may_install_has_longer_and_the_explanation_says_so(tmp_path: Path) -> None:
    program = tmp_path / "uvx"
    program.write_text("#!/bin/sh\necho Resolving packages >&2\nexec sleep 600\n", encoding="utf-8")
    program.chmod(0o755)
    record = ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": str(program)})
    assert may_install(record)
    assert settings_for(record, ConnectionSettings()).connect_timeout_seconds == INSTALL_SECONDS
    assert settings_for(stdio("p", "x.py"), ConnectionSettings()).connect_timeout_seconds == 30
    async with managed() as manager:
        await manager.register(record)
        attempt = asyncio.create_task(manager.connect("s"))
        await until(lambda: "Resolving packages" in manager.explain("s").summary)
        assert "still installing" in manager.explain("s").summary
        attempt.cancel()


async def test_a_hanging_start_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naru.connections.state.starts._HELD_SECONDS", 0.05)
    starts, record = Starts(1), stdio("s", "x.py")
    async with starts.turn(record), asyncio.timeout(30), starts.turn(record):
        pass
    async with asyncio.timeout(30), starts.turn(record):
        pass  # no slot was lost or doubled


async def test_patience_ends_also_for_one_that_talks_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naru.connections.state.starts._LOOK_SECONDS", 0.01)
    logs = LogRing(1000, SecretValues())

    async def talk() -> None:
        async with patience(0.1, logs):
            while True:
                logs.add(b"x\n")
                await asyncio.sleep(0.01)

    with pytest.raises(TimeoutError):
        await talk()


def test_a_persons_connect_begins_the_count_anew() -> None:
    life = Lifecycle(ReconnectPolicy(max_attempts=2), chance=lambda: 0.5)
    life.connect(0)
    for moment in (1, 2):
        life.begin(moment)
        life.failed(moment, _FAILURE)
    life.begin(3)
    life.connect(3.5)  # while an attempt runs
    life.failed(4, _FAILURE)
    assert (life.status, life.gave_up, life.attempt) == (ServerStatus.FAILED, False, 1)
