"""Applications of a test on loopback: an aiohttp one in its own loop, a handler of requests in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any

from aiohttp import web


async def listening(
    app: web.Application, *, port: int = 0, tls: SSLContext | None = None, **options: Any
) -> tuple[web.AppRunner, int]:
    """Serve it on loopback; return what `cleanup` ends, and the port."""
    runner = web.AppRunner(app, access_log=None, **options)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls, reuse_address=True).start()
    return runner, runner.addresses[0][1]


class QuietHandler(BaseHTTPRequestHandler):
    """Answers whole, and writes no line for each request."""

    def send_json(self, value: object, status: int = 200) -> None:
        self.send_whole(json.dumps(value).encode(), "application/json", status)

    def send_whole(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve it from a thread, for tests that block their own; gives the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
