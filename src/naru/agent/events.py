"""What an agent run tells its faces, in order; the faces only render it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from naru.messages import Extra, Message, Refusal, ToolCall, ToolResult, Usage

EndReason = Literal[
    "answered",
    "max_iterations",
    "max_calls",
    "wall_time",
    "token_budget",
    "repeated_call",
    "no_progress",
    "client_calls",
    "no_tools",
    "model_failed",
    "cut_off",
]
"""Why the loop ended (R10): `answered` is the ordinary end, `client_calls` hands the client's own tools to it.

`cut_off`: the limit on a reply's length came before its call was complete.
"""
Writer = Literal["model", "grammar"]
"""Who wrote a call: the model freely, or the model under a grammar that left it valid calls alone. Nobody else may."""
_WRITTEN: dict[str, str] = {"model": "written by the model", "grammar": "written by the model, held to valid calls"}


def written_by(writer: str, mended: bool) -> str:
    """Say for people who wrote a call, and whether it was put right; empty for runs kept before this was noted."""
    return _WRITTEN.get(writer, "") + (", mended" if mended else "")


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A model call begins; `final` is the last turn, without tools."""

    round: int
    final: bool = False
    offered: tuple[str, ...] = ()
    """Names of the tools that the model is shown in this round."""


@dataclass(frozen=True, slots=True)
class ModelText:
    """What the model wrote in a round, as it came (calls included); not yet an answer."""

    round: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """What the model thought."""

    round: int
    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """A model call ended: what it wrote in all, markers included, and how long it took."""

    round: int
    raw: str
    """The text as it came over the wire; calls that the endpoint itself gave are not in it."""
    calls: tuple[ToolCall, ...]
    seconds: float
    first_seconds: float
    """Time to the first event."""
    finish: str = ""
    said: Message | None = None
    """The turn as its endpoint wants it back: words, thoughts, what it sent beside them; without the calls."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """What a model was asked in a round, for traces."""

    round: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool is about to run."""

    round: int
    call: ToolCall
    writer: Writer = "model"
    mended: bool = False
    """Its name or arguments were put right before it ran: the round's ModelAnswered holds what was written."""


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A tool call ended, well or not; `ran` is False when it was refused before it reached the tool."""

    round: int
    call: ToolCall
    result: ToolResult
    seconds: float
    ran: bool = True
    writer: Writer = "model"
    mended: bool = False


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The next characters of the answer.

    A call may still follow in the same round: then these were words before it, and the answer comes in a later one.
    """

    text: str
    round: int = 0


@dataclass(frozen=True, slots=True)
class AnswerBeside:
    """What stands beside the answer's text: `logprobs`, annotations, a refusal; after all of its text."""

    event: Extra | Refusal


@dataclass(frozen=True, slots=True)
class ClientCalls:
    """Calls of the client's own tools, to be handed to the client (V8)."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    reason: EndReason
    answer: str
    rounds: int
    usage: Usage
    calls: tuple[str, ...] = ()
    """Names of the tools that ran, in order."""
    note: str = ""
    """What a person should know about the end: which limit, which failure, what was left out on the way."""
    finish: str = "stop"
    """OpenAI's word for how the answer itself ended: stop, length, content_filter, tool_calls."""


AgentEvent = (
    RoundStarted
    | Prompted
    | ModelText
    | ReasoningText
    | ModelAnswered
    | CallStarted
    | CallFinished
    | AnswerText
    | AnswerBeside
    | ClientCalls
    | RunFinished
)
