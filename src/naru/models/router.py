"""Several endpoints behind one backend: a request goes where its model is served."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from naru.deadlines import bound
from naru.errors import NaruError, NotFoundError
from naru.messages import ChatEvent, ChatRequest
from naru.models.backend import Backend, InBatches, Take, batches_of, deliver, for_model, inform
from naru.models.known.profile import Profile
from naru.models.narrowed import Narrowed

_LISTED_SECONDS = 60.0
_DOWN_SECONDS = 10.0
"""How long an endpoint that did not answer is not asked again."""
_LIST_TIMEOUT_SECONDS = 5.0
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Route:
    """One endpoint and what it serves."""

    name: str
    backend: Backend
    patterns: tuple[str, ...] = ()
    """Models it serves, `*` allowed; empty asks it."""
    listed: tuple[str, ...] = ()
    """What it said when it was asked last."""
    listed_at: float = field(default=float("-inf"))

    def serves(self, model: str) -> bool:
        """Whether this endpoint has the model, as far as is known without asking."""
        return model in self.listed or any(fnmatchcase(model, pattern) for pattern in self.patterns)


class Router(InBatches):
    """Chooses by alias, by `endpoint/model`, by declared names, by what endpoints list; else the first endpoint."""

    def __init__(self, routes: Sequence[Route], aliases: Mapping[str, str] | None = None) -> None:
        self.routes = list(routes)
        self._aliases = dict(aliases or {})
        self._asking = asyncio.Lock()
        self._by_name = {route.name: route for route in routes}

    @property
    def profile(self) -> Profile:
        """The first endpoint's; `for_model` gives that of another."""
        return self.routes[0].backend.profile

    def choose(self, model: str) -> tuple[Route, str]:
        """Return the endpoint of a model and the model's name there, as far as is known without asking.

        Raises:
            NotFoundError: no endpoint serves it.
        """
        name = self._aliases.get(model, model)
        endpoint, slash, rest = name.partition("/")
        if slash and endpoint in self._by_name:
            return self._by_name[endpoint], rest
        for route in self.routes:
            if route.serves(name):
                return route, name
        if not name or not self.routes[0].patterns:
            return self.routes[0], name
        known = sorted({one for route in self.routes for one in (*route.patterns, *route.listed)})
        raise NotFoundError(
            f"No endpoint serves the model {model!r}.",
            remedy=f"Known: {', '.join(known) or 'none'}; see GET /v1/models.",
        )

    def for_model(self, model: str) -> Backend:
        """Return the backend of one model, with that model's profile."""
        if not self._is_known(model):
            return Narrowed(self, model)  # Asked when a request comes.
        route, name = self.choose(model)
        return Narrowed(for_model(route.backend, name), name)

    def _is_known(self, model: str) -> bool:
        """Whether `choose` needs to ask nobody first."""
        name = self._aliases.get(model, model)
        asked = all(route.patterns or route.listed for route in self.routes)
        return asked or not name or name.partition("/")[0] in self._by_name or any(r.serves(name) for r in self.routes)

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask the endpoint that serves the request's model, in batches."""
        backend, sent = await self._chosen(request)
        async with aclosing(batches_of(backend, sent)) as batches:
            async for batch in batches:
                yield batch

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask the endpoint that serves the request's model; see `Delivering`."""
        backend, sent = await self._chosen(request)
        await deliver(backend, sent, take)

    async def inform(self, model: str) -> None:
        """Ask the endpoint that serves the model."""
        backend, sent = await self._chosen(ChatRequest(model, ()))
        await inform(backend, sent.model)

    async def _chosen(self, request: ChatRequest) -> tuple[Backend, ChatRequest]:
        """Choose; for a name that nobody declared, the endpoints are asked first what they serve."""
        if not self._is_known(request.model):
            await self._list_all()
        route, name = self.choose(request.model)
        return route.backend, request if name == request.model else replace(request, model=name)

    async def models(self) -> Sequence[str]:
        """Return every model of every endpoint, and the aliases; an endpoint that is down hides only its own."""
        await self._list_all()
        names: dict[str, None] = {}
        for route in self.routes:
            declared = [pattern for pattern in route.patterns if "*" not in pattern]
            for name in dict.fromkeys((*declared, *route.listed)):
                shadowed = name in names
                names[f"{route.name}/{name}" if shadowed else name] = None
        return [*names, *(alias for alias in self._aliases if alias not in names)]

    async def _list_all(self) -> None:
        async with self._asking:  # who comes meanwhile takes what the first is told
            await asyncio.gather(*(self._list(route) for route in self.routes))

    async def _list(self, route: Route) -> None:
        if time.monotonic() - route.listed_at < _LISTED_SECONDS:
            return
        try:
            with bound(_LIST_TIMEOUT_SECONDS):
                listed = await route.backend.models()
        except (NaruError, TimeoutError) as error:
            logger.warning("endpoint %s lists no models: %s", route.name, str(error) or "no answer in time")
            route.listed_at = time.monotonic() - _LISTED_SECONDS + _DOWN_SECONDS
            return
        wanted = route.patterns or ("*",)
        route.listed = tuple(name for name in listed if any(fnmatchcase(name, pattern) for pattern in wanted))
        route.listed_at = time.monotonic()

    async def close(self) -> None:
        """Close every endpoint; one that fails keeps no other open."""
        async with AsyncExitStack() as stack:
            for route in reversed(self.routes):
                stack.push_async_callback(route.backend.close)
