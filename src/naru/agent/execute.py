"""Run the calls of one round: deadlines, budgets, and every failure as an observation (R9, lesson 24)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from naru.agent.limits import Budget
from naru.agent.prompts import REPEATED, cut
from naru.deadlines import Deadline, bound
from naru.errors import NaruError
from naru.messages import BrokenCall, ContentPart, ImagePart, TextPart, ToolCall, ToolResult
from naru.telemetry.tracing import active, content, tool_span
from naru.tools.supervision.patience import patient
from naru.tools.toolset import CallContext, Toolset

logger = logging.getLogger(__name__)
_SHOWN_RAW = 500
_SMALLEST_SHARE = 200
Cut = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call with what came of it; `shown` is what the model gets to read."""

    call: ToolCall
    result: ToolResult
    shown: str
    seconds: float = 0.0
    ran: bool = True

    @property
    def content(self) -> str | tuple[ContentPart, ...]:
        """What the model gets: the text, and pictures and sound beside it."""
        whole = self.result.for_model
        return self.shown if isinstance(whole, str) else (TextPart(self.shown), *whole[1:])

    @property
    def failed(self) -> bool:
        """Tell whether the result is an error."""
        return self.result.is_error


def refused(call: ToolCall, why: str) -> Outcome:
    """Make the observation for a call that did not run."""
    return Outcome(call, ToolResult.of_text(why, is_error=True), why, ran=False)


def unreadable(broken: BrokenCall) -> Outcome:
    """Make the observation for a call whose arguments cannot be read: the model may write it again."""
    raw = broken.raw if len(broken.raw) <= _SHOWN_RAW else f"{broken.raw[:_SHOWN_RAW]}…"
    why = f"This call was not made: {broken.fault}. It said: {raw}\nMake it again with one JSON object of arguments."
    return refused(ToolCall(broken.id, broken.name, {}), why)


class Executor:
    """Runs calls on a toolset within a run's budget."""

    def __init__(self, toolset: Toolset, budget: Budget, context: CallContext, cut: Cut = cut) -> None:
        """Take a toolset and what a run may use; `cut` shortens a text to a number of characters."""
        self._cut = cut
        self._toolset = toolset
        self._budget = budget
        self._context = context
        self._characters_left = budget.limits.max_result_characters
        self._waited = 0.0

    async def run(self, calls: Sequence[ToolCall]) -> list[Outcome]:
        """Run calls side by side, in order of the answer; nothing is repeated by itself."""
        planned: list[Outcome | ToolCall] = []
        running = 0
        for call in calls:
            if self._budget.is_repeat(call):
                planned.append(refused(call, REPEATED))
            elif self._budget.calls >= self._budget.limits.max_calls:
                planned.append(refused(call, "The budget of tool calls for this request is used up."))
            elif running >= self._budget.limits.max_parallel_calls:
                planned.append(refused(call, "Too many calls at once; make the rest in the next turn."))
            else:
                self._budget.count(call)
                running += 1
                planned.append(call)
        self._waited = 0.0
        outcomes = await asyncio.gather(*(self._one(item) for item in planned))
        self._budget.forgive(self._waited)
        return self._fitted(outcomes)

    async def _one(self, item: Outcome | ToolCall) -> Outcome:
        if isinstance(item, Outcome):
            return item
        tracing = active()
        if tracing is None:
            return await self._call(item)
        with tool_span(tracing, item.name, item.id, item.arguments) as span:
            outcome = await self._call(item)
            if outcome.failed:
                span.fail("tool_error")
            span.set({"gen_ai.tool.call.result": content(tracing, outcome.result.text)})
            return outcome

    async def _call(self, item: ToolCall) -> Outcome:
        started = time.monotonic()
        timeout = min(self._budget.limits.tool_timeout_seconds, max(self._budget.seconds_left, 0.001))
        try:
            with bound(timeout) as deadline, self._patient(deadline):
                result = await self._toolset.call(
                    item.name, item.arguments, replace(self._context, timeout_seconds=timeout)
                )
        except NaruError as error:
            result = ToolResult.of_text(str(error), is_error=True)
        except Exception as error:  # noqa: BLE001  # foreign code: it costs neither the run nor the calls beside it
            if isinstance(error, TimeoutError) and deadline.has_passed:
                told = f"{item.name} did not answer within {timeout:.3g} s; it may still have run."
            else:
                logger.warning("calling %s failed", item.name, exc_info=True)
                told = f"{item.name} failed: {type(error).__name__}: {error}".removesuffix(": ")
            result = ToolResult.of_text(told, is_error=True)
        return Outcome(item, result, _observation(item, result), time.monotonic() - started)

    @contextmanager
    def _patient(self, deadline: Deadline) -> Iterator[None]:
        """Let a deadline stand still while a person is asked, and note for how long."""
        with patient(deadline) as patience:
            try:
                yield
            finally:
                self._waited = max(self._waited, patience.waited_seconds)

    def _fitted(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Cut what the model reads so that all results together stay within the run's budget.

        The room is shared fairly: small results stay whole, large ones get the same. A part of it is kept for what
        later rounds will bring.
        """
        sizes = [len(one.shown) for one in outcomes]
        left = max(self._characters_left, 0)
        room = left if sum(sizes) <= left // 2 else left * 2 // 3
        shares = dict(zip(range(len(sizes)), sizes, strict=True))
        for taken, place in enumerate(sorted(shares, key=sizes.__getitem__)):
            shares[place] = min(sizes[place], max(room // (len(sizes) - taken), _SMALLEST_SHARE))
            room -= shares[place]
        fitted = [
            replace(one, shown=self._cut(one.shown, shares[place])) if sizes[place] > shares[place] else one
            for place, one in enumerate(outcomes)
        ]
        self._characters_left -= sum(len(one.shown) for one in fitted)
        return fitted


def _observation(call: ToolCall, result: ToolResult) -> str:
    text = result.text.strip()
    if not text:
        text = "(the tool failed and gave no text)" if result.is_error else "(the tool gave an empty result)"
    images = [part for part in result.content if isinstance(part, ImagePart)]
    if images:
        kinds = ", ".join(f"{image.mime_type}, {len(image.data) * 3 // 4} bytes" for image in images)
        text += f"\n({len(images)} image(s): {kinds})"
    return f"Error: {text}" if result.is_error and not text.lower().startswith("error") else text
