"""Heads of requests are written as HTTP wants them, and nothing is smuggled into them."""

from __future__ import annotations

import pytest
from yarl import URL

from naru.http1.head import Address, address_of, request_head, with_body


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("http://user:p%40ss@h:81/v1", [b"Host: h:81", b"Authorization: Basic dXNlcjpwQHNz"]),
        ("http://[::1]:8080/v1", [b"Host: [::1]:8080"]),
        ("http://bücher.example/v1", [b"Host: xn--bcher-kva.example"]),
        ("http://h/v1/a b/나루?q=1", [b"POST /v1/a%20b/%EB%82%98%EB%A3%A8?q=1 HTTP/1.1", b"Host: h"]),
        ("https://h:443/", [b"Host: h", b"Accept-Encoding: identity"]),
    ],
)
def test_an_address_is_written_as_http_wants_it(url: str, lines: list[bytes]) -> None:
    written = request_head("POST", URL(url), {}).split(b"\r\n")
    assert [line for line in lines if line not in written] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Own", "a\r\nX: b"), ("X-Own", "a\nb"), ("X-Own", "a\rb"), ("X-Own", "a\0b"), ("X\r\n", "a"), ("X-Ärger", "a")],
)
def test_a_header_cannot_smuggle_another(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="header"):
        request_head("POST", URL("http://h/"), {name: value})


def test_own_headers_take_the_place_of_the_usual_ones() -> None:
    head = request_head("POST", URL("http://h/"), {"User-Agent": "mine", "host": "other", "X-Title": "나루"})
    assert b"User-Agent: mine\r\n" in head
    assert b"naru/" not in head
    assert head.lower().count(b"host:") == 1
    assert "X-Title: 나루\r\n".encode() in head


def test_a_body_stands_behind_its_length() -> None:
    assert with_body(b"POST / HTTP/1.1\r\n", b"{}") == b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h/x", Address("h", 443, tls=True)),
        ("http://h", Address("h", 80, tls=False)),
        ("http://[::1]:9/", Address("::1", 9, tls=False)),
    ],
)
def test_a_url_leads_to_an_address(url: str, address: Address) -> None:
    assert address_of(URL(url)) == address
