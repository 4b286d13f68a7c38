"""Listen and serve: the socket, uvicorn, signals. Shared by the commands that run a server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import importlib
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from naru.config import ServerSettings
from naru.errors import ConfigError
from naru.web.one_write import KEEP_ALIVE_SECONDS, OneWriteProtocol

SHUTDOWN_SECONDS = 30
"""What requests under way get to finish in; held streams are ended at once (R-29)."""


def reserve(host: str, port: int) -> socket.socket:
    """Bind a port that other processes of ours listen on, and do not listen. Raises ConfigError as `listen` does."""
    with listen(host, port) as tried:  # nobody else has it
        place = tried.getsockname()
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(place)
    return bound


def listen(host: str, port: int, *, is_shared: bool = False, chosen_by: str = "--port") -> socket.socket:
    """Bind and listen; port 0 takes a free one. A shared port is for several processes, each with a queue.

    `chosen_by` is what a person may say to have another port.

    Raises:
        ConfigError: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=2048, reuse_port=is_shared)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"Tried to listen on {host}:{port}; the port is in use.",
                remedy=f"Stop what runs there, or choose another port with {chosen_by}.",
            ) from error
        is_refused = error.errno == errno.EACCES
        raise ConfigError(
            f"Tried to listen on {host}:{port}: {_reason(error)}.",
            remedy=f"Ports below 1024 need rights; choose another one with {chosen_by}."
            if is_refused
            else "Say an address of this machine with --host, such as 127.0.0.1.",
        ) from error
    bound.setblocking(False)
    return bound


def _reason(error: OSError) -> str:
    """Return the system's words without Python's repetition of the address."""
    return (error.strerror or str(error)).partition(" (while attempting")[0]


@contextlib.contextmanager
def listen_beside(settings: ServerSettings) -> Iterator[socket.socket | None]:
    """Listen on Ollama's port too, where that is set. Raises ConfigError."""
    if not settings.ollama_port:
        yield None
        return
    with listen(settings.host, settings.ollama_port, chosen_by="NARU_SERVER__OLLAMA_PORT") as bound:
        yield bound


def address_of(bound: socket.socket, settings: ServerSettings) -> str:
    """Return the base URL that a bound socket answers at; one for all addresses is no name that a client may say."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    scheme = "https" if settings.tls_certificate else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def tls_of(settings: ServerSettings) -> ssl.SSLContext | None:
    """Return the certificate to serve with, or None for plain http (A-07).

    Raises:
        ConfigError: it cannot be used; says why.
    """
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigError("server.tls_certificate and server.tls_key go together: only one of them is set.")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # An empty password keeps a locked key from asking on the terminal.
        context.load_cert_chain(certificate.expanduser(), key.expanduser(), password="")
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"Tried to load {certificate} with {key}: {error.strerror or error}.",
            remedy="Both must be PEM files that belong together, the key without a password.",
        ) from error
    return context


class _Server(uvicorn.Server):
    """Tells the application of a stop before it waits for the requests under way."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)


async def serve(
    app: ASGIApp,
    bound: socket.socket,
    on_stop: Callable[[], None],
    *,
    tls: ssl.SSLContext | None = None,
    also: Sequence[socket.socket] = (),
) -> None:
    """Serve until SIGINT or SIGTERM, on further sockets too; `on_stop` is called when the stop begins."""
    config = uvicorn.Config(
        app,
        http=OneWriteProtocol,
        loop="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=16 * 1024,
        ssl_context_factory=None if tls is None else lambda *_: tls,
    )
    # What was loaded stays: a full collection need not walk it again and again while requests are served.
    gc.collect()
    gc.freeze()
    # Answering a request leaves no cycles behind, and many at a time look like a leak to the first generation.
    gc.set_threshold(20_000, 20, 20)
    # uvicorn raises the signal again once it has stopped; by then everything here still has to be closed.
    signal.signal(signal.SIGTERM, lambda *_: None)
    await _Server(config, on_stop).serve(sockets=[bound, *also])


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on uvloop where there is one. Raises KeyboardInterrupt when Ctrl-C ended it."""
    factory = importlib.import_module("uvloop").new_event_loop if sys.platform != "win32" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)


def run_until_interrupted(main: Coroutine[Any, Any, None]) -> None:
    """Run what serves until Ctrl-C, which is how it is meant to end."""
    with contextlib.suppress(KeyboardInterrupt):
        run(main)
