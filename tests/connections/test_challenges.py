"""What a server says when it refuses us (RFC 6750): read whatever stands in it, in linear time."""

from __future__ import annotations

import pytest

from naru.connections.oauth.discovery import Challenge, read_challenge


def test_a_challenge_is_read_by_its_parameters() -> None:
    header = 'Bearer realm="x", error="invalid_token", scope="a b a", resource_metadata="https://x/y"'
    assert read_challenge(header) == Challenge("https://x/y", "a b", "invalid_token")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["a", "a ", 'a="', 'a="b\\'], ids=["word", "words", "open", "escaped"])
def test_a_hostile_challenge_takes_linear_time(unit: str) -> None:
    """It takes milliseconds; what grows with its square would take minutes, in which the hub answers nobody."""
    assert read_challenge(unit * (2**18 // len(unit))).error == ""
