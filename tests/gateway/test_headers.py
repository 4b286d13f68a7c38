"""Headers and body must agree in the stateless era (S-10, SEP-2243)."""

from __future__ import annotations

from typing import Any

import pytest

from naru.gateway.wire.headers import (
    check_envelope,
    check_parameters,
    check_routing,
    collect,
    decode_value,
    header_parameters,
)
from naru.gateway.wire.protocol import META_CAPABILITIES, META_VERSION, RpcError

META = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
GOOD = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}


def call(**params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "_meta": META, **params}}


def test_headers_that_repeat_the_body_pass() -> None:
    check_routing(call(), GOOD)


@pytest.mark.parametrize(
    "change",
    [
        {"mcp-protocol-version": "2025-11-25"},
        {"mcp-protocol-version": None},
        {"mcp-method": "tools/list"},
        {"mcp-method": "TOOLS/CALL"},
        {"mcp-method": None},
        {"mcp-name": "other"},
        {"mcp-name": None},
        {"mcp-name": "echo\x00echo"},
        {"mcp-name": "=?base64?ZWNobw?="},
        {"mcp-name": "=?base64?!!!!?="},
    ],
)
def test_a_header_that_disagrees_is_a_mismatch(change: dict[str, str | None]) -> None:
    headers = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(RpcError) as caught:
        check_routing(call(), headers)
    assert caught.value.code == -32020


def test_a_name_that_is_not_ascii_comes_in_base64() -> None:
    check_routing(call(name="에코"), {**GOOD, "mcp-name": "=?base64?7JeQ7L2U?="})


def test_white_space_round_a_value_and_repeated_headers_are_seen() -> None:
    headers = collect([(b"mcp-name", b"  echo\t"), (b"mcp-method", b"a"), (b"mcp-method", b"b")])
    assert headers == {"mcp-name": "echo", "mcp-method": "a\x00b"}


@pytest.mark.parametrize(
    "damaged",
    ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "=?base64?SGVsbG9=?=", "=?base64?é?="],
)
def test_damaged_base64_never_equals_anything(damaged: str) -> None:
    assert decode_value(damaged) is None


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        (None, -32602),
        ({}, -32602),
        ({META_VERSION: "2026-07-28"}, -32602),
        ({META_CAPABILITIES: {}}, -32602),
        ({META_VERSION: 1, META_CAPABILITIES: {}}, -32602),
        ({META_VERSION: "2026-07-28", META_CAPABILITIES: []}, -32602),
        ({META_VERSION: "2025-11-25", META_CAPABILITIES: {}}, -32022),
        ({META_VERSION: "2099-01-01", META_CAPABILITIES: {}}, -32022),
    ],
)
def test_an_incomplete_envelope_is_refused(meta: object, code: int) -> None:
    with pytest.raises(RpcError) as caught:
        check_envelope({"method": "tools/list", "params": {"_meta": meta} if meta is not None else {}})
    assert caught.value.code == code


SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
    },
}


@pytest.mark.parametrize(
    ("arguments", "headers", "fits"),
    [
        ({"region": "eu"}, {"mcp-param-region": "eu"}, True),
        ({}, {}, True),
        ({"region": None}, {}, True),
        ({"region": "eu"}, {}, False),
        ({}, {"mcp-param-region": "eu"}, False),
        ({"region": "eu"}, {"mcp-param-region": "us"}, False),
        ({"region": "eu"}, {"mcp-param-region": "eu\x00eu"}, False),
        ({"deep": {"count": 42}}, {"mcp-param-count": "42.0"}, True),
        ({"deep": {"count": 42}}, {"mcp-param-count": "43"}, False),
        ({"deep": {"count": 42}}, {"mcp-param-count": "4.2e1"}, False),
    ],
)
def test_arguments_and_their_headers_agree_or_are_refused(
    arguments: dict[str, Any], headers: dict[str, str], fits: bool
) -> None:
    parameters = header_parameters(SCHEMA)
    if fits:
        check_parameters(parameters, arguments, headers)
        return
    with pytest.raises(RpcError) as caught:
        check_parameters(parameters, arguments, headers)
    assert caught.value.code == -32020


def test_one_invalid_annotation_voids_them_all() -> None:
    doubled = {"properties": {name: {"type": "string", "x-mcp-header": name.upper()[:1]} for name in ("aa", "ab")}}
    number = {"properties": {"n": {"type": "number", "x-mcp-header": "N"}}}
    assert header_parameters(doubled) == header_parameters(number) == ()
