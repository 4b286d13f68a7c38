"""The agent loop: a plain async generator of events, between one model and one toolset (R5, R6, R9, R10).

Only calls that the model made in this turn run: never those in the client's history or in a tool's text (S-43).
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol, runtime_checkable

from naru.agent.choice import chosen, ranked_for
from naru.agent.context import tokens_of, tools_tokens
from naru.agent.events import (
    AgentEvent,
    AnswerBeside,
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
    Writer,
)
from naru.agent.execute import Executor, Outcome, refused, unreadable
from naru.agent.hooks import INSISTED, Hooks, Missing
from naru.agent.limits import Budget, Limits
from naru.agent.options import asked_for
from naru.agent.planner import OrdinaryPlanner, Planner
from naru.agent.prompts import CUT_OFF, MODEL_FAILED, NOT_SHOWN, cut, tools_note
from naru.agent.small.planner import SmallPlanner
from naru.agent.trace import recorded, traced
from naru.agent.turns import Turn, looks_like_call
from naru.deadlines import bound
from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest, Reasoning, Refusal, Text, ToolCall, Usage
from naru.models.asking.media import holds_media
from naru.models.asking.strategy import is_guided, within_asked
from naru.models.backend import Backend, for_model, inform
from naru.models.limits.queue import Caller, current_caller
from naru.telemetry.tracing import active
from naru.tools.combined import CombinedToolset
from naru.tools.names import own_name
from naru.tools.paging import PagedToolset
from naru.tools.toolset import CallContext, Toolset

logger = logging.getLogger(__name__)
WIDER_TOKENS = 4096  # Room for a reply whose call the endpoint's own limit has cut off.


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
    limits, context, hooks, asked = limits or Limits(), context or CallContext(), hooks or Hooks(), request
    for before_model in hooks.before_model:
        request = await before_model(request)
    await inform(backend, request.model)
    profile = within_asked(backend.profile, request)
    # Results may fill half of the context at most, or the next turn has no room (e07).
    room = max(1000, profile.context_tokens * 3 // 2) if profile.context_tokens else limits.max_result_characters
    budget = Budget(replace(limits, max_result_characters=min(limits.max_result_characters, room)))
    wanted = toolset is not None
    toolset = toolset or CombinedToolset({})
    tools = await toolset.tools()
    # A small model's planner asks in text alone: what else a client sent is passed on, or refused.
    helped = profile.small and not request.tools and not holds_media(request.messages)
    # A small model's planner shows few of all in each round, other ones in the next.
    ranked = await ranked_for(tools, request, hooks.rank) if helped else ()
    ranked = await hooks.weigh(backend, request, ranked) if ranked and hooks.weigh else ranked
    ranked = await asked_for(ranked, request, hooks.near)
    request = hooks.recall.told(request, context.caller, tools) if helped and hooks.recall else request
    tools = tools if helped else await chosen(tools, request, profile, limits.max_tools, hooks.rank)
    problems = tuple(toolset.problems()) if isinstance(toolset, ToolsetWithProblems) else ()
    # Small planners read results themselves.
    pages = PagedToolset(toolset, limits.page_characters) if tools and not helped else None
    note = tools_note(problems, missing=wanted and not tools and not request.tools)
    planner: Planner = (
        SmallPlanner(request, ranked, note=note, context_tokens=profile.context_tokens, near=hooks.near)
        if helped and tools
        else OrdinaryPlanner(request, tools, note=note, context_tokens=profile.context_tokens, pages=pages)
    )
    executor = Executor(pages or toolset, budget, context, pages.cut if pages else cut)
    work = _Run(backend, executor, planner, budget)
    work.client_tools = frozenset(tool.name for tool in request.tools)
    work.note = "; ".join((*request.notes, *problems))
    work.missing = hooks.missing
    happening = work.events(bool(tools))
    if helped and hooks.recall is not None:
        happening = hooks.recall.noting(happening, asked, context.caller)
    if hooks.journal is not None:
        happening = recorded(happening, request, [*request.tools, *tools], hooks.journal, context.caller)
    if (tracing := active()) is not None:
        happening = traced(happening, tracing, request.model)
    async with aclosing(happening) as events:
        async for event in events:
            yield event


@runtime_checkable
class ToolsetWithProblems(Protocol):
    """A toolset that knows which of its sources cannot be used now, and why (e19)."""

    def problems(self) -> Sequence[str]:
        """Return a line for each source that should offer tools and does not."""
        ...


def _is_mended(written: ToolCall, made: ToolCall) -> bool:
    """Tell whether a call was put right; a server's prefix that the model was not shown does not count."""
    names = [own_name(one.name) for one in (written, made)]
    return names[0] != names[1] or written.arguments != made.arguments


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
        self._notes: dict[str, None] = {}
        self._wider: int | None = None
        self._has_said = False
        """The client has words of an earlier round, which a call followed."""
        self._last_thought = ""

    async def events(self, has_tools: bool) -> AsyncGenerator[AgentEvent, None]:
        while (request := self._next_request()) is not None:
            turn = Turn()
            async for event in self._turn(request, turn):
                yield event
            if self._reason:
                break
            self._last_thought = turn.reasoning if not turn.text.strip() else ""
            if (turn.was_cut_in_a_call and self._widen(request, turn)) or self._insists(turn):
                continue
            if (ending := self._ending(turn, has_tools=has_tools)) is not None:
                for event in ending:
                    yield event
                return
            if turn.is_words:
                if await self._planner.asks_again():
                    continue
                break
            writer: Writer = "grammar" if is_guided(request, self._backend.profile) else "model"
            async for event in self._act(turn, writer):
                yield event
            self._reason = self._stuck()
        async for event in self._conclude(self._reason or "answered"):
            yield event

    def _ending(self, turn: Turn, *, has_tools: bool) -> Iterator[AgentEvent] | None:
        """Return how the run ends with this turn; None when it goes on."""
        if turn.was_cut_in_a_call:
            return self._cut_off(turn)
        if turn.is_words and (self._planner.accept_answer(turn.text) or turn.refusal):
            return self._answer(turn, "answered" if has_tools or self.client_tools else "no_tools", turn.text.strip())
        # The client's own calls are handed over when nothing else is to be run first (V8).
        if turn.calls and not turn.broken and all(call.name in self.client_tools for call in turn.calls):
            finish = "length" if turn.finish == "length" else "tool_calls"
            return iter((ClientCalls(tuple(turn.calls)), self._finished("client_calls", turn.text, finish)))
        return None

    async def _turn(self, request: ChatRequest, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        """Ask the model; its failure ends the search when there is something to end with."""
        self._budget.rounds += 1
        yield RoundStarted(self._budget.rounds, offered=tuple(tool.name for tool in request.tools))
        try:
            async for event in self._ask(request, turn):
                yield event
        except ModelError as error:
            if not self._may_end_without_model:
                raise
            self.note, self._reason = str(error), "model_failed"

    def _next_request(self) -> ChatRequest | None:
        """Return what to ask next; None when a limit is reached or the search is over."""
        self._reason = self._reason or self._budget.reached()
        return None if self._reason else self._planner.next_request()

    def _insists(self, turn: Turn) -> bool:
        """Tell the model what the run must still produce (D6); after some tries the run ends and says so."""
        missing = self.missing(self._outcomes) if self.missing and turn.is_words else ""
        if not missing:
            return False
        if self._insisted == INSISTED:
            self.note = "; ".join(filter(None, (self.note, f"Ended without the required result: {missing}")))
            return False
        self._insisted += 1
        self._planner.insist(turn.text, missing)
        return True

    async def _ask(self, request: ChatRequest, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        """Ask the model once and pass on what it writes, as soon as it cannot be a call."""
        deadline = min(self._budget.limits.model_timeout_seconds, max(self._budget.seconds_left, 15.0))
        number = self._budget.rounds
        self._notes |= dict.fromkeys(request.notes)
        yield Prompted(number, tuple(request.messages))
        started = first = time.monotonic()
        asker = current_caller.get()  # the queue gives up before we do, since it knows why
        current_caller.set(replace(asker or Caller(), wait_seconds=deadline * 0.95))
        asked = replace(request, keep_raw=True, notes=(), max_tokens=self._wider or request.max_tokens)
        try:
            with bound(deadline) as limit:
                async with aclosing(self._backend.stream(asked)) as events:
                    async for event in events:
                        first = first if first > started else time.monotonic()
                        turn.take(event, self._ids)
                        for told in self._told(event, turn):
                            with limit.paused():  # how long the client takes is no time of the model's
                                yield told
        except TimeoutError:
            raise ModelError(
                f"The model did not finish within {deadline:.0f} s.",
                remedy="Raise agent.model_timeout_seconds or use a smaller model.",
                retryable=True,
            ) from None
        finally:
            current_caller.set(asker)
        turn.close()
        self._count(turn, request)
        self._notes |= dict.fromkeys(turn.notices)
        ended = time.monotonic()
        raw = turn.raw or turn.text
        yield ModelAnswered(number, raw, tuple(turn.calls), ended - started, first - started, turn.finish, turn.said)

    def _told(self, event: ChatEvent, turn: Turn) -> Iterator[AgentEvent]:
        """Give what an event of the model says to whoever follows the run."""
        match event:
            case Text(text=text):
                yield ModelText(self._budget.rounds, text)
                # Not while it may still turn out to be a call.
                may_go = turn.begins not in ("", "{", "[", "<", "`")
                if may_go and self._planner.streams_early and not turn.names:
                    yield self._next_text(turn)
            case Reasoning(text=text):
                yield ReasoningText(self._budget.rounds, text)

    def _next_text(self, turn: Turn) -> AnswerText:
        """Give what the client has not got of a turn's text, apart from what earlier rounds said before their calls."""
        apart = "\n\n" if self._has_said and not turn.streamed else ""
        rest = turn.next_piece()
        return AnswerText(apart + rest if rest else "", self._budget.rounds)

    def _count(self, turn: Turn, request: ChatRequest) -> None:
        if turn.usage is not None:
            self._usage += turn.usage
            self._budget.tokens += turn.usage.prompt_tokens + turn.usage.completion_tokens
        if not turn.usage or not turn.usage.prompt_tokens + turn.usage.completion_tokens:
            # The endpoint counts nothing: the budget must hold all the same.
            asked = sum(tokens_of(turn_asked.text) for turn_asked in request.messages) + tools_tokens(request.tools)
            self._budget.tokens += asked + tokens_of(turn.raw or turn.text)

    def _widen(self, request: ChatRequest, turn: Turn) -> bool:
        """Give the model more room, once, when the endpoint's own limit and not the caller's has cut a call off."""
        if self._wider or request.max_tokens is not None:
            return False
        written = turn.usage.completion_tokens if turn.usage else tokens_of(turn.raw or turn.text)
        self._wider = max(WIDER_TOKENS, 4 * written)
        return True

    def _cut_off(self, turn: Turn) -> Iterator[AgentEvent]:
        """End with the words that the model said, and that the limit cut its call off."""
        said = "" if looks_like_call(turn.text) else turn.text.strip()
        note = CUT_OFF.format(tools=", ".join(one.name for one in turn.broken) or "a tool")
        answer = f"{said}\n\n{note}" if said else note
        yield AnswerText(f"\n\n{note}" if turn.streamed else answer, self._budget.rounds)
        yield self._finished("cut_off", answer, "length")

    def _answer(self, turn: Turn, reason: EndReason, answer: str) -> Iterator[AgentEvent]:
        """Give a turn as the answer: what of it was not streamed yet, and what stood beside it."""
        rest = self._next_text(turn) if turn.text else AnswerText(answer, self._budget.rounds)
        if rest.text:
            yield rest
        if turn.refusal:
            yield AnswerBeside(Refusal(turn.refusal))
        for extra in turn.beside:
            yield AnswerBeside(extra)
        yield self._finished(reason, answer or turn.refusal, turn.end)

    async def _act(self, turn: Turn, writer: Writer) -> AsyncGenerator[AgentEvent, None]:
        """Judge the turn's calls, run those that may, and tell the planner what came of them."""
        number = self._budget.rounds
        outcomes: dict[str, Outcome] = {}
        to_run: list[ToolCall] = []
        mended: set[str] = set()
        for call in turn.calls:
            verdict = self._planner.judge(call)
            if call.name in self.client_tools:
                outcomes[call.id] = refused(call, "Make this call again, now that the other results are there.")
            elif verdict.refusal:
                outcomes[call.id] = refused(verdict.call, verdict.refusal)
            else:
                to_run.append(verdict.call)
                mended |= {call.id} if _is_mended(call, verdict.call) else set()
                yield CallStarted(number, verdict.call, writer, call.id in mended)
        self._has_said = self._has_said or bool(turn.streamed)
        for outcome in await self._executor.run(to_run):
            outcomes[outcome.call.id] = outcome
        ordered = [outcomes[call.id] for call in turn.calls] + [unreadable(broken) for broken in turn.broken]
        self._ran += [outcome.call.name for outcome in ordered if outcome.ran]
        for outcome in ordered:
            one, is_mended = outcome.call, outcome.call.id in mended
            yield CallFinished(number, one, outcome.result, outcome.seconds, outcome.ran, writer, is_mended)
        self._outcomes += ordered
        if not isinstance(self._planner, OrdinaryPlanner) and any(not isinstance(one.content, str) for one in ordered):
            self._notes[NOT_SHOWN] = None
        await self._planner.record(turn.said, ordered)
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
        attempt = 0
        # What the model thought last, where it wrote nothing and no tool gave anything.
        thought = "" if self._planner.has_results else self._last_thought
        while reason != "model_failed":
            attempt += 1
            request = self._planner.last_request(attempt)
            if request is None:
                break
            turn = Turn()
            self._budget.rounds += 1
            yield RoundStarted(self._budget.rounds, final=True)
            try:
                async for event in self._ask(replace(request, tools=()), turn):
                    yield event
            except ModelError as error:
                if not self._may_end_without_model:
                    raise
                self.note, reason = str(error), "model_failed"
                break
            answer = self._planner.judge_answer(turn.text)
            if answer or turn.refusal:
                if not turn.streamed:
                    turn.text = answer
                for event in self._answer(turn, reason, answer):
                    yield event
                return
            thought = turn.reasoning if not turn.text.strip() else thought
        # A model that put all its words into its thoughts has answered there.
        answer = thought.strip() or self._planner.fallback_answer()
        if reason == "model_failed" and not self._planner.has_words:
            answer = f"{MODEL_FAILED.format(fault=self.note)}\n\n{answer}"
        yield AnswerText(answer, self._budget.rounds)
        yield self._finished(reason, answer)

    @property
    def _may_end_without_model(self) -> bool:
        """Whether what there is may stand for an answer when the model fails: by setting, and if it is any."""
        found = any(one.ran and not one.failed and one.shown.strip() for one in self._outcomes)
        return (found or self._planner.has_words) and not self._budget.limits.fails_with_model

    def _finished(self, reason: EndReason, answer: str, finish: str = "stop") -> RunFinished:
        for one in self._notes:
            logger.info("run of %s: %s", self._backend.profile.family, one)
        note = "; ".join(filter(None, (self.note, *self._notes)))
        return RunFinished(reason, answer, self._budget.rounds, self._usage, tuple(self._ran), note, finish)
