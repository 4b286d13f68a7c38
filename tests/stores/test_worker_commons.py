"""Workers of one machine: who is there, and who is no more."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from naru.messages import Json
from naru.stores.shared import workers
from naru.stores.shared.workers import WorkerCommons
from tests.waiting import HANG_SECONDS, until


@pytest.fixture
def sockets() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as made:  # noqa: S108  # sockets need short paths
        yield Path(made)


async def test_a_worker_that_broke_off_one_answer_is_still_there(tmp_path: Path, sockets: Path) -> None:
    other, one = (WorkerCommons(tmp_path, sockets, scheme="http") for _ in range(2))
    with other.listen():
        await one.open()
        one.lost(other.me)
        assert other.me in one.members()
        await one.close()


@pytest.mark.parametrize("how", ["it does not answer", "another takes its place"])
async def test_a_worker_that_is_no_more_is_struck_out(tmp_path: Path, sockets: Path, how: str) -> None:
    dead, one, next_one = (WorkerCommons(tmp_path, sockets, scheme="http") for _ in range(3))
    held = dead.listen()
    await one.open()
    assert dead.me in one.members()
    held.close()  # its file stays, as after a kill
    if how == "it does not answer":
        one.lost(dead.me)
    else:
        with next_one.listen():
            await next_one.open()
            await until(lambda: next_one.me in one.members())
            assert dead.me not in next_one.members()
            await next_one.close()
    assert dead.me not in one.members()
    await one.close()


async def test_one_that_cannot_take_what_is_told_keeps_it_from_no_other(tmp_path: Path, sockets: Path) -> None:
    told = asyncio.Queue[Json]()

    def fail(what: Json) -> None:
        raise RuntimeError(what)

    teller, other = (WorkerCommons(tmp_path, sockets, scheme="http") for _ in range(2))
    other.hear("servers", fail)
    other.hear("servers", told.put_nowait)
    with teller.listen(), other.listen():
        await other.open()
        await teller.open()
        teller.tell("servers", "one")
        teller.tell("servers", "two")
        async with asyncio.timeout(HANG_SECONDS):
            assert [await told.get(), await told.get()] == ["one", "two"]
        await teller.close()
        await other.close()


async def test_a_worker_whose_notice_was_lost_is_found_all_the_same(
    tmp_path: Path, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.1)
    heard: list[Json] = []
    busy, teller, late = (WorkerCommons(tmp_path, sockets, scheme="http") for _ in range(3))
    busy.hear("spent", heard.append)
    with busy.listen(), teller.listen():
        await busy.open()
        await teller.open()
        teller.tell("spent", 0)
        await until(lambda: heard)
        for count in range(1, 20):  # more than the kernel keeps for one that does not read
            teller.tell("spent", count)
        with late.listen():
            await late.open()
            await until(lambda: late.me in busy.members())
            for one in (busy, teller, late):
                await one.close()
