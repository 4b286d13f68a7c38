"""Sliding windows: exact under any order of requests."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.models.limits.rate import Allowance, RateLimits, Window


def test_a_window_is_full_until_its_oldest_entry_is_older_than_the_window() -> None:
    window = Window(2, 60, margin_seconds=0.25)
    window.spend(1, 0.0)
    window.spend(1, 10.0)
    assert window.earliest(1, 20.0) == 60.25
    assert window.earliest(2, 20.0) == 70.25
    assert window.earliest(1, 61.0) == 61.0
    assert window.earliest(3, 0.0) == math.inf


def test_what_was_really_used_replaces_the_estimate() -> None:
    allowance = Allowance(RateLimits(tokens_per_minute=100))
    receipt = allowance.spend(90, 0.0)
    assert allowance.earliest(50, 1.0) > 60
    receipt.used(20)
    assert allowance.earliest(50, 1.0) == 1.0
    receipt.give_back()
    assert allowance.earliest(100, 1.0) == 1.0


def test_a_day_is_a_window_as_well() -> None:
    allowance = Allowance(RateLimits(requests_per_minute=10, requests_per_day=12))
    at = 0.0
    for _ in range(12):
        at = allowance.earliest(0, at)
        allowance.spend(0, at)
    assert allowance.earliest(0, at) == pytest.approx(86_400.25)


@given(
    limit=st.integers(1, 20),
    steps=st.lists(st.tuples(st.floats(0, 40), st.integers(1, 20)), min_size=1, max_size=60),
)
def test_no_window_ever_holds_more_than_its_limit(limit: int, steps: list[tuple[float, int]]) -> None:
    window = Window(limit, 60)
    now, log = 0.0, []
    for pause, wanted in steps:
        amount = min(wanted, limit)
        now = window.earliest(amount, now + pause)
        window.spend(amount, now)
        log.append((now, amount))
    for start, _ in log:
        assert sum(amount for at, amount in log if start <= at <= start + 60) <= limit


def test_a_window_to_try_things_on_makes_no_entry_anew_and_leaves_the_first_as_it_was() -> None:
    window = Window(10, 60.0)
    spent = window.spend(6, 0.0)
    twin = window.copy()
    assert twin._log[0] is spent  # a day's log has a hundred thousand, and every arrival looks ahead
    twin.spend(4, 1.0)
    assert (twin.used(2.0), window.used(2.0)) == (10, 6)
    twin.used(100.0)
    assert window.used(2.0) == 6
