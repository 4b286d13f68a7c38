"""Bodies of requests: refused in time, whatever stands in them (S-08)."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from naru.web.bodies import MAX_KEYS, BodyError, decode_json


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": {"b": 1, "b": 2}}', "The key 'b' stands twice"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 64"),
        (b'"' + b"[" * 65 + b'\\"' + b"[" * 65, "Unterminated string"),
        (b"NaN", "NaN is not JSON"),
    ],
)
def test_what_is_no_strict_json_is_named(body: bytes, said: str) -> None:
    with pytest.raises(BodyError, match=said):
        decode_json(body)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("end", [b"", b"\\"], ids=["open", "escaping"])
def test_a_text_that_never_ends_is_refused_in_linear_time(end: bytes) -> None:
    """It takes milliseconds; what grows with its square would take hours, in which the hub answers nobody."""
    with pytest.raises(BodyError, match="not JSON"):
        decode_json(b'"' + b'\\"' * 2**18 + end)


def test_brackets_within_strings_are_no_depth() -> None:
    assert decode_json(b'["' + b"[" * 1000 + b'\\"[", {"a": "]"}]') == ["[" * 1000 + '"[', {"a": "]"}]


def test_a_key_that_stands_twice_among_many_is_found_in_linear_time() -> None:
    steps = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += 1

    members = ",".join(f'"{number}":1' for number in [*range(MAX_KEYS // 10), MAX_KEYS // 10 - 1])
    sys.setprofile(counted)
    try:
        with pytest.raises(BodyError, match="The key '999' stands twice"):
            decode_json(f"{{{members}}}".encode())
    finally:
        sys.setprofile(None)
    assert steps < 20 * MAX_KEYS
