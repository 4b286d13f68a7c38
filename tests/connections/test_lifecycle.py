"""The state machine, without a clock: every time is a number (H3)."""

from __future__ import annotations

from collections import Counter

import pytest

from naru.connections.state.faults import Failure
from naru.connections.state.lifecycle import Lifecycle, ReconnectPolicy
from naru.records import ServerStatus

REFUSED = Failure("connect", "refused", "no connection.")
EXACT = ReconnectPolicy(jitter=0.0)


def machine(policy: ReconnectPolicy = EXACT, chance: float = 0.5) -> Lifecycle:
    return Lifecycle(policy, chance=lambda: chance)


def attempt(life: Lifecycle, now: float) -> None:
    assert life.wait_seconds(now) == 0
    life.begin(now)


def test_register_connect_and_disconnect_take_the_seeds_states() -> None:
    life = machine()
    assert life.status is ServerStatus.PENDING
    assert life.wait_seconds(0) is None
    life.connect(1)
    attempt(life, 1)
    assert life.status is ServerStatus.CONNECTING
    life.opened(2)
    assert (life.status, life.since, life.generation) == (ServerStatus.CONNECTED, 2, 1)
    life.disconnect(3)
    assert life.status is ServerStatus.DISCONNECTED
    assert life.wait_seconds(3) is None


def test_a_failing_server_is_tried_at_the_seeds_delays_and_then_given_up() -> None:
    """H10: 5, 10, 20, 40, 60 s, then not again by itself."""
    life = machine()
    life.connect(0)
    now, delays = 0.0, []
    while (wait := life.wait_seconds(now)) is not None:
        now += wait
        if wait:
            delays.append(wait)
        life.begin(now)
        life.failed(now, REFUSED)
    assert delays == [5, 10, 20, 40, 60]
    assert life.status is ServerStatus.FAILED
    assert life.gave_up
    life.connect(now)
    assert life.wait_seconds(now) == 0


@pytest.mark.parametrize("chance", [0.0, 0.25, 0.999])
def test_jitter_stays_within_a_quarter_either_way(chance: float) -> None:
    policy = ReconnectPolicy()
    for number, base in enumerate((5, 10, 20, 40, 60, 60), 1):
        assert base * 0.75 <= policy.delay(number, chance) <= base * 1.25
    assert policy.delay(10_000, 0.5) == 60


def test_a_healthy_link_that_drops_is_tried_at_once_and_counts_anew() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.failed(0, REFUSED)
    attempt(life, 5)
    life.opened(5)
    life.failed(5 + EXACT.stable_seconds, REFUSED)
    assert life.wait_seconds(15) == 0
    assert life.attempt == 1


def test_a_link_that_answered_a_request_is_healthy_however_young() -> None:
    life = machine()
    life.connect(0)
    for cycle in range(50):
        attempt(life, cycle)
        life.opened(cycle)
        life.prove()
        life.failed(cycle + 0.5, REFUSED)
        assert life.wait_seconds(cycle + 0.5) == 0
    assert not life.in_crash_loop(50)


def test_a_crash_loop_is_tried_ten_times_in_two_minutes_at_most() -> None:
    """R-32"""
    life = machine(ReconnectPolicy(max_attempts=0))
    life.connect(0)
    now, spawns = 0.0, 0
    while now <= 120:
        wait = life.wait_seconds(now)
        assert wait is not None
        now += wait
        life.begin(now)
        spawns += 1
        life.opened(now)  # it comes up and dies at once
        life.failed(now, Failure("stream", "exited", "the process exited with code 1."))
    print(f"R-32: {spawns} spawns in 2 min")
    assert spawns <= 10


def test_a_hopeless_failure_is_not_repeated_by_itself() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.failed(0, Failure("config", "variable_not_set", "MY_URL not set", retryable=False))
    assert life.wait_seconds(0) is None
    assert life.gave_up


def test_wanting_credentials_is_a_state_of_its_own_without_retries() -> None:
    """R-11"""
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.failed(0, Failure("connect", "unauthorized", "401", needs_auth=True))
    assert life.status is ServerStatus.NEEDS_AUTH
    assert life.wait_seconds(0) is None
    life.connect(60)
    assert life.wait_seconds(60) == 0


@pytest.mark.parametrize(("told", "waits"), [(7.0, 7.0), (3600.0, 120.0)])
def test_the_servers_own_wait_is_obeyed_up_to_a_limit(told: float, waits: float) -> None:
    """R-12"""
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.failed(0, Failure("connect", "http_503", "busy", retry_after_seconds=told))
    assert life.wait_seconds(0) == waits


def test_a_wish_brings_a_planned_retry_forward_and_does_not_disturb_an_attempt() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.connect(0.1)
    assert life.wait_seconds(0.1) is None
    life.failed(1, REFUSED)
    assert life.wait_seconds(1) == 5
    life.demand(2)
    assert life.wait_seconds(2) == 0
    attempt(life, 2)
    life.failed(2, REFUSED)
    assert life.attempt == 2, "a call's wish does not make it forget how often it failed"


def test_a_disconnect_while_connecting_ends_the_retries() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.disconnect(1)
    assert life.status is ServerStatus.DISCONNECTED
    assert life.wait_seconds(1) is None


def test_no_retry_is_planned_when_reconnection_is_off() -> None:
    life = machine(ReconnectPolicy(enabled=False))
    life.connect(0)
    attempt(life, 0)
    life.failed(0, REFUSED)
    assert life.wait_seconds(0) is None


def test_the_last_failure_and_the_time_since_are_kept() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.failed(1, REFUSED)
    attempt(life, 6)
    life.failed(7, Failure("initialize", "timeout", "slow"))
    assert life.failing_since == 1
    assert life.failed_at == 7
    assert life.last_failure is not None
    assert life.last_failure.code == "timeout"
    life.connect(8)
    attempt(life, 8)
    life.opened(9)
    assert life.failing_since is None
    assert life.last_failure is not None, "what happened last is still shown (H3)"


def test_trouble_on_a_live_link_is_shown_and_taken_back() -> None:
    life = machine()
    life.connect(0)
    attempt(life, 0)
    life.opened(0)
    life.degrade(1, Failure("call", "http_503", "down"))
    assert life.status is ServerStatus.DEGRADED
    assert life.is_live
    life.recover(2)
    assert life.status is ServerStatus.CONNECTED


def test_two_hundred_servers_lost_together_come_back_spread_out() -> None:
    """R-33: no 100 ms bucket holds more than a fifth, neither at the first redial nor at later retries."""
    import random

    chance = random.Random(7)
    buckets: dict[str, Counter[int]] = {"first": Counter(), "second": Counter()}
    for _ in range(200):
        life = Lifecycle(ReconnectPolicy(spread_seconds=1.0), chance=chance.random)
        life.connect(0)
        life.begin(0)
        life.opened(0)
        life.failed(100, REFUSED)
        first = life.wait_seconds(100)
        assert first is not None
        life.begin(100 + first)
        life.failed(100 + first, REFUSED)
        second = life.wait_seconds(100 + first)
        assert second is not None
        buckets["first"][int(first * 10)] += 1
        buckets["second"][int((first + second) * 10)] += 1
    fullest = {name: max(counts.values()) for name, counts in buckets.items()}
    print(f"R-33: fullest 100 ms of 200 servers: {fullest}")
    assert all(count <= 40 for count in fullest.values())
