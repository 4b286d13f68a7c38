"""What is refused before it is looked at (S-08)."""

from __future__ import annotations

import json

import pytest

from naru.gateway.wire import frames
from naru.gateway.wire.frames import Limits
from naru.gateway.wire.protocol import RpcError

LIMITS = Limits()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", -32700, id="empty"),
        pytest.param(b"{", -32700, id="cut"),
        pytest.param(b'{"a": NaN}', -32700, id="nan"),
        pytest.param(b'{"a": Infinity}', -32700, id="infinity"),
        pytest.param(b'{"method": "ping", "method": "tools/call"}', -32700, id="duplicate-key"),
        pytest.param(b'{"params": {"name": "a", "name": "b"}}', -32700, id="duplicate-key-inside"),
        pytest.param(b'{"params": {"name": "a", "na\\u006de": "b"}}', -32700, id="duplicate-key-escaped"),
        pytest.param(b"\xff\xfe", -32700, id="not-utf8"),
        pytest.param(b"[" * 65 + b"]" * 65, -32600, id="deep"),
        pytest.param(b"[" * 100_000, -32700, id="very-deep"),
        pytest.param(b'{"a":' * 65 + b"1" + b"}" * 65, -32600, id="deep-objects"),
        pytest.param(b"{" + b",".join(b'"k%d":1' % n for n in range(10_001)) + b"}", -32600, id="many-keys"),
        pytest.param(b'"' + b"x" * (1024 * 1024 + 1) + b'"', -32600, id="long-string"),
    ],
)
def test_a_hostile_body_is_refused_with_its_code(body: bytes, code: int) -> None:
    with pytest.raises(RpcError) as caught:
        frames.decode(body, LIMITS)
    assert caught.value.code == code


def test_a_wide_and_flat_message_passes() -> None:
    assert frames.decode(b"[" + b"[]," * 500 + b"[]]", LIMITS) == [[]] * 501


@pytest.mark.parametrize(
    "message",
    [
        1,
        None,
        [],
        {},
        {"jsonrpc": "1.0", "method": "ping", "id": 1},
        {"jsonrpc": "2.0", "method": 5, "id": 1},
        {"jsonrpc": "2.0", "method": "ping", "id": None},
        {"jsonrpc": "2.0", "method": "ping", "id": True},
        {"jsonrpc": "2.0", "method": "ping", "id": 1.5},
        {"jsonrpc": "2.0", "method": "ping", "id": 1, "params": []},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}},
    ],
)
def test_what_is_no_message_is_an_invalid_request(message: object) -> None:
    with pytest.raises(RpcError) as caught:
        frames.check_message(message)
    assert caught.value.code == -32600


def test_numbers_beyond_64_bits_are_answered_as_they_came() -> None:
    huge = 2**80
    assert frames.decode(frames.reply(huge, {"n": huge}), LIMITS) == {
        "jsonrpc": "2.0",
        "id": huge,
        "result": {"n": huge},
    }


def test_no_number_is_sent_that_json_does_not_have() -> None:
    for value in ({"x": float("nan")}, {"x": float("inf"), "big": 10**30}, {"x": float("nan"), "half": "\ud800"}):
        assert json.loads(frames.encode(value), parse_constant=pytest.fail)["x"] is None
