"""The rest that a server asks for (RFC 9110, 10.2.3): seconds, a moment, or nothing that can be meant."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from naru.connections.transports.http.responses import retry_after


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("60", 60.0),
        ("9" * 5000, 999_999.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("²", None),
        ("soon", None),
        ("-1", None),
        ("", None),
    ],
    ids=["seconds", "long", "past", "no digit", "word", "negative", "nothing"],
)
def test_how_long_a_rest_a_server_asks_for(told: str, seconds: float | None) -> None:
    assert retry_after(Mock(headers={"Retry-After": told})) == seconds
