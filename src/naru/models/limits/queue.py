"""The queue before a model endpoint: waits its turn instead of being refused (R11, N8).

One queue per key. Callers take turns, so one that asks for much delays the others by one request at most.
No task of its own: it acts when somebody comes, leaves, or a timer of the injected clock rings.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from naru.errors import ModelError
from naru.facts import fact
from naru.models.limits.rate import Allowance, RateLimits, Receipt, Rest
from naru.telemetry.figures import Figures

_NEWEST_COUNTS = 0.3
_SAID_CHARACTERS = 400
_NEWS_SECONDS = 1.0
"""A turn that shifts by more is told to the caller."""


class TimerHandle(Protocol):
    """A timer that can be stopped."""

    def cancel(self) -> None:
        """Stop it."""
        ...


class Clock(Protocol):
    """Time as the queue needs it."""

    def now(self) -> float:
        """Seconds since some moment."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> TimerHandle:
        """Call back at a moment."""
        ...


class LoopClock:
    """The running event loop's clock."""

    def now(self) -> float:
        """Seconds of the loop."""
        return asyncio.get_running_loop().time()

    def call_at(self, when: float, callback: Callable[[], None]) -> TimerHandle:
        """Call back at a moment of the loop."""
        return asyncio.get_running_loop().call_at(when, callback)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands in the queue."""

    position: int
    """Requests before it; 0 is next."""
    eta_seconds: float


@fact()
class Caller:
    """Who asks; faces put one into `current_caller` for the time of a request."""

    name: str = ""
    on_place: Callable[[Place], None] | None = None
    """Told whenever the place changes while waiting."""
    wait_seconds: float | None = None
    """Longest wait, when shorter than the queue's own."""


current_caller: ContextVar[Caller | None] = ContextVar("current_caller", default=None)


@dataclass(eq=False, slots=True)
class _Waiter:
    caller: Caller
    model: str
    tokens: int
    granted: asyncio.Future[Receipt]
    place: Place | None = None
    due: float = 0.0
    """The moment that the place promised."""
    deadline: TimerHandle | None = None


class Slot:
    """The right to send one request, once it is taken; an async context from taking it to leaving it."""

    __slots__ = ("_again", "_caller", "_granted_at", "_model", "_queue", "_receipt", "_tokens", "asked_at")

    def __init__(self, queue: RequestQueue, caller: Caller, *, model: str, tokens: int, again: bool) -> None:
        self._queue = queue
        self._caller = caller
        self._model = model
        self._tokens = tokens
        self._again = again
        self.asked_at = self._granted_at = 0.0

    async def take(self) -> None:
        """Wait for it; raises as `RequestQueue.slot` says."""
        self.asked_at = self._granted_at = self._queue.now()
        receipt = self._queue.take_now(self._tokens, self._model, self.asked_at)  # Nearly always: nobody waits.
        if receipt is None:
            receipt = await self._queue.wait(self._caller, self._model, self._tokens, again=self._again)
            self._granted_at = self._queue.now()
        self._receipt = receipt

    def leave(self) -> None:
        """Give the place to the next; to be called once."""
        self._queue.left(self._queue.now() - self._granted_at)

    async def __aenter__(self) -> Slot:
        await self.take()
        return self

    async def __aexit__(self, *failure: object) -> None:
        self.leave()

    def used(self, tokens: int) -> None:
        """Say how many tokens it really took."""
        self._receipt.used(tokens)

    def succeeded(self) -> None:
        """Say that the endpoint answered."""
        self._queue.succeeded(self._model, self._granted_at)

    def refused(self, retry_after_seconds: float | None, *, model: str | None, said: str) -> None:
        """Say that no more is wanted for now: of one model, or (None) of the key."""
        self._queue.block(retry_after_seconds, model=model, sent_at=self._granted_at, said=said)


