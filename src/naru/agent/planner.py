"""How the rounds of a run are put to a model: the seam, and the ordinary way for models that manage by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from naru.agent.context import LEFT_OUT, trimmed
from naru.agent.execute import Outcome
from naru.agent.prompts import LAST_TURN, UNKNOWN_TOOL
from naru.agent.turns import looks_like_call
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition
from naru.tools.paging import READ, PagedToolset

MISNAMED = 2
"""How often a model is told that its call names no offered tool."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a planner says of a call before it runs: run this (perhaps mended) call, or why not."""

    call: ToolCall
    refusal: str = ""


class Planner(Protocol):
    """Decides what a model is shown in each round. Holds the run's conversation; does no I/O but the encoder's."""

    @property
    def streams_early(self) -> bool:
        """Tell whether text may reach the client before the turn is over."""
        ...

    @property
    def has_results(self) -> bool:
        """Tell whether any call gave something to answer from."""
        ...

    @property
    def has_words(self) -> bool:
        """Tell whether the model has said something that can stand as the answer."""
        ...

    def next_request(self) -> ChatRequest | None:
        """Return what to ask now, with the tools to offer; None when the search is over."""
        ...

    def judge(self, call: ToolCall) -> Verdict:
        """Accept, mend or refuse a call that the model made in this turn."""
        ...

    async def record(self, said: Message, outcomes: Sequence[Outcome]) -> None:
        """Take in the model's turn (its words, its thoughts) and what came of its calls."""
        ...

    def accept_answer(self, text: str) -> bool:
        """Tell whether a round's text without calls is the answer."""
        ...

    async def asks_again(self) -> bool:
        """Tell whether to ask once more for a call, when the model wrote words instead."""
        ...

    def insist(self, text: str, missing: str) -> None:
        """Take in that the model wanted to end with this text, and tell it what is missing (D6)."""
        ...

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Return the last turn, without tools; None when there is nothing better to try."""
        ...

    def judge_answer(self, text: str) -> str:
        """Return the answer to give, or an empty string to ask once more."""
        ...

    def fallback_answer(self) -> str:
        """Return what to say when no turn gave an answer; never empty (R10)."""
        ...


class OrdinaryPlanner:
    """One growing conversation: the whole of it is sent each round (R5)."""

    def __init__(
        self,
        request: ChatRequest,
        tools: Sequence[ToolDefinition],
        *,
        note: str = "",
        context_tokens: int = 0,
        pages: PagedToolset | None = None,
    ) -> None:
        self._offered = (*request.tools, *tools)
        self._pages = pages
        self._context_tokens = context_tokens
        self._request = request
        said = (Message("system", note),) if note else ()
        self._messages: list[Message] = [*said, *request.messages]
        self._outcomes: list[Outcome] = []
        self._misnamed: list[str] = []

    streams_early = True

    @property
    def _tools(self) -> tuple[ToolDefinition, ...]:
        """All tools, and the one that reads on in results as soon as one is shown in part."""
        return (*self._offered, READ) if self._pages is not None and self._pages.is_needed else self._offered

    @property
    def has_results(self) -> bool:
        """Tell whether any call ran."""
        return any(one.ran for one in self._outcomes)

    has_words = False

    def next_request(self) -> ChatRequest | None:
        """Ask with the whole conversation and all tools."""
        messages = trimmed(self._messages, self._context_tokens, self._tools)
        notes = (LEFT_OUT.format(tokens=self._context_tokens),) if len(messages) < len(self._messages) else ()
        choice = self._request.tool_choice
        if self.has_results and choice is not None:
            choice = "auto"  # A call that had to be made has been: who must call again can never answer.
        return replace(self._request, messages=messages, tools=self._tools, tool_choice=choice, notes=notes)

    def judge(self, call: ToolCall) -> Verdict:
        """Let every call through: the tool's own schema judges it."""
        return Verdict(call)

    async def record(self, said: Message, outcomes: Sequence[Outcome]) -> None:
        """Append the turn with its calls, and their results as a pair (lesson 25)."""
        self._outcomes.extend(outcomes)
        self._messages.append(replace(said, tool_calls=tuple(one.call for one in outcomes)))
        self._messages.extend(
            Message("tool", one.content, tool_call_id=one.call.id, name=one.call.name) for one in outcomes
        )

    def accept_answer(self, text: str) -> bool:
        """Take any text as the answer, unless it is a call, which names no tool that is offered."""
        if self._tools and looks_like_call(text):
            self._misnamed.append(text)
            return False
        return bool(text.strip())

    async def asks_again(self) -> bool:
        """Say which tools there are, when a call named none of them; twice at most."""
        if not self._misnamed or len(self._misnamed) > MISNAMED:
            return False
        offered = ", ".join(tool.name for tool in self._tools)
        self._messages += [
            Message("assistant", self._misnamed[-1]),
            Message("user", UNKNOWN_TOOL.format(tools=offered)),
        ]
        return True

    def insist(self, text: str, missing: str) -> None:
        """Append the model's words and what is missing."""
        self._messages += [Message("assistant", text), Message("user", missing)]

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Ask once more, without tools, to answer from what is there (R10)."""
        if attempt > 1:
            return None
        messages = [*self._messages, Message("user", LAST_TURN)] if self._outcomes else self._messages
        return replace(self._request, messages=trimmed(messages, self._context_tokens), tools=())

    def judge_answer(self, text: str) -> str:
        """Take what was said, unless it is a call: its text is never an answer."""
        return "" if looks_like_call(text) else text.strip()

    def fallback_answer(self) -> str:
        """Give the last results themselves."""
        ran = [one for one in self._outcomes if one.ran]
        found = [one.shown for one in ran if not one.failed] or [one.shown for one in ran]
        return found[-1] if found else "The model gave no answer."
