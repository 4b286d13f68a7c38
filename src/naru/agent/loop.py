"""The agent loop: a plain async generator of events, between one model and one toolset (R5, R6, R9, R10).

Only calls that the model made in this turn run: never those in the client's history or in a tool's text (S-43).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from naru.agent.context import tokens_of, tools_tokens
from naru.agent.events import (
    AgentEvent,
    AnswerText,
    CallFinished,
    CallStarted,
    ClientCalls,
    EndReason,
    ModelAnswered,
    ModelText,
    Prompted,
    ReasoningText,
    RoundStarted,
    RunFinished,
)
from naru.agent.execute import Executor, Outcome, refused
from naru.agent.hooks import INSISTED, Choose, Hooks, Missing
from naru.agent.limits import Budget, Limits
from naru.agent.paging import READ, PagedToolset
from naru.agent.planner import OrdinaryPlanner, Planner
from naru.agent.prompts import NO_TOOLS_NOTE, UNAVAILABLE
from naru.agent.selection import most_relevant
from naru.agent.small import SmallPlanner
from naru.agent.trace import recorded
from naru.agent.traced import traced
from naru.errors import ModelError
from naru.messages import (
    CallEnd,
    CallStart,
    ChatRequest,
    Finish,
    RawText,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.backend import Backend, for_model
from naru.models.profile import Profile
from naru.telemetry.tracing import active
from naru.tools.combined import CombinedToolset
from naru.tools.toolset import CallContext, Toolset

HELD_CHARACTERS = 200
"""Text of a round with tools that is held back, since a call may still follow it."""


@dataclass(slots=True)
class _Turn:
    """What one model call gave."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    names: dict[int, tuple[str, str]] = field(default_factory=dict)
    finish: str = ""
    streamed: int = 0


