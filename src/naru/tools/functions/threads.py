"""Worker threads for sync functions: daemons, so that one that hangs holds up neither the loop nor the exit."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

MAX_WORKERS = 64
IDLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Job:
    function: Callable[[], Any]
    context: contextvars.Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class WorkerThreads:
    """A pool of daemon threads; one more starts only when none is idle."""

    def __init__(self, max_workers: int = MAX_WORKERS) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._max_workers = max_workers
        self._lock = threading.Lock()
        self._workers = 0
        self._idle = 0
        """How many wait for a job; below zero, how many jobs wait for a worker."""

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in a worker, with the caller's context variables; a cancelled wait abandons the worker."""
        return await self.begin(function)

    def begin(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Have a function run in a worker; return what ends with it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        job = _Job(function, contextvars.copy_context(), loop, future)
        with self._lock:
            start = self._idle <= 0 and self._workers < self._max_workers
            if start:
                self._workers += 1
            else:
                self._idle -= 1
        if start:
            self._start()
        self._jobs.put(job)
        return future

    def _start(self) -> None:
        try:
            threading.Thread(target=self._work, name="naru tool", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            with self._lock:
                self._workers -= 1
            raise

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:  # nobody counts on this worker
                        self._idle -= 1
                        self._workers -= 1
                        return
                continue
            self._do(job)
            del job  # hold nothing of it while idle

    def _do(self, job: _Job) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            if not job.future.cancelled():
                result = job.context.run(job.function)
        except StopIteration as stop:  # a future cannot carry it
            error = RuntimeError(f"the function raised StopIteration({stop.value!r})")
        except BaseException as raised:  # noqa: BLE001  # carried over to the waiting task, whatever it is
            error = raised
        with self._lock:  # idle before the result is out: whoever waits for it may use this worker next
            self._idle += 1
        try:
            job.loop.call_soon_threadsafe(_settle, job.future, result, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


WORKERS = WorkerThreads()
"""The process's workers; threads cost nothing until the first sync function runs."""
