"""What an HTTP endpoint is: path, methods, handler and who may use it. The gate is derived from these rows (S-03)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from starlette.convertors import Convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_BASED = re.compile(r"(/clients/[^/]+)?(?:/v1)*(/.*)")
Handler = Callable[[Request], Awaitable[Response]]


class Access(IntEnum):
    """The least role that may use an endpoint (SECURITY A-03); what is PUBLIC tells nothing or has its own proof."""

    PUBLIC = 0
    READ = 1
    USER = 2
    OPERATOR = 3
    ADMIN = 4


ROLE_NAMES = tuple(one.name.lower() for one in Access)
"""How each is spelled, by its number."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the route table; an ASGI application takes all methods it names."""

    path: str
    methods: tuple[str, ...]
    handler: Handler | ASGIApp
    access: Access
    raw: bool = False
    """The handler is an ASGI application (scope, receive, send), for streams and hot paths."""
    media: bool = False
    """Its bodies hold pictures and files: `server.max_media_body_bytes` bounds them."""
    close: Callable[[], Awaitable[None]] | None = None
    """Ends what goes on when its requests have ended; asked when the application is closed."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a path leads to."""

    path: str
    """The path as its row spells it: without a trailing slash that the row has not."""
    by_method: dict[str, Endpoint]
    parameters: dict[str, Any]


class RouteTable:
    """All rows, for looking up a path: exact ones by one dict look-up, those with `{parameters}` in the rows' order."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)
        self._exact: dict[str, Match] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Convertor[Any]], dict[str, Endpoint]]] = []
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in self.endpoints:
            for method in endpoint.methods:
                if by_path.setdefault(endpoint.path, {}).setdefault(method.upper(), endpoint) is not endpoint:
                    raise ValueError(f"{method} {endpoint.path} has two rows")
        for path, by_method in by_path.items():
            if "GET" in by_method:
                by_method.setdefault("HEAD", by_method["GET"])
            pattern, _, convertors = compile_path(path)
            if convertors:
                self._patterns.append((pattern, convertors, by_method))
            else:
                self._exact[path] = Match(path, by_method, {})

    def match(self, path: str) -> Match | None:
        """Return what a path leads to; `/mcp/` is `/mcp` unless there is a row of its own."""
        found = self._exact.get(path)
        if found is not None:
            return found
        shorter = path[:-1] if len(path) > 1 and path.endswith("/") else ""
        return self._exact.get(shorter) or self._match_pattern(path) or self._match_pattern(shorter)

    def meant(self, path: str) -> str:
        """Return what is asked for where a base URL has a `/v1` too many, or none; the path itself otherwise."""
        found = _BASED.fullmatch(path)
        if found is None or self.match(path):
            return path
        before, rest = found.groups(default="")
        return next((tried for tried in (f"{before}/v1{rest}", before + rest) if self.match(tried)), path)

    def _match_pattern(self, path: str) -> Match | None:
        for pattern, convertors, by_method in self._patterns:
            found = pattern.match(path)
            if found:
                values = {name: convertors[name].convert(value) for name, value in found.groupdict().items()}
                return Match(path, by_method, values)
        return None
