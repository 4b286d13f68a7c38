"""Days and times in words become ISO."""

from __future__ import annotations

from datetime import date

import pytest

from naru.agent.moments import dates_in, times_in

TODAY = date(2026, 3, 31)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2026-12-01 and 2026/1/5", ["2026-12-01", "2026-01-05"]),
        ("2026년 12월 3일 일정", ["2026-12-03"]),
        ("5월 2일에", ["2026-05-02"]),
        ("December 3rd, 2025", ["2025-12-03"]),
        ("3 December", ["2026-12-03"]),
        ("what is on tomorrow", ["2026-04-01"]),
        ("내일 날씨", ["2026-04-01"]),
        ("2026-13-40", []),
        ("room 12 at 10:30", []),
    ],
)
def test_days_are_told_in_either_language(text: str, days: list[str]) -> None:
    assert dates_in(text, TODAY) == days


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 16:30", ["16:30"]),
        ("at 3 pm", ["15:00"]),
        ("12 a.m.", ["00:00"]),
        ("오후 3시 20분", ["15:20"]),
        ("9시 반", ["09:30"]),
        ("2026-12-01", []),
    ],
)
def test_times_of_day_are_told_in_either_language(text: str, times: list[str]) -> None:
    assert times_in(text) == times
