"""A file's lock: in the order of coming, and given up without a trace (R-27)."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from naru.errors import StoreError
from naru.stores.files import atomic
from naru.stores.files.atomic import file_lock
from tests.waiting import until

WAITERS = 6


def take_a_turn(folder: Path, number: int) -> None:
    """Write the own number into the common file, under its lock."""
    with file_lock(folder / "turns"), (folder / "turns").open("a") as turns:
        turns.write(f"{number}\n")


def stands_in_line(pid: int | None) -> bool:
    """Tell whether a process waits for a file's lock in the kernel's line."""
    locks = [line.split() for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines()]
    return any(lock[1:3] == ["->", "FLOCK"] and lock[5] == str(pid) for lock in locks)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="who waits for a lock is told by Linux alone")
async def test_r27_who_came_first_has_the_next_turn(tmp_path: Path) -> None:
    """By luck six come in this order once in 720 times; where turns take seconds, luck is minutes."""
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=take_a_turn, args=(tmp_path, number)) for number in range(WAITERS)]
    with file_lock(tmp_path / "turns"):
        for process in processes:
            process.start()
            await until(lambda: stands_in_line(process.pid))  # noqa: B023  # asked at once
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert [int(line) for line in (tmp_path / "turns").read_text(encoding="utf-8").split()] == list(range(WAITERS))


def test_who_gave_up_waiting_holds_nothing_later(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    other = context.Process(target=hold_until_told, args=(path, theirs))
    other.start()
    assert ours.poll(60)
    assert ours.recv() == "held"
    with pytest.raises(StoreError, match=r"locked by another process for 0.05 s"), file_lock(path, wait_seconds=0.05):
        pytest.fail("two hold it")
    ours.send("release")
    other.join(60)
    assert other.exitcode == 0
    with file_lock(path), pytest.raises(StoreError), file_lock(path, wait_seconds=0.05):
        pytest.fail("two hold it")
    with file_lock(path):
        pass


def hold_until_told(path: Path, pipe: Connection) -> None:
    """The whole other process."""
    with file_lock(path):
        pipe.send("held")
        assert pipe.poll(60)
        pipe.recv()


def test_files_that_come_and_go_leave_nothing_in_memory(tmp_path: Path) -> None:
    for number in range(2 * atomic._MOST_TURNS):
        with file_lock(tmp_path / f"{number}"):
            pass
        atomic._TURNS[str(tmp_path / f".{number}.lock")].released_at = -atomic.HAD_SECONDS  # a while ago
    assert len(atomic._TURNS) <= atomic._MOST_TURNS
