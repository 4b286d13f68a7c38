"""An aiohttp application of a test, served in its own loop."""

from __future__ import annotations

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
