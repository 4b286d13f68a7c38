"""Who asks, and what of the hub that person may see: set by the gate for each request, read where things are owned.

Names of servers, tools and models are compared as globs (`*`, `?`); one that begins with `!` takes away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, TypeVar

from naru.errors import PolicyError
from naru.facts import fact

T = TypeVar("T")
LOCAL = "local"
"""Id of who is at this machine: on an open loopback, and in commands."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a key, or a role, is limited to; None is no limit, an empty tuple allows nothing."""

    servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    """`server/tool`, `server__tool`, or a tool's own name at any server."""
    models: tuple[str, ...] | None = None
    read_only: bool = False
    """Only tools that say of themselves that they change nothing."""
    requests_per_day: int | None = None
    tokens_per_day: int | None = None

    def server(self, name: str) -> bool:
        """Tell whether a server is seen; one is also hidden when none of its tools can be."""
        if self.servers is not None and not _fits(name, self.servers):
            return False
        if self.tools is None:
            return True
        wanted = [_parts(one)[0] for one in self.tools if not one.startswith("!")]
        return bool(self.tools) and (not wanted or any(_is_server(name, one) for one in wanted))

    def tool(self, server: str, name: str, annotations: Mapping[str, Any] | None) -> bool:
        """Tell whether a server's tool is seen, by its own name there."""
        if self.read_only:
            hints = annotations or {}
            if hints.get("readOnlyHint") is not True or hints.get("destructiveHint") is True:
                return False
        if self.tools is None:
            return self.server(server)
        wanted = [one for one in self.tools if not one.startswith("!")]
        barred = [one[1:] for one in self.tools if one.startswith("!")]
        is_wanted = bool(self.tools) and (not wanted or any(_is_tool(server, name, one) for one in wanted))
        return is_wanted and not any(_is_tool(server, name, one) for one in barred) and self.server(server)

    def model(self, name: str) -> bool:
        """Tell whether a model is seen, by the name under which it is listed."""
        return self.models is None or _fits(name, self.models)


UNBOUND = Bounds()


@dataclass(frozen=True, slots=True)
class Reach:
    """What a person may see: what every layer of bounds allows. What each request asks of it is worked out once."""

    layers: tuple[Bounds, ...] = ()
    is_whole: bool = field(init=False, compare=False, repr=False)
    """Whether nothing is hidden."""
    bounds_models: bool = field(init=False, compare=False, repr=False)
    """Whether some models are hidden."""
    requests_per_day: int | None = field(init=False, compare=False, repr=False)
    """The least budget of requests; None is none."""
    tokens_per_day: int | None = field(init=False, compare=False, repr=False)
    """The least budget of tokens; None is none."""

    def __post_init__(self) -> None:
        """Work it out."""
        layers = self.layers
        bounds_models = any(one.models is not None for one in layers)
        bounds_tools = any(one.servers is not None or one.tools is not None or one.read_only for one in layers)
        requests = [one.requests_per_day for one in layers if one.requests_per_day is not None]
        tokens = [one.tokens_per_day for one in layers if one.tokens_per_day is not None]
        for name, value in (
            ("is_whole", not bounds_models and not bounds_tools),
            ("bounds_models", bounds_models),
            ("requests_per_day", min(requests, default=None)),
            ("tokens_per_day", min(tokens, default=None)),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def of(*layers: Bounds) -> Reach:
        """Return a reach, without the layers that bind nothing."""
        return Reach(tuple(one for one in layers if one != UNBOUND))

    def server(self, name: str) -> bool:
        """Tell whether a server is seen."""
        return all(one.server(name) for one in self.layers)

    def tool(self, server: str, name: str, annotations: Mapping[str, Any] | None) -> bool:
        """Tell whether a tool is seen."""
        return all(one.tool(server, name, annotations) for one in self.layers)

    def model(self, name: str) -> bool:
        """Tell whether a model is seen."""
        return all(one.model(name) for one in self.layers)


WHOLE = Reach()


@fact()
class Person:
    """A verified identity: a key's id or `iss#sub`; empty where nobody is asked for a key."""

    id: str = ""
    reach: Reach = WHOLE
    access: str = ""
    """What its role may do: `read`, `user`, `operator` or `admin`; empty outside of a request."""
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), compare=False, repr=False)
    """The request's headers as they came, for servers to which some of them are forwarded by name."""


current_person: ContextVar[Person] = ContextVar("current_person", default=Person())  # noqa: B039 - frozen
"""Whose request this is; nobody's in particular outside of one."""
current_request: ContextVar[str] = ContextVar("current_request", default="")
"""The id of this request, as its answer, its errors and its log lines name it; empty outside of one."""


@contextmanager
def nobody() -> Iterator[None]:
    """Do something of the hub's own within a request: it is not narrowed to what the request may see."""
    token = current_person.set(Person())
    try:
        yield
    finally:
        current_person.reset(token)


def nobodys_context() -> Context:
    """Return the present context for a task of the hub's own that a request happens to start."""
    context = copy_context()
    context.run(current_person.set, Person())
    context.run(current_request.set, "")
    return context


def reach() -> Reach:
    """Return what whoever asks now may see."""
    return current_person.get().reach


def check_sees_all(what: str) -> None:
    """Refuse what speaks of the whole hub to those who see a part of it. Raises PolicyError."""
    if not reach().is_whole:
        raise PolicyError(f"This key sees a part of the hub, and {what} are of all of it.")


def check_may_have(server: str) -> None:
    """Refuse a name that whoever asks does not see: it would be hidden at once, or is somebody else's.

    Raises:
        PolicyError: it is such a name.
    """
    if not reach().server(server):
        raise PolicyError(f"This key may not have a server named {server!r}.", remedy="Use a name that it may see.")


class SeenServers(Mapping[str, T]):
    """A live view of what is held by server name, narrowed to a reach."""

    def __init__(self, held: Mapping[str, T], seen: Reach) -> None:
        self._held = held
        self._seen = seen

    def __getitem__(self, name: str) -> T:
        if name in self._held and self._seen.server(name):
            return self._held[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._held if self._seen.server(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def seen_servers(held: Mapping[str, T]) -> Mapping[str, T]:
    """Return what whoever asks now may see of it."""
    seen = reach()
    return held if seen.is_whole else SeenServers(held, seen)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    wanted = [one for one in patterns if not one.startswith("!")]
    if not patterns or (wanted and not any(fnmatchcase(name, one) for one in wanted)):
        return False
    return not any(fnmatchcase(name, one[1:]) for one in patterns if one.startswith("!"))


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, str]:
    """Split a tool's pattern into that of its server and its own; it is of the first `/`, else of the first `__`."""
    for between in ("/", "__"):
        server, found, tool = pattern.partition(between)
        if found and server:
            return server, tool
    return _ANYTHING, pattern


def _is_server(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(_NOT_IN_NAMES.sub("_", name), pattern)


def _is_tool(server: str, name: str, pattern: str) -> bool:
    of, own = _parts(pattern)
    return _is_server(server, of) and (fnmatchcase(name, own) or fnmatchcase(_NOT_IN_NAMES.sub("_", name), own))
