"""What an HTTP endpoint is: path, methods, handler and who may use it. The gate is derived from these rows (S-03)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Handler = Callable[[Request], Awaitable[Response]]


class Access(IntEnum):
    """The least role that may use an endpoint (SECURITY A-03); PUBLIC is for /healthz alone."""

    PUBLIC = 0
    READ = 1
    USER = 2
    OPERATOR = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the route table; an ASGI application takes all methods it names."""

    path: str
    methods: tuple[str, ...]
    handler: Handler | ASGIApp
    access: Access
    raw: bool = False
    """The handler is an ASGI application (scope, receive, send), for streams and hot paths."""
