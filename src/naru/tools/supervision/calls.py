"""What stands round every tool call, whichever face it came by: a person's yes where one is needed, and the audit."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import orjson

from naru.encoding import encode
from naru.errors import NaruError, PolicyError, ToolTimeoutError, UnknownToolError
from naru.facts import fact
from naru.messages import JsonObject, ToolDefinition
from naru.telemetry.audit import Audit
from naru.telemetry.figures import Figures

Result = TypeVar("Result")


class AskClient(Protocol):
    """A client whose call waits for a person."""

    async def __call__(self, waiting_id: str, *, may_answer: bool) -> str | None:
        """Tell it; where it may answer return `once`, `always` or `deny`, None when its person does not say."""
        ...


@fact()
class Call:
    """A call that is about to be made, under the server's own name of the tool."""

    server: str
    tool: str
    arguments: JsonObject
    caller: str = ""
    definition: ToolDefinition | None = None
    ask: AskClient | None = None
    """Tells the client that made the call that it waits for a person."""
    counted_as: str = ""
    """What it counts under in the figures, where that is not its server: names from outside are without number."""


@fact()
class Came:
    """What came of a call, without its content."""

    is_error: bool
    size: int = 0
    """Bytes or characters of the result, as far as that is cheap to tell."""

    @staticmethod
    def of(result: JsonObject) -> Came:
        """Return it of the result of an MCP server."""
        content, size = result.get("content"), 0
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(text := part.get("text"), str):
                size += len(text)
        return Came(result.get("isError") is True, size)


class Gatekeeper(Protocol):
    """Decides about calls (N9)."""

    async def decide(self, call: Call) -> str:
        """Return why the call may be made: `allowed`, `approved` …. Raises PolicyError when it may not."""
        ...


class Supervision:
    """Asks the gatekeeper, makes the call once, writes down what came of it."""

    def __init__(
        self, audit: Audit | None = None, gatekeeper: Gatekeeper | None = None, figures: Figures | None = None
    ) -> None:
        self.audit = audit
        self.gatekeeper = gatekeeper
        self.figures = figures
        self.counts: Counter[tuple[str, str]] = Counter()
        """Calls by server and outcome, for `/metrics`."""
        self.seconds: dict[str, float] = {}
        """Time of all calls by server."""
        self._hashes: dict[tuple[str, str], tuple[ToolDefinition, str]] = {}

    async def run(self, call: Call, make: Callable[[], Awaitable[Result]], came: Callable[[Result], Came]) -> Result:
        """Make a call under supervision.

        Raises:
            PolicyError: it was denied, or nobody answered; it was not made.
            StoreError: the audit log cannot be written and the settings say to stop then.
        """
        started = time.monotonic()
        decision = "denied"
        try:
            decision = await self.gatekeeper.decide(call) if self.gatekeeper is not None else "allowed"
            result = await make()
        except asyncio.CancelledError:
            self._mention(call, decision, "cancelled", started)
            raise
        except Exception as error:
            await self._note(call, decision, _outcome_of(error), started, 0)
            raise
        told = came(result)
        outcome, size = "tool_error" if told.is_error else "ok", told.size
        await self._note(call, decision, outcome, started, size)
        return result

    def _count(self, call: Call, outcome: str, started: float) -> None:
        seconds = time.monotonic() - started
        server, tool = (call.counted_as, call.counted_as) if call.counted_as else (call.server, call.tool)
        self.counts[server, outcome] += 1
        self.seconds[server] = self.seconds.get(server, 0.0) + seconds
        if self.figures is not None:
            # A name that its server does not know was made up by a model, and may be anything.
            self.figures.call(server, "unknown" if outcome == "unknown_tool" else tool, outcome, seconds)

    async def _note(self, call: Call, decision: str, outcome: str, started: float, size: int) -> None:
        self._count(call, outcome, started)
        if self.audit is not None and self.audit.keeps_calls:
            await self.audit.note("call", call.caller, **self._facts(call, decision, outcome, started, size))

    def _mention(self, call: Call, decision: str, outcome: str, started: float) -> None:
        self._count(call, outcome, started)
        if self.audit is not None and self.audit.keeps_calls:
            self.audit.mention("call", call.caller, **self._facts(call, decision, outcome, started, 0))

    def _facts(self, call: Call, decision: str, outcome: str, started: float, size: int) -> dict[str, object]:
        assert self.audit is not None
        return {
            "server": call.server,
            "tool": call.tool[:200],
            "decision": decision,
            "outcome": outcome,
            "ms": round((time.monotonic() - started) * 1000),
            "arguments": self.audit.describe(call.arguments),
            "result_size": size,
            "definition": self._definition(call),
        }

    def _definition(self, call: Call) -> str | None:
        """Return the hash of the tool's definition, worked out once for as long as it is the same."""
        if call.definition is None:
            return None
        kept = self._hashes.get((call.server, call.tool))
        if kept is None or kept[0] is not call.definition:
            if len(self._hashes) > 10_000:
                self._hashes.clear()
            kept = self._hashes[call.server, call.tool] = (call.definition, definition_hash(call.definition))
        return kept[1]


def definition_hash(tool: ToolDefinition) -> str:
    """Return a hash of all that a tool's definition says."""
    said = [tool.server, tool.name, tool.title, tool.description, tool.input_schema, tool.output_schema]
    data = encode([*said, tool.annotations], option=orjson.OPT_SORT_KEYS, default=str)
    return hashlib.sha256(data).hexdigest()


def _outcome_of(error: Exception) -> str:
    match error:
        case PolicyError():
            return "refused"
        case UnknownToolError():
            return "unknown_tool"
        case ToolTimeoutError():
            return "timeout"
        case NaruError():
            return error.code
    return "failed"
