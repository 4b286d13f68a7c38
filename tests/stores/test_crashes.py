"""What a crash, a full disk or a second process may not do to the registry: R-24, R-25, R-26, R-27."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from naru.errors import NotFoundError, StoreError
from naru.records import ServerRecord
from naru.stores.files import atomic as atomic_file
from naru.stores.open import open_store
from tests.sizes import sized, within
from tests.stores.crash_writer import count_up, write_until_killed

KILLS = sized(30, 500)


def urls(folder: Path) -> dict[str, str]:
    return {"file": f"file:{folder / 'mcp.json'}", "sqlite": f"sqlite:{folder / 'naru.db'}"}


def record(name: str, **more: object) -> ServerRecord:
    return ServerRecord(name=name, config={"url": "http://h/"}, **more)  # type: ignore[arg-type]


async def names(url: str) -> set[str]:
    store = open_store(url)
    await store.open()
    try:
        assert list(store.problems()) == []
        return {kept.name for kept in await store.list()}
    finally:
        await store.close()


def check_history(lines: list[str], found: set[str], seed: int, history: dict[str, str]) -> None:
    """Replay what the writer said; the last operation may have been cut off by the kill, all others are certain."""
    doubtful = ""
    for line in lines:
        verb, _, name = line.partition(" ")
        if verb in ("save", "delete"):
            doubtful = name
        elif verb in ("saved", "deleted"):
            history[name] = verb
            doubtful = ""
    for name, verb in history.items():
        if name != doubtful:
            assert (name in found) is (verb == "saved"), (
                f"{name} was {verb} and is {'there' if name in found else 'gone'}"
            )
    assert {name for name in found if name not in history} <= {doubtful}
    if doubtful:
        history[doubtful] = "saved" if doubtful in found else "deleted"


def count_together(url: str, operations: int) -> int:
    """Let eight processes count at once; return how often one of them had to try again."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.stores.crash_writer"])
    pipes = []
    processes = []
    for number in range(8):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=count_up, args=(url, number, operations, theirs))
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    retried = [pipe.recv() for pipe in pipes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    return sum(retried)


def run_and_kill(url: str, seed: int, lines_before: int, seconds: float) -> list[str]:
    """Run a writer, kill it hard after so many lines and a moment more, and return what it said."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.stores.crash_writer"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=write_until_killed, args=(url, seed, theirs))
    process.start()
    theirs.close()
    assert ours.poll(60)
    assert ours.recv() == "up"
    lines = []
    with contextlib.suppress(EOFError, OSError):  # the last line may be torn
        while len(lines) < lines_before and ours.poll(5):
            lines.append(ours.recv())
        time.sleep(seconds)
        process.kill()
        process.join(60)
        while True:
            lines.append(ours.recv())
    ours.close()
    process.close()
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "sqlite"])
async def test_r25_kills_lose_nothing_that_was_acknowledged(tmp_path: Path, kind: str) -> None:
    url = urls(tmp_path)[kind]
    chance = random.Random(7)
    history: dict[str, str] = {}
    operations = 0
    starts: list[float] = []
    for kill in range(KILLS // 2):
        lines = await asyncio.to_thread(run_and_kill, url, kill, chance.randrange(16), chance.random() * 0.02)
        started = time.monotonic()
        found = await names(url)
        starts.append(time.monotonic() - started)
        check_history(lines, found, kill, history)
        operations += len(lines) // 2
        if len(found) > 60:
            store = open_store(url)
            await store.open()
            for name in sorted(found):
                await store.delete(name)
                history[name] = "deleted"
            await store.close()
    assert not [left.name for left in tmp_path.iterdir() if left.name.endswith((".tmp", ".old"))]
    starts.sort()
    middle, worst = starts[len(starts) // 2] * 1000, starts[-1] * 1000
    print(
        f"R-25 {kind}: {KILLS // 2} kills, {operations} operations, 0 lost; up in {middle:.0f} ms, at most {worst:.0f}"
    )
    assert middle < within(2) * 1000


def failing(monkeypatch: pytest.MonkeyPatch, module: object, name: str, code: int, *, after: int = 0) -> None:
    real = getattr(module, name)
    seen = 0

    def call(*arguments: object, **more: object) -> object:
        nonlocal seen
        seen += 1
        if seen > after:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **more)

    monkeypatch.setattr(module, name, call)


@pytest.mark.slow
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize(
    ("name", "after"), [("write", 0), ("fsync", 0), ("fsync", 1), ("link", 0), ("replace", 0), ("open", 1)]
)
@pytest.mark.parametrize("operation", ["save", "update", "delete"])
async def test_r24_a_write_that_fails_leaves_disk_and_memory_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, name: str, after: int, operation: str
) -> None:
    url = urls(tmp_path)["file"]
    store = open_store(url)
    await store.open()
    await store.save(record("a"))
    await store.save(record("b"))
    before, files = (tmp_path / "mcp.json").read_bytes(), sorted(os.listdir(tmp_path))
    kept = list(await store.list())
    with monkeypatch.context() as patched:
        if name == "replace":
            failing(patched, Path, "replace", code)
        else:
            failing(patched, atomic_file.os, name, code, after=after)
        change = {
            "save": lambda: store.save(record("c")),
            "update": lambda: store.update(record("a", description="new")),
            "delete": lambda: store.delete("a"),
        }[operation]
        with pytest.raises(StoreError):
            await change()
    assert (tmp_path / "mcp.json").read_bytes() == before
    assert list(await store.list()) == kept
    assert sorted(os.listdir(tmp_path)) == files, "no temporary file is left"
    await store.save(record("c"))
    assert await names(url) == {"a", "b", "c"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "sqlite"])
async def test_r24_on_a_full_disk_nothing_is_lost(tmp_path: Path, kind: str) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs root and tmpfs to make a small disk: run as root")
    try:
        url = urls(tmp_path)[kind]
        store = open_store(url)
        await store.open()
        acknowledged: set[str] = set()

        async def fill() -> None:
            for number in range(2_000):
                await store.save(ServerRecord(name=f"s{number}", config={"url": "http://h/", "pad": "x" * 5_000}))
                acknowledged.add(f"s{number}")

        with pytest.raises(StoreError, match="Nothing was changed"):
            await fill()
        assert {kept.name for kept in await store.list()} == acknowledged
        assert not list(tmp_path.glob(".*.tmp"))
        await store.close()
        print(f"R-24 {kind}: full after {len(acknowledged)} records, all there")
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


SQLITE_BROKEN = {
    "no-database": b"hello, this is no database" * 100,
    "cut-header": b"SQLite format 3\x00",
    "zeros": b"\0" * 8192,
    "empty": b"",
}


@pytest.mark.parametrize("kind", [*SQLITE_BROKEN, "cut-in-half", "newer", "overwritten-page"])
async def test_r26_a_broken_database_is_refused_with_the_way_back(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "naru.db"
    url = f"sqlite:{path}"
    store = open_store(url)
    await store.open()
    for number in range(40):
        await store.save(ServerRecord(name=f"s{number}", config={"url": "http://h/", "pad": "x" * 1_500}))
    await store.close()
    assert await names(url)  # a good start, which leaves the backup
    content = path.read_bytes()
    if kind == "newer":
        with sqlite3.connect(path) as connection:
            connection.execute("insert into naru_schema values (99, 'future')")
        connection.close()
    else:
        broken = SQLITE_BROKEN.get(kind, content[: len(content) // 2])
        if kind == "overwritten-page":
            broken = content[:4096] + b"\xff" * 4096 + content[8192:]
        path.write_bytes(broken)
    before = path.read_bytes()
    store = open_store(url)
    with pytest.raises(StoreError) as refused:
        await store.open()
    await store.close()
    assert str(path) in str(refused.value)
    if kind == "newer":
        assert "newer Naru" in str(refused.value)
        return
    assert path.read_bytes() == before, "never overwritten"
    assert f"cp {path}.bak {path}" in str(refused.value)
    shutil.copy(f"{path}.bak", path)
    for leftover in tmp_path.glob("naru.db-*"):
        leftover.unlink()
    assert len(await names(url)) == 40


@pytest.mark.parametrize(
    ("kind", "operations"),
    [
        ("file", 2),
        ("sqlite", 3),
        pytest.param("file", sized(6, 500), marks=[pytest.mark.slow, pytest.mark.timeout(sized(900, 7200))]),
        pytest.param("sqlite", sized(60, 500), marks=[pytest.mark.slow, pytest.mark.timeout(sized(900, 7200))]),
    ],
)
async def test_r27_eight_processes_lose_no_update(tmp_path: Path, kind: str, operations: int) -> None:
    url = urls(tmp_path)[kind]
    first = open_store(url)
    await first.open()
    await first.save(record("counter", version="0"))
    retried = await asyncio.to_thread(count_together, url, operations)
    counter = await first.find_by_name("counter")
    assert counter is not None
    assert int(counter.version or 0) == 8 * operations
    expected = {f"w{number}-{turn}" for number in range(8) for turn in range(0, operations, 2)}
    assert {kept.name for kept in await first.list()} == expected | {"counter"}
    with pytest.raises(NotFoundError):
        await first.update(record("w0-1"))
    await first.close()
    print(f"R-27 {kind}: 8 processes, {8 * operations * 2} writes, {retried} retried, 0 lost")
