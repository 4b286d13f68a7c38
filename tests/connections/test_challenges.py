"""What a server says when it refuses us (RFC 6750): read whatever stands in it, in linear time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from yarl import URL

from naru.connections.oauth.clients import register
from naru.connections.oauth.discovery import Authority, Challenge, read_challenge
from naru.connections.oauth.fetch import Fetch
from naru.connections.state.faults import LinkError


def test_a_challenge_is_read_by_its_parameters() -> None:
    header = 'Bearer realm="x", error="invalid_token", scope="a b a", resource_metadata="https://x/y"'
    assert read_challenge(header) == Challenge("https://x/y", "a b", "invalid_token")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["a", "a ", 'a="', 'a="b\\'], ids=["word", "words", "open", "escaped"])
def test_a_hostile_challenge_takes_linear_time(unit: str) -> None:
    """It takes milliseconds; what grows with its square would take minutes, in which the hub answers nobody."""
    assert read_challenge(unit * (2**18 // len(unit))).error == ""


class Registers(Fetch):
    """Registers every client as it is told to."""

    answer: dict[str, Any]

    async def post_json(self, address: str, value: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 201, {"client_id": "naru-1", **self.answer}


AUTHORITY = Authority("https://a", "https://a/authorize", "https://a/token", "https://a/register")


def registered(answer: dict[str, Any]) -> tuple[str, str]:
    fetch = Registers(URL("https://a/mcp"))
    fetch.answer = answer
    client = asyncio.run(register(fetch, AUTHORITY, "http://127.0.0.1/back", ""))
    return client.method, client.client_secret


@pytest.mark.parametrize(
    ("answer", "method", "secret"),
    [
        ({"client_secret": "s"}, "client_secret_basic", "s"),
        ({"client_secret": "s", "token_endpoint_auth_method": "client_secret_post"}, "client_secret_post", "s"),
        ({"token_endpoint_auth_method": "none"}, "none", ""),
        ({}, "none", ""),
        ({"token_endpoint_auth_method": "client_secret_post"}, "none", ""),
    ],
)
def test_a_client_shows_who_it_is_by_what_it_was_given(answer: dict[str, Any], method: str, secret: str) -> None:
    assert registered(answer) == (method, secret)


def test_a_registration_for_a_way_that_we_do_not_have_is_refused() -> None:
    with pytest.raises(LinkError, match="private_key_jwt"):
        registered({"client_secret": "s", "token_endpoint_auth_method": "private_key_jwt"})
