"""A local engine that dies: one start for all who ask, whatever becomes of them. A script stands in for the child."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.waiting import until

from naru.errors import ModelError
from naru.models.local.engine import LocalEngine

CHILD = """#!/bin/sh
cd "$(dirname "$0")"
read -r options
[ -e broken ] && exit 3
while [ -e held ]; do sleep 0.01; done
echo '{"listening": "http://127.0.0.1:9"}'
read -r end
"""


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalEngine]:
    child, model = tmp_path / "child", tmp_path / "model.gguf"
    child.write_text(CHILD, encoding="utf-8")
    child.chmod(0o700)
    model.write_bytes(b"GGUF" + bytes(2000))
    monkeypatch.setattr(sys, "executable", str(child))
    monkeypatch.setattr("naru.models.local.engine._STOP_SECONDS", 0.05)
    async with LocalEngine(model) as engine:
        yield engine


async def killed(engine: LocalEngine) -> None:
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    assert await engine.has_died()


async def test_a_start_that_failed_is_tried_again_by_the_next_request(engine: LocalEngine, tmp_path: Path) -> None:
    await killed(engine)
    (tmp_path / "broken").touch()
    with pytest.raises(ModelError, match="exit code 3") as told:
        await engine.ensure_running()
    assert told.value.code == "unreachable"
    (tmp_path / "broken").unlink()
    await engine.ensure_running()
    assert engine.is_running


async def test_a_request_that_goes_away_does_not_end_the_start_that_another_waits_for(
    engine: LocalEngine, tmp_path: Path
) -> None:
    await killed(engine)
    (tmp_path / "held").touch()
    first = asyncio.ensure_future(engine.ensure_running())
    await until(lambda: engine.pid)
    second = asyncio.ensure_future(engine.ensure_running())
    first.cancel()
    await asyncio.wait([first])
    assert not second.done()
    (tmp_path / "held").unlink()
    await second
    assert engine.is_running


async def test_stopping_tells_those_who_wait_for_a_start(engine: LocalEngine, tmp_path: Path) -> None:
    await killed(engine)
    (tmp_path / "held").touch()
    waiting = asyncio.ensure_future(engine.ensure_running())
    await until(lambda: engine.pid)
    await engine.stop()
    with pytest.raises(ModelError, match="being stopped"):
        await waiting
    assert not engine.is_running


async def test_an_engine_that_dies_again_and_again_is_left_alone_for_a_while_and_not_for_ever(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.monotonic
    late = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock() + late)
    await killed(engine)
    (tmp_path / "broken").touch()
    for said in ["exit code 3"] * 3 + ["died 4 times"] * 2:
        with pytest.raises(ModelError, match=said):
            await engine.ensure_running()
        late += 70.0
    (tmp_path / "broken").unlink()
    await engine.ensure_running()
    assert engine.is_running
