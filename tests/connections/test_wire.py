"""Bytes to messages and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.connections.wire import messages as wire

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(json_values)
def test_what_is_encoded_is_decoded_to_the_same(value: object) -> None:
    assert wire.decode(wire.encode({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"a": "x\xffy"}', "x\ufffdy"),
        (b'{"a": "\\ud83d"}', "\ufffd"),
        (b'{"a": "\\ude00 x"}', "\ufffd x"),
        ('{"a": "😀"}'.encode(), "😀"),
        (b'{"a": "\\ud83d\\ude00"}', "😀"),
        (b'{"a": "\\ud83d\\ude00\\ud83d"}', "😀\ufffd"),
    ],
)
def test_text_that_is_not_unicode_is_replaced_and_never_lost(data: bytes, text: str) -> None:
    """R-05"""
    decoded = wire.decode(data)
    assert decoded == {"a": text}
    decoded["a"].encode()


@pytest.mark.parametrize("data", [b"", b"NaN", b'{"a": Infinity}', b"{", b"\xff", b"[" * 100_000, b'{"a":1}{"b":2}'])
def test_what_is_not_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        wire.decode(data)


def test_integers_beyond_64_bits_survive() -> None:
    assert json.loads(wire.encode({"n": 2**80})) == {"n": 2**80}
    for number in (2**80, -(2**63) - 1, 2**64, -(10**40), 10**18):
        assert wire.decode(b'{"n": [%d], "m":%d}' % (number, number)) == {"n": [number], "m": number}
    assert wire.decode(b'{"id": "%s"}' % (b"9" * 40)) == {"id": "9" * 40}
    with pytest.raises(ValueError):
        wire.decode(b'{"n": 1%s}' % (b"0" * 5000))  # beyond what floats and Python's own conversion take


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, True),
        ({"method": "ping", "id": 1}, True),
        ({"id": 1, "result": {}}, True),
        ({"id": 1, "error": {"code": 1}}, True),
        ({"id": 7, "error": "timeout", "level": "error"}, False),
        ({"level": "info", "id": 7}, False),
        ({"jsonrpc": "2.0"}, False),
        (42, False),
        ([], False),
    ],
)
def test_a_log_line_in_json_is_not_a_message(value: object, is_one: bool) -> None:
    assert wire.is_message(value) is is_one