class RequestQueue:
    """Fair, bounded, cancellable; never lets more through than the limits in any window."""

    def __init__(
        self,
        limits: RateLimits,
        *,
        max_waiting: int = 200,
        max_wait_seconds: float = 300.0,
        clock: Clock | None = None,
    ) -> None:
        self.limits = limits
        self._max_waiting = max_waiting
        self.max_wait_seconds = max_wait_seconds
        self._clock = clock or LoopClock()
        self._allowance = Allowance(limits)
        self._lines: dict[str, deque[_Waiter]] = {}
        """Caller → its waiting requests; the dict's order is the order of turns."""
        self.figures: Figures | None = None
        """Told of every request that came through."""
        self._running = 0
        self._timer: TimerHandle | None = None
        self._key = Rest()
        self._models: dict[str, Rest] = {}
        """Model → its own rest, while it has one."""
        self._held_seconds = 0.0
        """How long requests hold their slot, the newer ones counting more."""

    def slot(self, caller: Caller, *, model: str = "", tokens: int = 0, again: bool = False) -> Slot:
        """Return the right to send one request, to be waited for.

        Args:
            caller: who asks; the turns go round by its name.
            model: which one is asked; one that rests holds up nobody who asks another.
            tokens: estimate, for the limits on tokens.
            again: it was refused by the endpoint before and stands first among its caller's.

        Raises:
            ModelError: on taking it: the queue is full, or the wait would be or was too long;
                `retry_after_seconds` says when.
        """
        return Slot(self, caller, model=model, tokens=tokens, again=again)

    def now(self) -> float:
        """Return the queue's own time, in seconds."""
        return self._clock.now()

    def load(self) -> tuple[int, int]:
        """Return how many requests wait and how many are under way."""
        return sum(map(len, self._lines.values())), self._running

    def block(
        self, seconds: float | None, *, model: str | None = None, sent_at: float = math.inf, said: str = ""
    ) -> None:
        """Let nothing through for so many seconds, of one model or of the whole key.

        Args:
            seconds: unknown doubles with every refusal in a row.
            model: the only one that is held back; None holds back the key.
            sent_at: when the refused request was sent; refusals of what was under way together count once.
            said: the refusal's words, for those who are then refused here.
        """
        now = self._clock.now()
        rest = self._key if model is None else self._models.pop(model, Rest())
        if model is not None:  # Clients name models as they like: what is long over is not kept.
            self._models = {n: one for n, one in self._models.items() if not one.is_long_over(now)} | {model: rest}
        rest.begin(seconds, sent_at, now, said)
        self._allowance.blocked_until = self._key.until
        self._advance()

    def rests_for(self, model: str) -> float:
        """Return for how many seconds a model, or the whole key, is to be left alone."""
        until = max(self._key.until, self._model_until(model))
        return max(0.0, until - self._clock.now())

    def succeeded(self, model: str, sent_at: float) -> None:
        """Forget the refusals: the endpoint has answered."""
        if self._key.refusals:
            self._key.end(sent_at)
        rest = self._models.get(model)
        if rest is not None and sent_at >= rest.until:
            del self._models[model]

    def _model_until(self, model: str) -> float:
        rest = self._models.get(model)
        return -math.inf if rest is None else rest.until

    def left(self, held_seconds: float) -> None:
        """Take a place back."""
        self._running -= 1
        self._held_seconds += (held_seconds - self._held_seconds) * _NEWEST_COUNTS
        self._advance()

    def take_now(self, tokens: int, model: str, now: float) -> Receipt | None:
        """Take a place that is free, if nobody waits for one."""
        if (
            self._lines
            or (self.limits.max_concurrent and self._running >= self.limits.max_concurrent)
            or self._allowance.earliest(tokens, now) > now
            or (self._models and self._model_until(model) > now)
        ):
            return None
        self._running += 1
        return self._allowance.spend(tokens, now)

    async def wait(self, caller: Caller, model: str, tokens: int, *, again: bool) -> Receipt:
        """Wait for a place; see `slot`."""
        now = self._clock.now()
        self._check_room(tokens)
        waiter = _Waiter(caller, model, tokens, asyncio.get_running_loop().create_future())
        line = self._lines.setdefault(caller.name, deque())
        if again:
            line.appendleft(waiter)
        else:
            line.append(waiter)
        self._advance()
        if waiter.granted.done():
            return waiter.granted.result()
        longest = self.max_wait_seconds if caller.wait_seconds is None else caller.wait_seconds
        try:
            self._refuse_too_long(waiter, longest)
            waiter.deadline = self._clock.call_at(now + longest, lambda: self._give_up(waiter, longest))
            return await waiter.granted
        except asyncio.CancelledError:
            if waiter.granted.done() and not waiter.granted.cancelled() and waiter.granted.exception() is None:
                waiter.granted.result().give_back()
                self._running -= 1
            raise
        finally:
            if waiter.deadline is not None:
                waiter.deadline.cancel()
            self._remove(waiter)
            self._advance()

    def _check_room(self, tokens: int) -> None:
        limit = min(filter(None, (self.limits.tokens_per_minute, self.limits.tokens_per_day)), default=0)
        if limit and tokens > limit:
            error = ModelError(
                f"The request needs about {tokens} tokens; the limit of its key is {limit}.",
                remedy="Shorten the conversation or offer fewer tools.",
                status=413,
            )
            error.code = "context_exceeded"
            raise error
        if sum(map(len, self._lines.values())) >= self._max_waiting:
            raise self._error("queue_full", f"{self._max_waiting} requests already wait for this model.", None)

    def _refuse_too_long(self, waiter: _Waiter, longest: float) -> None:
        """Refuse at once what would not get its turn in time: an early no is worth more than a late one."""
        seconds = waiter.due - self._clock.now()  # By the windows alone: how long others hold their slots is a guess.
        if waiter.place is not None and seconds > longest:
            raise self._error(
                "queue_full",
                f"The request would be number {waiter.place.position + 1} in the queue and wait about "
                f"{seconds:.0f} s, longer than the {longest:g} s allowed{self._why(waiter.model)}.",
                seconds,
            )

    def _why(self, model: str) -> str:
        if not self.rests_for(model):
            return ""
        rest = self._key if self._key.until >= self._model_until(model) else self._models[model]
        said = f" ({rest.said[:_SAID_CHARACTERS].rstrip('.')})" if rest.said else ""
        return f": the endpoint wants {model or 'its key'} left alone{said}"

    def _give_up(self, waiter: _Waiter, longest: float) -> None:
        if not waiter.granted.done():
            position = waiter.place.position + 1 if waiter.place else 1
            message = f"The request waited {longest:g} s for its turn and was still number {position} in the queue."
            eta = waiter.place.eta_seconds if waiter.place else None
            waiter.granted.set_exception(self._error("queue_timeout", message, eta))

    @staticmethod
    def _error(code: str, message: str, wait_seconds: float | None) -> ModelError:
        error = ModelError(
            message, remedy="Try again later.", status=429, retryable=True, retry_after_seconds=wait_seconds
        )
        error.code = code
        return error

    def _advance(self) -> None:
        """Let through what may go, set the timer for what may not yet, tell the others their place."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._lines:
            return
        now = self._clock.now()
        while not (self.limits.max_concurrent and self._running >= self.limits.max_concurrent):
            # Who asks a model that rests is passed over, so that those behind go on.
            waiter = next((one for one in self._turns() if self._model_until(one.model) <= now), None)
            at = math.inf if waiter is None else self._allowance.earliest(waiter.tokens, now)
            if waiter is None or at > now:
                wakes = [at, *(until for one in self._turns() if (until := self._model_until(one.model)) > now)]
                if (soonest := min(wakes)) < math.inf:
                    self._timer = self._clock.call_at(soonest, self._advance)
                break
            self._grant(waiter, now)
        self._tell_places(now)

    def _grant(self, waiter: _Waiter, now: float) -> None:
        self._running += 1
        line = self._lines.pop(waiter.caller.name)
        line.remove(waiter)
        if line:
            self._lines[waiter.caller.name] = line  # To the end: the others are served first.
        waiter.granted.set_result(self._allowance.spend(waiter.tokens, now))

    def _turns(self) -> Iterator[_Waiter]:
        """Walk the waiting requests in the order in which they will be served."""
        depth = 0
        while True:
            row = [line[depth] for line in self._lines.values() if len(line) > depth]
            if not row:
                return
            yield from (waiter for waiter in row if not waiter.granted.done())
            depth += 1

    def _tell_places(self, now: float) -> None:
        future = self._allowance.copy()
        at = now
        for position, waiter in enumerate(self._turns()):
            at = future.earliest(waiter.tokens, at)
            future.spend(waiter.tokens, at)
            due = max(at, self._model_until(waiter.model))
            place = Place(position, max(due - now, self._seconds_until_free(position)))
            moved = waiter.place is None or waiter.place.position != position or abs(due - waiter.due) > _NEWS_SECONDS
            waiter.place, waiter.due = place, due
            if moved and waiter.caller.on_place is not None:
                waiter.caller.on_place(place)

    def _seconds_until_free(self, position: int) -> float:
        """Guess when a slot is free for a place in the queue, from how long requests have held theirs."""
        most = self.limits.max_concurrent
        if not most:
            return 0.0
        return max(0, self._running + position + 1 - most) / most * self._held_seconds

    def _remove(self, waiter: _Waiter) -> None:
        line = self._lines.get(waiter.caller.name)
        if line is not None and waiter in line:
            line.remove(waiter)
            if not line:
                del self._lines[waiter.caller.name]
