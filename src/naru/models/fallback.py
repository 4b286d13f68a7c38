"""One model behind another (`model.fallbacks`): the next is asked when one is away, refused or over its limit.

Only before the first event: what has been said stays said. Each is asked through its own backend, with its own profile.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field, replace

from naru.errors import ModelError, NotFoundError
from naru.messages import ChatEvent, ChatRequest, Notice
from naru.models.backend import Backend, Take, batches_of, deliver, for_model, inform
from naru.models.limits.queue import Caller, current_caller
from naru.models.wrapped import WrappedBackend
from naru.persons import reach

_NEXT = frozenset(
    {
        "unreachable",
        "overloaded",
        "loading",
        "rate_limited",
        "out_of_credit",
        "upstream_failed",
        "broken_off",
        "unauthorized",
        "model_not_found",
        "not_an_api",
        "queue_full",
        "queue_timeout",
    }
)
"""Kinds of failure that another model may not have; what is wrong with the request itself is wrong everywhere."""
_WAIT_SECONDS = 1.0
"""How long a model with another behind it is waited for."""
_AWAY_SECONDS = 15.0
"""How long one that failed is not asked first again, unless it said itself when to come back."""
_LONGEST_AWAY_SECONDS = 300.0
_MOST_COUNTED = 500
"""Pairs of models that are counted by name: clients may ask for any name."""
_Faults = dict[str, ModelError]
"""Why those that were asked before did not answer, by name."""
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Shared:
    """What all views of one chain know."""

    backend: Backend
    names: tuple[str, ...]
    clock: Callable[[], float]
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    away_until: dict[str, float] = field(default_factory=dict)


class FallingBack(WrappedBackend):
    """Wraps a backend (a router, or one endpoint): asked for a model, it goes on to the fallbacks in their order."""

    def __init__(
        self,
        backend: Backend,
        names: Sequence[str],
        *,
        model: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the backend and the fallbacks, as requests would name them; `model` is the one of requests without."""
        super().__init__(backend)  # the first model's, in a view of one
        self._model = model
        self._shared = _Shared(backend, tuple(names), clock)

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """How often one model answered in place of another: (asked for, answered)."""
        return self._shared.counts

    def for_model(self, model: str) -> Backend:
        """Return a view that asks for this model first."""
        view = FallingBack(for_model(self._shared.backend, model), (), model=model or self._model)
        view._shared = self._shared
        return view

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask one model after the other, in batches."""
        for attempt in self._attempts(request):
            with attempt.patience(), attempt:
                async with aclosing(batches_of(attempt.backend, attempt.request)) as batches:
                    async for batch in batches:
                        yield attempt.told(batch)
            if attempt.is_done:
                return

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask one model after the other, and have the batches taken; see `Delivering`."""
        for attempt in self._attempts(request):

            def told(batch: Sequence[ChatEvent], attempt: _Attempt = attempt) -> Awaitable[None] | None:
                return take(attempt.told(batch))

            with attempt.patience(), attempt:
                await deliver(attempt.backend, attempt.request, told)
            if attempt.is_done:
                return

    def _attempts(self, request: ChatRequest) -> Iterator[_Attempt]:
        """Give the models to ask, in order: those that have just failed come last, those that are hidden never.

        Raises:
            ModelError: why the last one failed, where those after it turn out not to be there.
        """
        first = request.model or self._model
        seen = reach()
        names = list(dict.fromkeys((first, *filter(seen.model, self._shared.names))))
        now = self._shared.clock()
        names.sort(key=lambda name: self._shared.away_until.get(name, 0.0) > now)
        faults: _Faults = {}
        for place, name in enumerate(names):
            is_last = place == len(names) - 1
            try:
                backend = self.backend if name == first else for_model(self._shared.backend, name)
            except NotFoundError as error:
                logger.warning("fallback %s cannot be asked: %s", name, error)
                continue
            sent = request if name == first else replace(request, model=name)
            yield _Attempt(self._shared, backend, sent, first, faults, is_last=is_last)
        if faults:
            raise faults.popitem()[1]

    async def inform(self, model: str) -> None:
        """Ask about the first model."""
        await inform(self.backend, model or self._model)


class _Attempt:
    """One model that is asked; as a context it swallows what the next one may not have."""

    def __init__(
        self, shared: _Shared, backend: Backend, request: ChatRequest, first: str, faults: _Faults, *, is_last: bool
    ) -> None:
        self.backend, self.request = backend, request
        self.is_done = False
        self._shared, self._name, self._first = shared, request.model or first, first
        self._faults, self._is_last = faults, is_last
        self._has_begun = False

    def told(self, batch: Sequence[ChatEvent]) -> Sequence[ChatEvent]:
        """Return a batch; the first of another model says whose it is."""
        if self._has_begun:
            return batch
        self._has_begun = True
        self._shared.away_until.pop(self._name, None)
        if self._name == self._first:
            return batch
        is_new = (self._first, self._name) not in self._shared.counts
        asked = "another" if is_new and len(self._shared.counts) >= _MOST_COUNTED else self._first
        self._shared.counts[asked, self._name] += 1
        why = "; ".join(f"{name}: {error.message}" for name, error in self._faults.items())
        return [Notice(f"{self._name} answered in place of {self._first}{f' ({why})' if why else ''}."), *batch]

    @contextmanager
    def patience(self) -> Iterator[None]:
        """Wait only a moment for a place in the queue of a model that has another behind it."""
        caller = current_caller.get() or Caller()
        if self._is_last:
            yield
            return
        longest = _WAIT_SECONDS if caller.wait_seconds is None else min(_WAIT_SECONDS, caller.wait_seconds)
        token = current_caller.set(replace(caller, wait_seconds=longest))
        try:
            yield
        finally:
            with suppress(ValueError):  # A generator that another task closes is in another context.
                current_caller.reset(token)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if error is None:
            self.is_done = True
            return False
        if not isinstance(error, ModelError) or self._has_begun:
            return False
        is_away = error.code in _NEXT
        if is_away:
            seconds = min(error.retry_after_seconds or _AWAY_SECONDS, _LONGEST_AWAY_SECONDS)
            now = self._shared.clock()  # Clients name models as they like: what is over is not kept.
            away = {name: until for name, until in self._shared.away_until.items() if until > now}
            self._shared.away_until = away | {self._name: now + seconds}
            self._faults[self._name] = error
            logger.warning("model %s: %s%s", self._name, error.message, "" if self._is_last else "; asking the next")
        return is_away and not self._is_last