async def run(
    backend: Backend,
    toolset: Toolset | None,
    request: ChatRequest,
    *,
    limits: Limits | None = None,
    context: CallContext | None = None,
    hooks: Hooks | None = None,
) -> AsyncGenerator[AgentEvent, None]:
    """Carry a conversation to its answer: ask, call tools, ask again, up to the limits.

    `toolset` None means that no tools are wanted. `request.tools` are the client's own: a call of one ends the run
    with ClientCalls (V8). The last event is always RunFinished, with an answer that is never empty unless the
    client's tools were called. Closing the generator cancels what runs.
    """
    backend = for_model(backend, request.model)
    limits, context, hooks = limits or Limits(), context or CallContext(), hooks or Hooks()
    for before_model in hooks.before_model:
        request = await before_model(request)
    profile = backend.profile
    # One result may fill half of the context at most, or the next turn has no room (e07).
    room = max(1000, profile.context_tokens * 3 // 2)
    budget = Budget(replace(limits, max_result_characters=min(limits.max_result_characters, room)))
    wanted = toolset is not None
    toolset = toolset or CombinedToolset({})
    tools = await _offered(await toolset.tools(), request, limits, profile, hooks.choose)
    problems = tuple(toolset.problems()) if isinstance(toolset, ToolsetWithProblems) else ()
    if limits.page_characters and tools and not profile.small:  # Small planners read results themselves.
        toolset, tools = PagedToolset(toolset, limits.page_characters), [*tools, READ]
    planner = _planner_for(backend, request, tools, _note(problems, missing=wanted and not tools and not request.tools))
    work = _Run(backend, Executor(toolset, budget, context), planner, budget)
    work.client_tools = frozenset(tool.name for tool in request.tools)
    work.note = "; ".join(problems)
    work.missing = hooks.missing
    happening = work.events(bool(tools))
    if hooks.journal is not None:
        happening = recorded(happening, request, [*request.tools, *tools], hooks.journal, context.caller)
    if (tracing := active()) is not None:
        happening = traced(happening, tracing, request.model)
    async with aclosing(happening) as events:
        async for event in events:
            yield event


async def _offered(
    tools: Sequence[ToolDefinition], request: ChatRequest, limits: Limits, profile: Profile, choose: Choose | None
) -> Sequence[ToolDefinition]:
    """Return what may be offered: the most relevant ones, where setting or probe set a limit (H13)."""
    if profile.small:
        return tools  # Its planner shows few of all in each round, other ones in the next.
    most = min(filter(None, (limits.max_tools, profile.tool_budget)), default=0)
    question = next((turn.text for turn in reversed(request.messages) if turn.role == "user"), "")
    return most_relevant(tools, question, most) if choose is None else await choose(tools, question, most)


@runtime_checkable
class ToolsetWithProblems(Protocol):
    """A toolset that knows which of its sources cannot be used now, and why (e19)."""

    def problems(self) -> Sequence[str]:
        """Return a line for each source that should offer tools and does not."""
        ...


def _planner_for(backend: Backend, request: ChatRequest, tools: Sequence[ToolDefinition], note: str) -> Planner:
    if backend.profile.small and tools and not request.tools:
        return SmallPlanner(request, tools, note=note, makes_sure_calls=backend.profile.evident_calls)
    return OrdinaryPlanner(request, tools, note=note, context_tokens=backend.profile.context_tokens)


def _note(problems: Sequence[str], *, missing: bool) -> str:
    """Return what the model is told about tools that it should have and has not (lesson 24)."""
    if problems:
        return f"{UNAVAILABLE} {'; '.join(problems)}."
    return NO_TOOLS_NOTE if missing else ""


class _Run:
    """One run in progress."""

    def __init__(self, backend: Backend, executor: Executor, planner: Planner, budget: Budget) -> None:
        self._backend = backend
        self._executor = executor
        self._planner = planner
        self._budget = budget
        self._usage = Usage()
        self.note = ""
        self._ran: list[str] = []
        self._ids: set[str] = set()
        self._fruitless = 0
        self.client_tools: frozenset[str] = frozenset()
        self.missing: Missing | None = None
        self._outcomes: list[Outcome] = []
        self._insisted = 0
        self._all_repeated = False
        self._reason: EndReason | None = None

    async def events(self, has_tools: bool) -> AsyncGenerator[AgentEvent, None]:
        while (request := self._next_request()) is not None:
            turn = _Turn()
            async for event in self._turn(request, turn):
                yield event
            if self._reason:
                break
            if not turn.calls and self._insists(turn):
                continue
            if not turn.calls and self._planner.accept_answer(turn.text):
                yield AnswerText(turn.text[turn.streamed :])
                yield self._finished("answered" if has_tools or self.client_tools else "no_tools", turn.text.strip())
                return
            if not turn.calls and not self._take_evident(turn):
                if self._planner.asks_again():
                    continue
                break
            handed = self._for_the_client(turn)
            if handed:
                yield ClientCalls(handed)
                yield self._finished("client_calls", turn.text)
                return
            async for event in self._act(turn):
                yield event
            self._reason = self._stuck()
        async for event in self._conclude(self._reason or "answered"):
            yield event

    async def _turn(self, request: ChatRequest, turn: _Turn) -> AsyncGenerator[AgentEvent, None]:
        """Take the call that leaves no doubt, else ask the model."""
        sure = self._planner.sure_call()
        if sure is not None:
            turn.calls.append(sure)
            return
        self._budget.rounds += 1
        yield RoundStarted(self._budget.rounds, offered=tuple(tool.name for tool in request.tools))
        try:
            async for event in self._ask(request, turn, hold=HELD_CHARACTERS if request.tools else 0):
                yield event
        except ModelError as error:
            if not self._planner.has_results:
                raise
            self.note, self._reason = str(error), "model_failed"

    def _next_request(self) -> ChatRequest | None:
        """Return what to ask next; None when a limit is reached or the search is over."""
        self._reason = self._reason or self._budget.reached()
        return None if self._reason else self._planner.next_request()

    def _insists(self, turn: _Turn) -> bool:
        """Tell the model what the run must still produce (D6); after some tries the run ends and says so."""
        missing = self.missing(self._outcomes) if self.missing else ""
        if not missing:
            return False
        if self._insisted == INSISTED:
            self.note = "; ".join(filter(None, (self.note, f"Ended without the required result: {missing}")))
            return False
        self._insisted += 1
        self._planner.insist(turn.text, missing)
        return True

    def _take_evident(self, turn: _Turn) -> bool:
        call = self._planner.evident_call()
        if call is not None:
            turn.calls.append(call)
        return call is not None

    def _for_the_client(self, turn: _Turn) -> tuple[ToolCall, ...]:
        """Return the client's calls when nothing else is to be run first (V8)."""
        handed = tuple(call for call in turn.calls if call.name in self.client_tools)
        return handed if len(handed) == len(turn.calls) else ()

    async def _ask(self, request: ChatRequest, turn: _Turn, *, hold: int) -> AsyncGenerator[AgentEvent, None]:
        """Ask the model once and pass on what it writes; text beyond `hold` characters is answer already."""
        deadline = min(self._budget.limits.model_timeout_seconds, max(self._budget.seconds_left, 15.0))
        number = self._budget.rounds
        yield Prompted(number, tuple(request.messages))
        started = first = time.monotonic()
        raw, before = "", self._usage
        try:
            async with (
                asyncio.timeout(deadline),
                aclosing(self._backend.stream(replace(request, keep_raw=True))) as events,
            ):
                async for event in events:
                    first = first if first > started else time.monotonic()
                    match event:
                        case Text(text=text):
                            turn.text += text
                            yield ModelText(number, text)
                            if not turn.names and self._streams(turn.text, hold):
                                yield AnswerText(turn.text[turn.streamed :])
                                turn.streamed = len(turn.text)
                        case Reasoning(text=text):
                            yield ReasoningText(number, text)
                        case CallStart(index=index, id=call_id, name=name):
                            turn.names[index] = (self._own_id(call_id), name)
                        case CallEnd(index=index, arguments=arguments):
                            call_id, name = turn.names[index]
                            turn.calls.append(ToolCall(call_id, name, arguments))
                        case Usage() as usage:
                            self._count(usage)
                        case RawText(text=raw):
                            pass
                        case Finish(reason=finish):
                            turn.finish = finish
        except TimeoutError:
            raise ModelError(
                f"The model did not finish within {deadline:.0f} s.",
                remedy="Raise agent.model_timeout_seconds or use a smaller model.",
                retryable=True,
            ) from None
        if self._usage == before:  # The endpoint counts nothing: the budget must hold all the same.
            asked = sum(tokens_of(turn_asked.text) for turn_asked in request.messages) + tools_tokens(request.tools)
            self._budget.tokens += asked + tokens_of(raw or turn.text)
        ended = time.monotonic()
        yield ModelAnswered(number, raw or turn.text, tuple(turn.calls), ended - started, first - started, turn.finish)

    def _own_id(self, call_id: str) -> str:
        """Return an id that no other call of this run has: some endpoints give none, or count anew in each turn."""
        own = call_id if call_id and call_id not in self._ids else f"call_{secrets.token_urlsafe(12)}"
        self._ids.add(own)
        return own

    def _streams(self, text: str, hold: int) -> bool:
        """Tell whether text may go to the client now: not while it may still turn out to be a call."""
        return self._planner.streams_early and len(text) > hold and text.lstrip()[:1] not in ("", "{", "[", "<", "`")

    def _count(self, usage: Usage) -> None:
        self._usage = Usage(
            self._usage.prompt_tokens + usage.prompt_tokens,
            self._usage.completion_tokens + usage.completion_tokens,
        )
        self._budget.tokens += usage.prompt_tokens + usage.completion_tokens

    async def _act(self, turn: _Turn) -> AsyncGenerator[AgentEvent, None]:
        """Judge the turn's calls, run those that may, and tell the planner what came of them."""
        number = self._budget.rounds
        outcomes: dict[str, Outcome] = {}
        to_run: list[ToolCall] = []
        for call in turn.calls:
            verdict = self._planner.judge(call)
            if call.name in self.client_tools:
                outcomes[call.id] = refused(call, "Make this call again, now that the other results are there.")
            elif verdict.refusal:
                outcomes[call.id] = refused(verdict.call, verdict.refusal)
            else:
                to_run.append(verdict.call)
                yield CallStarted(number, verdict.call)
        for outcome in await self._executor.run(to_run):
            outcomes[outcome.call.id] = outcome
        ordered = [outcomes[call.id] for call in turn.calls]
        self._ran += [outcome.call.name for outcome in ordered if outcome.ran]
        for outcome in ordered:
            yield CallFinished(number, outcome.call, outcome.result, outcome.seconds, outcome.ran)
        self._outcomes += ordered
        self._planner.record(turn.text, ordered)
        self._fruitless = 0 if any(one.ran and not one.failed for one in ordered) else self._fruitless + 1
        self._all_repeated = bool(to_run) and all(not one.ran for one in ordered)

    def _stuck(self) -> EndReason | None:
        """Say whether going on would change nothing."""
        if self._all_repeated:
            return "repeated_call"
        if self._fruitless >= self._budget.limits.fruitless_rounds:
            return "no_progress"
        return None

    async def _conclude(self, reason: EndReason) -> AsyncGenerator[AgentEvent, None]:
        """Take the last turn, without tools; the answer is never empty (R10)."""
        attempt, ready = 0, self._planner.ready_answer()
        if ready:
            yield AnswerText(ready)
            yield self._finished(reason, ready)
            return
        while reason != "model_failed":
            attempt += 1
            request = self._planner.last_request(attempt)
            if request is None:
                break
            turn = _Turn()
            self._budget.rounds += 1
            yield RoundStarted(self._budget.rounds, final=True)
            try:
                async for event in self._ask(replace(request, tools=()), turn, hold=0):
                    yield event
            except ModelError as error:
                if not self._planner.has_results:
                    raise
                self.note, reason = str(error), "model_failed"
                break
            answer = self._planner.judge_answer(turn.text)
            if answer:
                yield AnswerText(turn.text[turn.streamed :] if turn.streamed else answer)
                yield self._finished(reason, answer)
                return
        answer = self._planner.fallback_answer()
        yield AnswerText(answer)
        yield self._finished(reason, answer)

    def _finished(self, reason: EndReason, answer: str) -> RunFinished:
        return RunFinished(reason, answer, self._budget.rounds, self._usage, tuple(self._ran), self.note)
