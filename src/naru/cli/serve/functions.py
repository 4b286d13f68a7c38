"""`python -m naru.cli.serve.functions FILE NAME`: one's own functions for the hub that starts it, over stdio.

Approvals, audit, filters and deadlines are the hub's: nothing is asked or written down twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

from naru.cli.serve.listening import run_until_interrupted
from naru.connections.wire.protocol import META_PERSON
from naru.gateway.engine import Engine
from naru.gateway.faces.stdio import StdioFace, take_stdin, take_stdout
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.own_tools import OwnTools, OwnUpstreams
from naru.gateway.upstreams.upstream import Change
from naru.messages import JsonObject, ToolResult
from naru.tools.functions.reloading import ReloadingToolset
from naru.tools.toolset import CallContext
from naru.tools.wrappers import WrapperToolset

DAY_SECONDS = 86_400.0
"""The hub ends what takes too long; this process has no opinion of its own."""


async def serve_functions(target: str, name: str) -> None:
    """Serve the functions of a file or a module to the client on stdin and stdout, until it closes them."""
    out = take_stdout()
    toolset = OwnFunctions(target)
    await toolset.open()
    upstreams = OwnUpstreams(OwnTools(name, toolset, timeout_seconds=DAY_SECONDS))

    toolset.changed = lambda: upstreams.tell(Change(name, "tools"))

    def complain(text: str) -> None:
        params: JsonObject = {"level": "error", "logger": name, "data": text}
        upstreams.tell(Change(name, "message", params))

    def greet() -> None:
        toolset.complain = complain
        while toolset.unheard:
            complain(toolset.unheard.pop(0))

    engine = _Engine(upstreams, name, greet)
    try:
        await StdioFace(engine, take_stdin(), out).serve()
    finally:
        await engine.close()
        await toolset.close()


class _Engine(Engine):
    """Tells when its one client is ready to hear."""

    def __init__(self, upstreams: OwnUpstreams, name: str, greet: Callable[[], None]) -> None:
        super().__init__(upstreams, GatewaySettings.alone(name))
        self._greet = greet

    def receive(self, message: JsonObject, session: Session) -> None:
        """Take a notification or a response within a session."""
        super().receive(message, session)
        if message.get("method") == "notifications/initialized":
            self._greet()


class OwnFunctions(WrapperToolset):
    """Functions that are told whom the hub serves, in each call: the client here is the hub itself."""

    def __init__(self, target: str) -> None:
        super().__init__(ReloadingToolset(target, self._told))
        self.changed: Callable[[], None] = lambda: None
        self.unheard: list[str] = []
        """What was wrong before a client was there to hear it."""
        self.complain: Callable[[str], None] = self.unheard.append

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a function once. Raises as `FunctionToolset.call`."""
        context = replace(context, caller=str(context.meta.get(META_PERSON) or ""))
        return await self.inner.call(name, arguments, context)

    def _told(self, text: str) -> None:
        if not text:
            self.changed()
            return
        print(text, file=sys.stderr, flush=True)  # noqa: T201  # the log of a stdio server
        self.complain(text)


if __name__ == "__main__":
    run_until_interrupted(serve_functions(sys.argv[1], sys.argv[2]))
