"""A file's lock: in the order of coming, and given up without a trace (R-27)."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from naru.errors import StoreError
from naru.stores.files.atomic import file_lock

PROCESSES, TURNS = 8, 30


def take_turns(folder: Path, number: int) -> None:
    """Write the own number into the common file, each time under its lock, as often as is the turn."""
    for _ in range(TURNS):
        with file_lock(folder / "turns"), (folder / "turns").open("a") as turns:
            turns.write(f"{number}\n")
            time.sleep(0.02)  # as a disk that is busy: whoever looks meanwhile finds it taken


def test_r27_nobody_waits_while_others_have_turn_after_turn(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=take_turns, args=(tmp_path, number)) for number in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    took = [int(line) for line in (tmp_path / "turns").read_text().split()]
    assert len(took) == PROCESSES * TURNS
    waits = [
        later - earlier - 1
        for number in range(PROCESSES)
        for turns in [[turn for turn, who in enumerate(took) if who == number]]
        for earlier, later in itertools.pairwise(turns)
    ]
    # In order it is 7; by luck the longest of 232 waits was 32 and 38 turns, and then 8 and 12.
    assert max(waits) <= 20, took


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
