"""`naru serve --workers N`: one process listens for nobody and watches over N that serve on the same port."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import ExitStack
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from naru.cli.serve.hub import keys_are_asked, serve_on
from naru.cli.serve.listening import SHUTDOWN_SECONDS, address_of, listen, listen_beside, reserve, run_until_interrupted
from naru.cli.terminal.exit_codes import exit_code
from naru.config import Settings
from naru.errors import ConfigError, NaruError
from naru.hub import key_file
from naru.stores.open import store_url
from naru.stores.serving_lock import folder_in_use, serving_lock
from naru.stores.shared.workers import WorkerCommons
from naru.telemetry.logs import configure_logging
from naru.web.gate.security import check_bind

if TYPE_CHECKING:
    from types import FrameType

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
"""Between the end of a worker and the start of the one that takes its place."""
SOON_SECONDS = 5.0
"""A worker that ends so soon after its start cannot serve: all are ended."""


def serve_with_workers(settings: Settings, config: Path | None) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Raises:
        ConfigError: this store or these settings are not for several processes.
        SystemExit: a worker could not serve; with its exit code.
    """
    check_bind(settings.server)
    if settings.hub.replica_address:
        raise ConfigError(
            "server.workers and hub.replica_address do not go together.",
            remedy="On several machines run as many hubs as there are cores, each with one worker.",
        )
    if store_url(settings.hub).startswith("memory"):
        raise ConfigError("A store in memory is one process's own.", remedy="Leave hub.store empty, or name a file.")
    with ExitStack() as stack:
        bound = stack.enter_context(reserve(settings.server.host, settings.server.port))
        settings.server.port = bound.getsockname()[1]
        address = address_of(bound, settings.server)
        stack.enter_context(serving_lock(store_url(settings.hub), address))
        stack.enter_context(folder_in_use(settings.hub.data_dir, address))
        keys = key_file(settings)
        keys_are_asked(settings, keys, were_made=keys.were_made())
        sockets = Path(tempfile.mkdtemp(prefix="naru-"))
        stack.callback(shutil.rmtree, sockets, ignore_errors=True)
        _Watch(settings, config, sockets).run()


class _Watch:
    """Starts the workers, starts another for one that ended, ends them all."""

    def __init__(self, settings: Settings, config: Path | None, sockets: Path) -> None:
        # The class of settings that were read is one of that reading: another process knows the plain one.
        plain = Settings.model_construct(settings.model_fields_set, **dict(settings))
        self._given = (plain, config, sockets)
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[int, tuple[BaseProcess, float]] = {}
        self._is_stopping = False

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        for place in range(self._given[0].server.workers):
            self._start(place)
        while self._workers:
            wait([worker.sentinel for worker, _ in self._workers.values()], timeout=1.0)
            for place, (worker, since) in list(self._workers.items()):
                if worker.exitcode is not None:
                    del self._workers[place]
                    self._replace(place, worker, since)

    def _start(self, place: int) -> None:
        worker = self._context.Process(target=_work, args=(*self._given, place), name=f"naru worker {place}")
        worker.start()
        self._workers[place] = (worker, time.monotonic())

    def _replace(self, place: int, worker: BaseProcess, since: float) -> None:
        if self._is_stopping:
            return
        if worker.exitcode and worker.exitcode > 0 and time.monotonic() - since < SOON_SECONDS:
            self._stop(signal.SIGTERM, None)
            for other, _ in self._workers.values():
                other.join(SHUTDOWN_SECONDS)
            sys.exit(worker.exitcode)
        logger.error("worker %d ended with %s; another one takes its place", place, worker.exitcode)
        time.sleep(AGAIN_SECONDS)
        if not self._is_stopping:
            self._start(place)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        for worker, _ in self._workers.values():
            if worker.is_alive():
                worker.terminate()


def _work(settings: Settings, config: Path | None, sockets: Path, place: int) -> None:
    """Be a worker."""
    configure_logging(settings)
    try:
        run_until_interrupted(_serve(settings, config, sockets, place))
    except NaruError as error:
        print(f"naru: {error}", file=sys.stderr)
        sys.exit(exit_code(error))


async def _serve(settings: Settings, config: Path | None, sockets: Path, place: int) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:  # whoever is left alone ends
        asyncio.get_running_loop().add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
    scheme = "https" if settings.server.tls_certificate else "http"
    commons = WorkerCommons(settings.hub.data_dir, sockets, scheme=scheme)
    with ExitStack() as stack:
        bound = stack.enter_context(listen(settings.server.host, settings.server.port, is_shared=True))
        also: list[socket.socket] = [stack.enter_context(commons.listen())]
        if place == 0 and (beside := stack.enter_context(listen_beside(settings.server))) is not None:
            also.append(beside)
        await commons.open()
        try:
            await serve_on(settings, config, bound, also, commons, is_first=place == 0)
        finally:
            await commons.close()
