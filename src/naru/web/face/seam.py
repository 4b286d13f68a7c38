"""The seam: a face reads its API's request into an `Asked`, and writes the events of one answer in its API's form.

Everything else (profiles, aliases, `+tools`, `mcp_servers`, Plan B, the loop, limits, runs) stands before or behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from naru.agent.events import CallFinished, CallStarted, RunFinished
from naru.connections.guests import Guest
from naru.errors import NaruError
from naru.facts import fact
from naru.messages import ChatEvent, ChatRequest, JsonObject, ToolCall, ToolDefinition
from naru.models.limits.queue import Place
from naru.tools.names import SEPARATOR

KEEP_ALIVE = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class HubTools:
    """The tools of the hub that the model may call in this run."""

    tools: Sequence[ToolDefinition]


@dataclass(frozen=True, slots=True)
class ToolNote:
    """What a server says of a call that it works on."""

    message: str
    progress: float = 0.0
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run as plain data, for clients that can show it in a field of its own (`steps`)."""

    fields: JsonObject


FaceEvent = ChatEvent | HubTools | CallStarted | CallFinished | ToolNote | Step | RunFinished
"""What an answer is made of: the model's events, and between them what ran here; RunFinished ends a run's answer.

A face may show calls, results and notes in its API's form; a profile's `steps` adds thoughts, text or a Step for them.
"""
HUB_EVENTS = (HubTools, CallStarted, CallFinished, ToolNote, Step, RunFinished)
FaceTake = Callable[[Sequence[FaceEvent]], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Pick:
    """Which tools of one server a request wants, by the server's own names or by those they are offered under."""

    only: frozenset[str] | None = None
    """None is all of them."""
    never: frozenset[str] = frozenset()
    reads_only: bool = False
    """Those alone that say of themselves that they change nothing."""
    servers: frozenset[str] = frozenset()
    """Of these it is all of them besides those of `only`."""

    def takes(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool is wanted."""
        if self.reads_only and tool.annotations.get("readOnlyHint") is not True:
            return False
        names = {tool.name, tool.name.removeprefix(f"{tool.server}{SEPARATOR}")}
        is_wanted = self.only is None or bool(names & self.only) or tool.server in self.servers
        return is_wanted and not names & self.never


class HubNames:
    """Whose tool an offered name is, and what its server calls it."""

    def __init__(self, tools: Sequence[ToolDefinition] = ()) -> None:
        self._servers = {tool.name: tool.server for tool in tools}

    def split(self, name: str) -> tuple[str, str]:
        """Return the server, and the tool's own name; a name that had to be respelled stays as it is."""
        server = self._servers.get(name, "")
        return server, name.removeprefix(f"{server}{SEPARATOR}") if server else name


@fact(kw_only=True)
class Asked:
    """What one request asks; a face's own class adds what its client wants to be told."""

    request: ChatRequest
    stream: bool = False
    servers: tuple[str, ...] | None = None
    """Servers whose tools Naru shall run; empty means all of them, None none."""
    picks: Mapping[str, Pick] = field(default_factory=dict)
    """Which of those servers' tools, where not all of them are wanted."""
    allowed: Pick | None = None
    """Which of all that is offered `allowed_tools` lets be called; None is all."""
    guests: tuple[Guest, ...] = ()
    """Those that the request names by URL; of a label that a server of the hub has, the hub's is meant."""
    asks: Mapping[str, Pick] = field(default_factory=dict)
    """Those of their tools, by server, whose calls the client's person approves first: they are handed to it."""
    approved: tuple[ToolCall, ...] = ()
    """Calls that it has approved since: they run before the model is asked."""
    model_shown: str = ""
    """The model's name as the client wrote it."""
    answer: tuple[ChatEvent, ...] = ()
    """What is said without the model, where nothing is asked of it."""
    most_calls: int | None = None
    """Of the hub's tools, in this run; None leaves it to the settings."""
    single_call: bool = False
    """At most one call in a turn was asked for; a second one the model writes waits for the next turn."""

    def asks_for(self, tool: ToolDefinition) -> bool:
        """Tell whether a person approves a tool's calls first."""
        pick = self.asks.get(tool.server)
        return pick is not None and pick.takes(tool)


AskedT = TypeVar("AskedT", bound=Asked)


class Form(Protocol):
    """How an API frames streams and says errors; the defaults are those of Server-Sent Events."""

    stream_type: bytes = b"text/event-stream; charset=utf-8"
    quiet: bytes = KEEP_ALIVE
    """Sent while a stream says nothing."""

    def waiting(self, place: Place) -> bytes:
        """Say where the request stands in its model's queue (N8)."""
        return b": waiting for the model, %d before you, about %.0f s\n\n" % (place.position, place.eta_seconds)

    def refused(self, error: NaruError) -> bytes:
        """Return the JSON body of an error that happened before the first byte."""
        ...

    def failed(self, error: NaruError) -> bytes:
        """Return the end of a stream that breaks off before its writer had begun."""
        ...


class StreamWriter(Protocol):
    """Writes one streamed answer: every method returns the bytes to send."""

    def start(self) -> bytes:
        """Begin; sent with the first bytes that follow."""
        ...

    def feed(self, event: FaceEvent) -> bytes:
        """Write one event."""
        ...

    def end(self) -> bytes:
        """Write the end; nothing follows."""
        ...

    def fail(self, error: NaruError) -> bytes:
        """Write the end of an answer that broke off."""
        ...


class WholeWriter(Protocol):
    """Collects one answer."""

    def feed(self, event: FaceEvent) -> object:
        """Take one event; what this returns is not sent."""
        ...

    def body(self) -> bytes:
        """Return the JSON body."""
        ...


class Keeping(Protocol):
    """A writer, of either kind, whose answer can be asked for again."""

    async def keep(self) -> None:
        """Keep the answer; called at its end, before the client is told that."""
        ...


class Face(Form, Protocol[AskedT]):
    """One API before the models. A subclass reads and writes; `FaceEndpoint` does the rest."""

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> AskedT:
        """Read a decoded request.

        Raises:
            NaruError: it cannot be taken; the message names the place.
        """
        ...

    def stream(self, asked: AskedT) -> StreamWriter:
        """Return the writer of a streamed answer."""
        ...

    def whole(self, asked: AskedT) -> WholeWriter:
        """Return the writer of a whole answer."""
        ...
