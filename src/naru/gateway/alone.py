"""A Toolset as a program of its own that speaks MCP over stdio."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys

from naru.gateway.engine import Engine
from naru.gateway.faces.stdio import StdioFace, take_stdin, take_stdout
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.upstreams.own_tools import OwnTools, OwnUpstreams
from naru.tools.toolset import Toolset


def run_alone(toolset: Toolset, *, name: str, instructions: str) -> None:
    """Serve a Toolset on stdin and stdout until the client closes them, Ctrl-C or SIGTERM, and leave."""
    gc.freeze()  # what was loaded stays to the end
    number = asyncio.run(_serve(OwnTools(name, toolset, instructions=instructions), toolset))
    sys.exit(128 + number if number else 0)


async def _serve(tools: OwnTools, toolset: Toolset) -> int:
    """Return the number of the signal that ended it, or 0."""
    ended_by = [0]
    await toolset.open()
    engine = Engine(OwnUpstreams(tools), GatewaySettings.alone(tools.name))
    work = asyncio.ensure_future(StdioFace(engine, take_stdin(), take_stdout()).serve())

    def leave(number: int) -> None:
        ended_by[0] = number
        work.cancel()

    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leave, number)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await work
    finally:
        await engine.close()
        await toolset.close()
    return ended_by[0]
