"""Figures, their history over restarts, and what a view reads of it (N24)."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from naru.errors import StoreError
from naru.stores.kept.history import VIEWS, History, Point
from naru.telemetry.figures import CALLS, OPERATIONS, OTHER, REQUESTS, TOKENS, Figures
from naru.telemetry.recorder import Recorder, recording

NOON = 1_900_000_800
"""A moment at the beginning of a quarter of an hour."""


def at(monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    monkeypatch.setattr(time, "time", lambda: float(moment))


def test_names_follow_the_conventions_and_prometheus_reads_them() -> None:
    figures = Figures()
    figures.model("qwen", 1.5, waited=0.25, first=0.5, tokens=(400, 30))
    figures.model("qwen", 0.1, waited=0.0, error="rate_limited")
    text = generate_latest(figures.registry).decode()
    assert 'gen_ai_client_operation_duration_seconds_count{error_type="",gen_ai_request_model="qwen"} 1.0' in text
    assert (
        'gen_ai_client_operation_duration_seconds_count{error_type="rate_limited",gen_ai_request_model="qwen"}' in text
    )
    assert 'gen_ai_client_token_usage_sum{gen_ai_request_model="qwen",gen_ai_token_type="input"} 400.0' in text
    assert 'gen_ai_client_operation_time_to_first_chunk_seconds_count{gen_ai_request_model="qwen"} 1.0' in text
    assert 'naru_model_wait_seconds_sum{gen_ai_request_model="qwen"} 0.25' in text


def test_names_from_outside_do_not_grow_without_end() -> None:
    figures = Figures()
    for number in range(2000):
        figures.model(f"made-up-{number}", 0.1, waited=0.0)
    models = {one.labels[0] for one in figures.series() if one.name == OPERATIONS}
    assert len(models) <= 501
    assert OTHER in models
    assert sum(one.count for one in figures.series() if one.name == OPERATIONS) == 2000


async def test_what_several_write_at_the_same_time_or_give_up_to_write_counts_once(tmp_path: Path) -> None:
    """Each page of the console that shows figures writes them first, and a page may be closed."""
    figures = Figures()
    recorder = Recorder(figures, History(tmp_path / "figures.db"))
    figures.request("/mcp", 200, 0.1)
    given_up = asyncio.create_task(recorder.write())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, recorder.write(), recorder.write(), return_exceptions=True)
    assert [point.count for point in await recorder.history.read(60, 0)] == [1]


async def test_what_was_gained_is_kept_in_three_resolutions_over_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "figures.db"
    for moment, requests in ((NOON, 3), (NOON + 30, 2), (NOON + 70, 1)):  # each a hub of its own: restarts
        figures = Figures()
        at(monkeypatch, moment)
        for _ in range(requests):
            figures.request("/mcp", 200, 0.02)
        recorder = Recorder(figures, History(path))
        await recorder.write()
        await recorder.write()  # nothing was gained: nothing is counted twice
    history = History(path)
    minutes = await history.read(60, NOON)
    assert [(one.at - NOON, one.count) for one in minutes] == [(0, 5), (60, 1)]
    assert [(one.at - NOON, one.count) for one in await history.read(900, NOON)] == [(0, 6)]
    assert [one.count for one in await history.read(3600, NOON)] == [6]
    assert sum(minutes[0].buckets) == 5
    assert minutes[0].labels == ("/mcp", "ok")
    assert minutes[0].total == pytest.approx(0.1)


async def test_a_history_that_cannot_be_written_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").touch()
    figures = Figures()
    figures.call("hr", "find", "ok", 0.1)
    away = Recorder(figures, History(tmp_path / "taken" / "figures.db"))
    at(monkeypatch, NOON)
    await away.write()
    with pytest.raises(StoreError, match="choose another folder"):
        await away.history.read(60, 0)
    (tmp_path / "taken").unlink()
    await away.write()
    assert [(one.name, one.count) for one in await away.history.read(60, 0)] == [(CALLS, 1)]


async def test_old_minutes_go_and_hours_stay(tmp_path: Path) -> None:
    history = History(tmp_path / "figures.db")
    old = Point(NOON - 3 * 86_400, TOKENS, ("m", "input"), 1, 7.0, (1,))
    await history.add([old])
    await history.add([Point(NOON, TOKENS, ("m", "input"), 1, 7.0, (1,))])
    assert [one.at for one in await history.read(60, 0)] == [NOON]
    assert len(await history.read(3600, 0)) == 2


async def test_the_rest_is_written_at_the_end(tmp_path: Path) -> None:
    figures = Figures()
    recorder = Recorder(figures, History(tmp_path / "figures.db"))
    async with recording(recorder):
        figures.request("/mcp", 0, 0.2)
    (kept,) = await recorder.history.read(60, 0)
    assert (kept.name, kept.labels) == (REQUESTS, ("/mcp", "cancelled"))


async def test_a_file_of_a_newer_naru_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "figures.db"
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="newer Naru"):
        await History(path).read(60, 0)


def tallies(points: Iterable[Point]) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return how often each series was counted in these points."""
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for one in points:
        assert sum(one.buckets) == one.count
        found[one.name, one.labels] += one.count
    return found


async def filled(history: History) -> None:
    """Fill eight days with a call each ten minutes of each of three tools, some of which fail."""
    await history.add(
        [
            Point(NOON - minute * 60, CALLS, ("hr", f"tool{number}", outcome), 1, 0.1, (1, 0))
            for minute in range(0, 8 * 1440, 10)
            for number in range(3)
            for outcome in (["failed"] if minute % 7 == number else ["ok"])
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 61, 3599, 40_000])
async def test_whole_days_and_hours_come_to_what_the_steps_do_in_few_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:  # issue 22, accepted: a first view with a year of figures
    history = History(tmp_path / "figures.db")
    await filled(history)
    at(monkeypatch, NOON + late)
    for step, shown in VIEWS.items():
        begin = NOON + late - (NOON + late) % step - shown + step
        steps, sums = await history.read(step, begin), await history.read_sums(step, begin)
        assert tallies(sums) == tallies(steps), step
        assert len(sums) <= 40 * 6
        together = await history.read_together(step, begin)
        assert {one.labels for one in together} <= {("ok",), ("failed",)}
        assert sum(one.count for one in together) == sum(one.count for one in steps)


async def test_what_an_older_naru_kept_is_summed_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "figures.db"
    await filled(History(path))
    at(monkeypatch, NOON)
    before = {step: [await read(step, NOON - shown) for read in reads(path)] for step, shown in VIEWS.items()}
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:  # as version 1 left it
        connection.execute("delete from figures where step < 0 or step = 86400")
        connection.execute("pragma user_version = 1")
    for _ in range(2):
        after = {step: [await read(step, NOON - shown) for read in reads(path)] for step, shown in VIEWS.items()}
        for step in VIEWS:
            assert [tallies(one) for one in after[step]] == [tallies(one) for one in before[step]]


def reads(path: Path) -> tuple[Callable[[int, int], Awaitable[Sequence[Point]]], ...]:
    history = History(path)
    return history.read, history.read_sums, history.read_together
