"""The breaker, without a clock."""

from __future__ import annotations

from naru.connections.state.breaker import Breaker


def test_it_opens_after_five_failures_in_a_row_and_lets_one_probe_through() -> None:
    breaker = Breaker()
    assert [breaker.failed(0) for _ in range(5)] == [False, False, False, False, True]
    assert breaker.wait_seconds(0.5) == 0.5
    assert breaker.wait_seconds(1.0) == 0, "the first to ask is the probe"
    assert breaker.wait_seconds(1.0) > 0, "others wait for its outcome"
    assert breaker.succeeded()
    assert breaker.wait_seconds(1.1) == 0


def test_each_failed_probe_doubles_the_pause_up_to_thirty_seconds() -> None:
    breaker, now, pauses = Breaker(), 0.0, []
    for _ in range(4):
        breaker.failed(now)
    for _ in range(7):
        breaker.failed(now)
        pauses.append(breaker.wait_seconds(now))
        now += pauses[-1]
        assert breaker.wait_seconds(now) == 0
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker()
    for _ in range(20):
        for _ in range(4):
            assert not breaker.failed(0)
        assert not breaker.succeeded()
    assert not breaker.is_open


def test_the_servers_own_wait_opens_it_at_once() -> None:
    """R-12"""
    breaker = Breaker()
    breaker.told(10, 7)
    assert breaker.wait_seconds(10) == 7
    assert breaker.wait_seconds(17) == 0


def test_a_probe_that_never_reports_does_not_hold_it_open_for_ever() -> None:
    breaker = Breaker()
    breaker.told(0, 1)
    assert breaker.wait_seconds(1) == 0
    assert breaker.wait_seconds(11) == 0
