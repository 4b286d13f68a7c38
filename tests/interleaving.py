"""An event loop that runs one callback at a time, in an order that a schedule chooses, on a clock that never waits.

Every `await` that lets others run is a choice: a test that passes under all of them does not depend on which task the
machine happened to run first. Real code runs on it unchanged; what it must not do is touch sockets, files or children.

* `every(work, delays=n)` runs all orders that let the first in line wait up to `n` times: exhaustive for small cases,
  and most races need one or two (delay-bounded scheduling, Emmi, Qadeer and Rakamarić 2011).
* `seeded(work, seeds)` runs orders drawn at random, for what is too large for that.

Both name the order that failed; `replay(work, choices)` runs that one again.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, None]]
"""Makes the coroutine of one run; everything that it touches is made anew."""

MAX_STEPS = 200_000
MAX_SECONDS = 3_600.0


class HungError(AssertionError):
    """Nothing can run any more, or it goes on for ever, and the work is not done."""


class Order:
    """Chooses who runs next: first what is given, then as `draw` says; writes down every choice that there was."""

    def __init__(self, given: Sequence[int] = (), draw: Callable[[int], int] = lambda count: 0) -> None:
        self._given = given
        self._draw = draw
        self.chosen: list[int] = []
        self.counts: list[int] = []
        """How many there were to choose from."""

    def choose(self, count: int) -> int:
        """Return the place in line of the callback that runs next."""
        place = len(self.chosen)
        choice = self._given[place] if place < len(self._given) else self._draw(count)
        self.chosen.append(min(choice, count - 1))
        self.counts.append(count)
        return self.chosen[-1]

    @property
    def shown(self) -> list[int]:
        """The choices up to the last one that was not the first in line."""
        last = max((place for place, choice in enumerate(self.chosen) if choice), default=-1)
        return self.chosen[: last + 1]


class SteppedLoop(asyncio.AbstractEventLoop):
    """See the module. Threads are run at once, in turn with everything else."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ready: list[asyncio.Handle] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._now = 0.0
        self._numbers = 0
        self._closed = False
        self.failures: list[BaseException] = []
        """What callbacks and forgotten tasks raised."""

    def run_until_complete(self, future: Any) -> Any:
        """Run until the work is done and return what came of it. Raises HungError."""
        task = asyncio.ensure_future(future, loop=self)
        asyncio._set_running_loop(self)
        try:
            steps = 0
            while not task.done():
                steps += 1
                if steps > MAX_STEPS or self._now > MAX_SECONDS or not self._step():
                    raise HungError(f"hung after {steps} steps and {self._now:g} s: {self._waiting()}")
        finally:
            asyncio._set_running_loop(None)
        return task.result()

    def _step(self) -> bool:
        """Run one callback; False when there is none, and never will be."""
        self._ready = [handle for handle in self._ready if not handle.cancelled()]
        while not self._ready and self._timers:
            when, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled():
                self._now = max(self._now, when)
                self._ready.append(timer)
        if not self._ready:
            return False
        place = self._order.choose(len(self._ready)) if len(self._ready) > 1 else 0
        self._ready.pop(place)._run()
        return True

    def _waiting(self) -> str:
        return ", ".join(sorted(task.get_name() for task in asyncio.all_tasks(self)))

    # What asyncio asks of a loop

    def time(self) -> float:
        """Return the seconds that passed; they pass only when nobody has anything else to do."""
        return self._now

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Put a callback in line."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        """Put a callback in line at a moment."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._numbers += 1
        heapq.heappush(self._timers, (when, self._numbers, timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        """Put a callback in line after a while."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: a cancelled timer is passed over when its moment comes."""

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """Start a task."""
        return asyncio.Task(coro, loop=self, **options)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run a function that would run in a thread, when its turn comes."""
        future: asyncio.Future[T] = self.create_future()

        def call() -> None:
            if future.cancelled():
                return
            try:
                future.set_result(func(*args))
            except Exception as error:  # noqa: BLE001  # whoever awaits it gets it
                future.set_exception(error)

        self.call_soon(call)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody caught."""
        self.failures.append(context.get("exception") or RuntimeError(context.get("message")))

    def get_debug(self) -> bool:
        """Return False: it would only cost time."""
        return False

    def is_running(self) -> bool:
        """Tell whether it is the running loop."""
        return asyncio._get_running_loop() is self

    def is_closed(self) -> bool:
        """Tell whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Forget what is still in line."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()


def run(work: Work, order: Order) -> None:
    """Run the work once, in an order. Raises what it raised, with the order in a note."""
    random.seed(0)  # jitter is chance as well: the same order is the same run
    loop = SteppedLoop(order)
    try:
        loop.run_until_complete(work())
        if loop.failures:
            raise loop.failures[0]
    except BaseException as error:
        error.add_note(f"in the order {order.shown}")
        raise
    finally:
        _end(loop)


def _end(loop: SteppedLoop) -> None:
    """End what a failed run left, so that nothing of it is told of by another test."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        asyncio._set_running_loop(loop)
        try:
            for _ in range(MAX_STEPS):
                if all(task.done() for task in left) or not loop._step():
                    break
        finally:
            asyncio._set_running_loop(None)
    loop.close()


def replay(work: Work, choices: Sequence[int]) -> None:
    """Run the order that a failure named."""
    run(work, Order(choices))


def seeded(work: Work, seeds: Iterable[int], *, strays: float = 0.2) -> int:
    """Run an order for each seed, passing over the first in line with the chance `strays`; return how many."""
    runs = 0
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311  # a schedule is no secret

        def draw(count: int, chance: random.Random = chance) -> int:
            return chance.randrange(count) if chance.random() < strays else 0

        run(work, Order(draw=draw))
        runs += 1
    return runs


def every(work: Work, *, delays: int, most: int = 1_000_000) -> int:
    """Run every order with up to so many delays; return how many there were.

    Letting one go before the first in line is a delay, the third in line two, and so on.

    Raises:
        AssertionError: there are more than `most`: the case is not small.
    """
    runs = 0
    planned: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while planned:
        given, spent = planned.pop()
        order = Order(given)
        run(work, order)
        runs += 1
        assert runs <= most, f"more than {most} orders: make the case smaller, or use seeds"
        for place in range(len(given), len(order.counts)):
            start = tuple(order.chosen[:place])
            choices = range(1, min(order.counts[place] - 1, delays - spent) + 1)
            planned += [((*start, choice), spent + choice) for choice in choices]
    return runs
