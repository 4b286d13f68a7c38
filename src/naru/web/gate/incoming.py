"""What the gate reads of a request before anyone else does: its headers in one pass, its body counted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence

from starlette.types import Message, Receive, Scope

_SAFE_ID = re.compile(rb"[A-Za-z0-9._=+:/@-]{1,128}")
_TRAITS = "Secure; HttpOnly; SameSite=Strict"
_AT_THE_ROOT = ("__Host-naru", f"Path=/; {_TRAITS}")


def session_cookie(scope: Scope) -> tuple[str, str]:
    """Return name and traits of the console's session cookie (S-68).

    Below a path it is for that path alone: what else is served under the name does not get it.
    """
    root = scope.get("root_path")
    return ("__Secure-naru", f"Path={root}/; {_TRAITS}") if root else _AT_THE_ROOT


def crossing_cookie(scope: Scope, name: str) -> tuple[str, str]:
    """Return name and traits of a cookie that binds a sign-in to its browser: it comes back from another site."""
    root = scope.get("root_path", "")
    prefix = "__Secure-" if root else "__Host-"
    return prefix + name, f"Path={root}/; Secure; HttpOnly; SameSite=Lax"


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

    __slots__ = (
        "authorization", "content_encoding", "content_length", "content_type", "cookies", "host", "hosts",
        "is_anthropics", "key", "origin", "request_id", "size",
    )  # fmt: skip

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.origin: bytes | None = None
        self.content_length: int | None = None
        fields = list(raw)
        by_name = dict(fields)
        given = by_name.get(b"x-request-id", b"")
        self.request_id = given.decode() if _SAFE_ID.fullmatch(given) else f"req_{secrets.token_hex(12)}"
        """The client's own id if it can stand in a log line, else a new one."""
        self.is_anthropics = b"anthropic-version" in by_name
        """Whether the client knows the answer's id as `request-id`."""
        if len(by_name) == len(fields):
            self._read_once(by_name)
        else:
            self._read_each(fields)

    def _read_once(self, by_name: dict[bytes, bytes]) -> None:
        """Read what nearly every request is: no header comes twice."""
        get = by_name.get
        self.size = sum(map(len, by_name)) + sum(map(len, by_name.values()))
        self.host, self.hosts = get(b"host", b""), int(b"host" in by_name)
        self.origin = get(b"origin")
        self.content_type, self.content_encoding = get(b"content-type", b""), get(b"content-encoding", b"")
        length = get(b"content-length", b"")
        self.content_length = int(length) if length.isdigit() else None
        self.authorization: Sequence[bytes] = [by_name[b"authorization"]] if b"authorization" in by_name else ()
        self.key: Sequence[bytes] = [by_name[b"x-api-key"]] if b"x-api-key" in by_name else ()
        self.cookies: Sequence[bytes] = [by_name[b"cookie"]] if b"cookie" in by_name else ()

    def _read_each(self, fields: list[tuple[bytes, bytes]]) -> None:
        self.host, self.hosts, self.size, self.content_type, self.content_encoding = b"", 0, 0, b"", b""
        authorization, key, cookies = [], [], []
        for name, value in fields:
            self.size += len(name) + len(value)
            match name:
                case b"host":
                    self.host = value
                    self.hosts += 1
                case b"origin":
                    self.origin = value if self.origin is None else b"several"
                case b"authorization":
                    authorization.append(value)
                case b"x-api-key":
                    key.append(value)
                case b"cookie":
                    cookies.append(value)
                case b"content-type":
                    self.content_type = value
                case b"content-encoding":
                    self.content_encoding += value
                case b"content-length":
                    self.content_length = int(value) if value.isdigit() else None
        self.authorization, self.key, self.cookies = authorization, key, cookies

    def credentials(self) -> list[bytes]:
        """Return every key that a header carries, whichever header (S-06)."""
        found = [value for value in self.key if value]
        for value in self.authorization:
            scheme, _, secret = value.partition(b" ")
            found.append(secret.strip() if scheme.lower() == b"bearer" else value)
        return found

    def sessions(self, cookie: str) -> list[bytes]:
        """Return every value of the session's cookie."""
        mark = f"{cookie}=".encode()
        parts = (part.strip() for line in self.cookies for part in line.split(b";"))
        return [part[len(mark) :] for part in parts if part.startswith(mark)]
