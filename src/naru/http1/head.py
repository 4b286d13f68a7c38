"""Heads of requests: where a URL leads, and the lines that say what is asked."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from yarl import URL

from naru import __version__


@dataclass(frozen=True, slots=True)
class Address:
    """Where a URL leads."""

    host: str
    port: int
    tls: bool


def address_of(url: URL) -> Address:
    """Return where a URL leads."""
    return Address(url.raw_host or "", url.port or 80, url.scheme == "https")


def request_head(verb: str, url: URL, headers: Mapping[str, str]) -> bytes:
    """Write a head but for the length of its body and the empty line: `with_body` adds them.

    Raises:
        ValueError: a header cannot be sent.
    """
    start = _start(verb, url, tuple(headers))
    lines = [start]
    lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
    head = "".join(lines).encode()
    ends = start.count("\n") + len(headers)
    if head.count(b"\n") != ends or head.count(b"\r") != ends or b"\0" in head:
        raise ValueError("a header's value has a line break")
    return head


def with_body(head: bytes, body: bytes) -> bytes:
    """Complete a head with its body, to be sent in one write."""
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


@lru_cache(maxsize=1024)
def _start(verb: str, url: URL, names: tuple[str, ...]) -> str:
    """Return the first lines: what the caller's own headers do not say."""
    for name in names:
        if not name.isascii() or any(character in name for character in "\r\n\0: "):
            raise ValueError(f"the header's name {name[:40]!r} has a sign that cannot be sent")
    given = {name.lower() for name in names}
    address = address_of(url)
    lines = [f"{verb} {url.raw_path_qs} HTTP/1.1"]
    if "host" not in given:
        host = f"[{address.host}]" if ":" in address.host else address.host
        lines.append(f"Host: {host}" if url.is_default_port() else f"Host: {host}:{address.port}")
    if "user-agent" not in given:
        lines.append(f"User-Agent: naru/{__version__}")
    if "accept-encoding" not in given:
        lines.append("Accept-Encoding: identity")
    if url.user is not None and "authorization" not in given:
        secret = f"{url.user}:{url.password or ''}".encode()
        lines.append(f"Authorization: Basic {b64encode(secret).decode()}")
    return "\r\n".join(lines) + "\r\n"
