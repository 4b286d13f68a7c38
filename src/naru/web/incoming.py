"""What the gate reads of a request before anyone else does: its headers in one pass, its body counted."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import Message, Receive

SESSION_COOKIE = "__Host-naru"
"""The console's session cookie (S-68)."""


class BodyTooLargeError(Exception):
    """A body without a length grew beyond the limit."""


def limited(receive: Receive, limit: int) -> Receive:
    """Count a body that says no length; `BodyTooLargeError` is raised into whoever reads it."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise BodyTooLargeError
        return message

    return counted


class EdgeHeaders:
    """The headers that the gate looks at, gathered in one pass."""

    __slots__ = ("authorization", "content_length", "content_type", "cookies", "host", "hosts", "key", "origin", "size")

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.host, self.hosts, self.size = b"", 0, 0
        self.origin: bytes | None = None
        self.content_length: int | None = None
        self.content_type = b""
        self.authorization: list[bytes] = []
        self.key: list[bytes] = []
        self.cookies: list[bytes] = []
        for name, value in raw:
            self.size += len(name) + len(value)
            match name:
                case b"host":
                    self.host = value
                    self.hosts += 1
                case b"origin":
                    self.origin = value if self.origin is None else b"several"
                case b"authorization":
                    self.authorization.append(value)
                case b"x-api-key":
                    self.key.append(value)
                case b"cookie":
                    self.cookies.append(value)
                case b"content-type":
                    self.content_type = value
                case b"content-length":
                    self.content_length = int(value) if value.isdigit() else None

    def credentials(self) -> list[bytes]:
        """Return every key the request carries, whatever carries it (S-06)."""
        found = [value for value in self.key if value]
        for value in self.authorization:
            scheme, _, secret = value.partition(b" ")
            found.append(secret.strip() if scheme.lower() == b"bearer" else value)
        prefix = SESSION_COOKIE.encode() + b"="
        for line in self.cookies:
            found += [part.strip()[len(prefix) :] for part in line.split(b";") if part.strip().startswith(prefix)]
        return found
