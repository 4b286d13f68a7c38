"""The local engine: llama.cpp in a child process of ours, reached over loopback like any other endpoint.

A child rather than a thread: a crash in native code costs one request, not the hub; see docs/decisions/0050.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import secrets
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from naru.deadlines import bound
from naru.errors import ConfigError, ModelError
from naru.extras import install_command
from naru.models.local.weights import check_gguf

_LOG_LINES_KEPT = 40
_LOG_LINES_SHOWN = 4
_STOP_SECONDS = 3.0
_DEATH_NOTICED_SECONDS = 5.0
_DEATHS_AT_MOST = 3
_DEATHS_WITHIN_SECONDS = 300.0
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How the engine is to run."""

    context_tokens: int = 8192
    threads: int = 0
    """0 takes the cores that this process may use."""
    parallel: int = 2
    """Requests decoded side by side, each with the whole context size."""
    prompt_cache_mib: int = 512
    """Memory for prompts seen before."""
    start_timeout_seconds: float = 180.0


class LocalEngine:
    """A llama.cpp server of our own on a loopback port with a random key.

    `async with LocalEngine(path) as engine:` or `start` and `stop`. The child dies with this process.
    """

    def __init__(self, model_path: Path, *, alias: str = "", options: EngineOptions | None = None) -> None:
        self.model_path = model_path
        self.alias = alias or model_path.stem
        self.api_key = secrets.token_urlsafe(24)
        self.base_url = ""
        """`http://127.0.0.1:PORT/v1` once started."""
        self._options = options or EngineOptions()
        self._process: asyncio.subprocess.Process | None = None
        self._log: deque[str] = deque(maxlen=_LOG_LINES_KEPT)
        self._log_reader: asyncio.Task[None] | None = None
        self._restart: asyncio.Task[None] | None = None
        """The start after a death, which belongs to none of those who wait for it."""
        self._deaths: list[float] = []
        self._port = 0

    @property
    def pid(self) -> int | None:
        """Process id of the running child, else None."""
        return self._process.pid if self.is_running and self._process else None

    @property
    def is_running(self) -> bool:
        """Whether the child is alive."""
        return self._process is not None and self._process.returncode is None

    @property
    def last_log_lines(self) -> list[str]:
        """What llama.cpp logged last, for error texts."""
        return list(self._log)[-_LOG_LINES_SHOWN:]

    async def start(self) -> None:
        """Start the child and wait until the model is loaded.

        Raises:
            ConfigError: the file is no GGUF, or the extra is not installed.
            ModelError: the engine died or did not come up in time; the text holds its last log lines.
        """
        if self.is_running:
            return
        check_gguf(self.model_path)
        if importlib.util.find_spec("xllamacpp") is None:
            raise ConfigError(
                "The local engine (xllamacpp) is not installed.",
                remedy=f"Install it: {install_command('local')}; or give --base-url of a model server.",
            )
        self._log.clear()
        # -P: a folder named naru in the working directory must not be imported instead of us.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "naru.models.local.engine_process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._log_reader = asyncio.get_running_loop().create_task(self._keep_log(self._process), name="engine log")
        try:
            with bound(self._options.start_timeout_seconds):
                self.base_url = await self._announce(self._process) + "/v1"
        except TimeoutError:
            await self._end_child()
            raise ModelError(
                f"The local engine did not load {self.model_path.name} within "
                f"{self._options.start_timeout_seconds:g} s.{self._log_tail()}"
            ) from None
        except BaseException:
            await self._end_child()
            raise

    async def has_died(self) -> bool:
        """Tell whether the child is gone; waits a moment for a death that has not been noticed yet."""
        if self._process is not None:
            with suppress(TimeoutError), bound(_DEATH_NOTICED_SECONDS):
                await self._process.wait()
        return not self.is_running

    async def ensure_running(self) -> None:
        """Start the child again when it has died, on the same port and with the same key; one start for all callers.

        Raises:
            ModelError: it died too often, or cannot be started.
        """
        restart = self._restart
        if restart is None or restart.done():
            if self.is_running or not self.base_url:
                return
            restart = self._restart = asyncio.get_running_loop().create_task(self._start_again(), name="engine start")
            restart.add_done_callback(_seen)
        try:
            await asyncio.shield(restart)
        except asyncio.CancelledError as error:
            if not restart.cancelled():
                raise
            raise ModelError("The local engine is being stopped.") from error
        except ModelError as error:
            error.code = "unreachable"  # another model may be asked in its place
            raise

    async def _start_again(self) -> None:
        now = time.monotonic()
        self._deaths = [at for at in self._deaths if now - at < _DEATHS_WITHIN_SECONDS]
        if len(self._deaths) >= _DEATHS_AT_MOST:  # Who asks now does not make it one more.
            raise ModelError(
                f"The local engine died {len(self._deaths) + 1} times within {_DEATHS_WITHIN_SECONDS:.0f} s."
                f"{self._log_tail()}",
                remedy="Take a smaller model or context size (NARU_MODEL__CONTEXT_TOKENS).",
            )
        self._deaths.append(now)
        logger.warning("the local engine has died and is started again.%s", self._log_tail())
        if self._log_reader is not None:
            self._log_reader.cancel()
        self._process = None
        self._port = int(self.base_url.rpartition(":")[2].partition("/")[0])
        await self.start()

    async def stop(self) -> None:
        """End the child: close its stdin, then kill it."""
        self.base_url = ""
        restart, self._restart = self._restart, None
        if restart is not None:
            restart.cancel()
            await asyncio.wait([restart])
        await self._end_child()

    async def _end_child(self) -> None:
        process, self._process = self._process, None
        reader, self._log_reader = self._log_reader, None
        try:
            if process is not None:
                await _end(process)
        finally:
            if reader is not None:
                reader.cancel()
                await asyncio.wait([reader])

    async def __aenter__(self) -> LocalEngine:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _announce(self, process: asyncio.subprocess.Process) -> str:
        """Send the options, return the address that the child answers with."""
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(self._start_options()).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            if self._log_reader is not None:
                await asyncio.wait([self._log_reader], timeout=1.0)
            raise ModelError(
                f"The local engine could not load {self.model_path} and ended with {_exit_text(code)}."
                f"{self._log_tail()}",
                remedy="Check that the file is whole and fits into memory.",
            )
        return str(json.loads(line)["listening"])

    def _start_options(self) -> dict[str, str | int]:
        return {
            "parent": os.getpid(),
            "model_path": str(self.model_path),
            "alias": self.alias,
            "port": self._port,
            "api_key": self.api_key,
            "context_tokens": self._options.context_tokens,
            "threads": self._options.threads or _usable_cores(),
            "parallel": self._options.parallel,
            "prompt_cache_mib": self._options.prompt_cache_mib,
        }

    async def _keep_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:  # A line beyond the reader's limit; the rest is read on.
                continue
            if not line:
                return
            if text := line.decode("utf-8", "replace").strip():
                self._log.append(text)

    def _log_tail(self) -> str:
        return f" Its last lines: {' | '.join(self.last_log_lines)}" if self._log else ""


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        with suppress(TimeoutError), bound(_STOP_SECONDS):
            await process.wait()
    finally:  # also where nobody waits for it any more
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _seen(restart: asyncio.Task[None]) -> None:
    """Take a failure that all who waited for it may have left alone."""
    if not restart.cancelled():
        restart.exception()


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
