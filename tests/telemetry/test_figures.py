"""Figures, their history over restarts, and what a view reads of it (N24)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from naru.errors import StoreError
from naru.stores.kept.history import History, Point
from naru.telemetry import recorder as recorder_module
from naru.telemetry.figures import CALLS, OPERATIONS, OTHER, REQUESTS, TOKENS, Figures
from naru.telemetry.recorder import Recorder, recording

NOON = 1_900_000_800
"""A moment at the beginning of a quarter of an hour."""


def at(monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    monkeypatch.setattr(recorder_module.time, "time", lambda: float(moment))


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
