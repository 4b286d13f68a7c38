"""One server's tools as a Toolset."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from types import TracebackType

from naru.connections.link.connection import Connection
from naru.connections.rules.guard import Guard, NoGuard
from naru.connections.session.options import RequestOptions
from naru.connections.state.faults import LinkError, RpcError
from naru.connections.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND
from naru.connections.wire.results import to_result
from naru.errors import ToolError, ToolTimeoutError, UnknownToolError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.persons import reach
from naru.tools.supervision.calls import Call, Came, Supervision
from naru.tools.toolset import CallContext, ProgressCallback

logger = logging.getLogger(__name__)

_MOST_UNHEARD = 1_000
"""Reports of progress that a slow hearer falls behind by; then the oldest go, since newer ones say more."""


class ServerToolset:
    """Lists and calls the tools of one connection; connects on demand, never repeats a call."""

    def __init__(
        self,
        connection: Connection,
        guard: Guard | None = None,
        supervision: Supervision | None = None,
        *,
        known_as: str = "",
        counted_as: str = "",
    ) -> None:
        """Take a connection; `known_as` is its server's name to those who approve and audit, if it is another one."""
        self.connection = connection
        self._guard = guard or NoGuard()
        self._supervision = supervision or Supervision()
        self._known_as = known_as
        self._counted_as = counted_as

    async def open(self) -> None:
        """Do nothing: the manager decides when servers connect."""

    async def close(self) -> None:
        """Do nothing: the manager closes connections."""

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return what can be called now, by whoever asks; empty while the server is not connected."""
        return seen_tools(self.connection.name, self._guard.offered(self.connection.record, self.connection.tools))

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool, exactly once (R-13).

        Raises:
            UnknownToolError: the server has no such tool.
            PolicyError: it needs a person's yes and got none.
            ToolTimeoutError: no answer in time; it may still have run.
            ToolError: the server cannot be reached, or refused; a tool's own failure is a result with `is_error`.
        """
        definition, failure = await self._definition(name), None
        if definition is None and not self.connection.is_live:
            try:  # whether a person is asked hangs on what the tool says of itself (S-56)
                await self.connection.ready()
                definition = await self._definition(name)
            except LinkError as error:
                failure = error
        if definition is None and (failure is None or not reach().tool(self.connection.name, name, None)):
            raise self._unknown(name)
        server, revision = self._known_as or self.connection.name, self.connection.revision
        call = Call(server, name, arguments, context.caller, definition, counted_as=self._counted_as)

        async def make() -> ToolResult:
            return await self._call(name, arguments, context, revision, failure)

        return await self._supervision.run(call, make, _came)

    async def _definition(self, name: str) -> ToolDefinition | None:
        return next((tool for tool in await self.tools() if tool.name == name), None)

    async def _call(
        self, name: str, arguments: JsonObject, context: CallContext, revision: int, failure: LinkError | None
    ) -> ToolResult:
        """Make a call that was judged at a revision, or say why the link to it failed."""
        connection = self.connection
        try:
            if failure is not None:
                raise failure
            async with _Progress(context.on_progress) as progress:
                options = RequestOptions(
                    timeout_seconds=connection.record.timeout_seconds or context.timeout_seconds,
                    meta=context.meta,
                    caller=context.caller,
                    revision=revision,
                    on_notification=progress.hear if context.on_progress is not None else None,
                )
                raw = await connection.request("tools/call", {"name": name, "arguments": arguments}, options)
        except LinkError as error:
            kind = ToolTimeoutError if error.failure.code == "timeout" and error.delivered else ToolError
            raise kind(error.message, remedy=error.remedy) from error
        except RpcError as error:
            if error.error_code in (METHOD_NOT_FOUND, INVALID_PARAMS) and name not in connection.catalogue:
                raise self._unknown(name) from error
            raise ToolError(f"Tool {name!r}: {error}") from error
        if raw.get("resultType", "complete") == "input_required":
            raise ToolError(
                f"Tool {name!r} of {connection.name!r} asks for input from a person, which nobody here can give.",
                remedy="Call it from a client that offers elicitation or sampling.",
            )
        return self._guard.result(connection.name, name, to_result(raw))

    def _unknown(self, name: str) -> UnknownToolError:
        offered = self._guard.offered(self.connection.record, self.connection.catalogue.definitions)
        names = ", ".join(definition.name for definition in seen_tools(self.connection.name, offered)[:20])
        return UnknownToolError(
            f"Server {self.connection.name!r} has no tool {name!r}.", remedy=f"It has: {names or 'none'}."
        )


def seen_tools(server: str, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
    """Return those of a server's tools that whoever asks may see."""
    seen = reach()
    if seen.is_whole:
        return tools
    return [tool for tool in tools if seen.tool(server, tool.name, tool.annotations)]


def _came(result: ToolResult) -> Came:
    return Came(result.is_error, len(result.text))


class _Progress:
    """Runs an async progress callback in order beside the call, and ends with it; what it raises costs no result."""

    def __init__(self, callback: ProgressCallback | None) -> None:
        self._callback = callback
        self._queue: asyncio.Queue[JsonObject | None] = asyncio.Queue(_MOST_UNHEARD)
        self._task: asyncio.Task[None] | None = None

    def hear(self, method: str, params: JsonObject) -> None:
        """Take a notification; only progress counts."""
        if method != "notifications/progress":
            return
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        self._put(params)

    def _put(self, params: JsonObject | None) -> None:
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(params)

    async def _run(self) -> None:
        assert self._callback is not None
        try:
            while (params := await self._queue.get()) is not None:
                done, total = _number(params.get("progress")), _number(params.get("total"))
                await self._callback(done or 0.0, total, str(params.get("message") or ""))
        except Exception:  # foreign code, beside a call that may not be repeated
            logger.exception("a hearer of progress failed, and hears no more of this call")

    async def __aenter__(self) -> _Progress:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Deliver what was heard, then end; at once where nobody waits for the call any more."""
        if self._task is None:
            return
        self._put(None)
        if isinstance(error, asyncio.CancelledError):
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=isinstance(error, asyncio.CancelledError))


def _number(value: object) -> float | None:
    """Return a number as a float; None where it is none, or none that a float can be."""
    try:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    except OverflowError:
        return None
