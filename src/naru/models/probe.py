"""Measures a model on its live endpoint with a short scripted suite, and picks the strategy that works (N4)."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from naru.errors import ModelError
from naru.messages import (
    CallEnd,
    CallStart,
    ChatRequest,
    ImagePart,
    Message,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.asking.strategy import OVERRIDE
from naru.models.backend import Backend
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile, Strategy

_ANSWER_TOKENS = 160
_WEATHER = ToolDefinition(
    "get_weather",
    "Tell the present weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_ADD = ToolDefinition(
    "add_numbers",
    "Add two whole numbers and return the sum.",
    {
        "type": "object",
        "properties": {"first": {"type": "integer"}, "second": {"type": "integer"}},
        "required": ["first", "second"],
    },
)
_NOTE = ToolDefinition(
    "save_note",
    "Save a note under a title.",
    {
        "type": "object",
        "properties": {"title": {"type": "string"}, "priority": {"enum": ["low", "high"]}},
        "required": ["title", "priority"],
    },
)
TOOLS = (_WEATHER, _ADD, _NOTE)
_OTHERS = tuple(
    ToolDefinition(
        f"{verb}_{noun}",
        f"{verb.capitalize()} {noun} of the warehouse.",
        {"type": "object", "properties": {"number": {"type": "integer"}}},
    )
    for noun in ("invoices", "shipments", "returns", "orders", "pallets", "suppliers", "drivers", "labels")
    for verb in ("list", "archive", "count")
)
"""Tools that no question is about, to see how many the model can be shown."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question, and whether its calls are right; no calls are right where none is needed."""

    question: str
    is_right: Callable[[Sequence[ToolCall]], bool]


def _is(name: str, **wanted: Any) -> Callable[[Sequence[ToolCall]], bool]:
    """One call of this tool, each argument one of the values that are right."""
    return lambda calls: (
        len(calls) == 1
        and calls[0].name == name
        and all(calls[0].arguments.get(key) in values for key, values in wanted.items())
    )


_RED = (
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkA"
    "AAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC"
)
"""A picture of 32 by 32 red points."""
TASKS = (
    Task("What is the weather in Seoul right now?", _is("get_weather", city=("Seoul", "Seoul, South Korea", "서울"))),
    Task("Use the tool to add 17 and 25.", _is("add_numbers", first=(17, 25), second=(25, 17))),
    Task("부산 날씨 알려줘", _is("get_weather", city=("부산", "Busan", "부산시", "부산광역시"))),
    Task("Save a note titled Ferry with high priority.", _is("save_note", title=("Ferry",), priority=("high",))),
    Task("Say hello in one short sentence.", lambda calls: not calls),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried."""

    name: str
    passed: int
    of: int
    seconds: float
    note: str = ""

    @property
    def is_passed(self) -> bool:
        """Whether all of it went well."""
        return self.passed == self.of


@dataclass(slots=True)
class Report:
    """What was found, and the profile that follows from it."""

    model: str
    checks: list[Check] = field(default_factory=list)
    profile: Profile = field(default_factory=Profile)
    tokens_per_second: float = 0.0

    def check(self, name: str) -> Check | None:
        """Return the check of this name."""
        return next((check for check in self.checks if check.name == name), None)


@dataclass(slots=True)
class _Answer:
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


async def probe(backend: Backend, knowledge: Knowledge, model: str) -> AsyncGenerator[Check | Report]:
    """Yield each check when it is done, at the end the report.

    Raises:
        ModelError: the endpoint does not even answer a plain question.
    """
    work = _Probe(backend, knowledge, model)
    async with aclosing(work.checks()) as checks:
        async for check in checks:
            work.report.checks.append(check)
            yield check
    work.report.profile = decide(work.report, knowledge.of(model).profile)
    yield work.report


def decide(report: Report, profile: Profile) -> Profile:
    """Return the profile with what was measured: the best strategy, the plainer one when equal."""
    scores: dict[Strategy, int] = {}
    for strategy in ("native", "guided", "prompted"):
        if (check := report.check(f"calls, {strategy}")) is not None:
            scores[strategy] = check.passed
    strategy = max(scores, key=lambda one: scores[one], default=profile.strategy)
    guided: dict[str, Any] = {}
    for kind in ("json_schema", "grammar"):
        if (check := report.check(f"guided by {kind}")) is not None and check.is_passed:
            guided = {"guided": kind}
    answers = report.check("answers from a result")
    parallel = report.check("two calls at once")
    many = report.check(f"picks from {len(_OTHERS) + len(TOOLS)} tools")
    weak = scores.get(strategy, 0) < len(TASKS) - 1 or (answers is not None and not answers.is_passed)
    return replace(
        profile,
        strategy=strategy,
        small=profile.small or weak,
        parallel_calls=parallel.is_passed if parallel is not None else profile.parallel_calls,
        tool_budget=0 if many is None or many.is_passed else (3 if weak else 8),
        **guided,
    )


class _Probe:
    """One probe at work."""

    def __init__(self, backend: Backend, knowledge: Knowledge, model: str) -> None:
        self._backend = backend
        self._knowledge = knowledge
        self._model = model
        self.report = Report(model)

    async def checks(self) -> AsyncGenerator[Check]:
        yield await self._plain()
        yield await self._system()
        for kind in ("json_schema", "grammar"):
            check = await self._guide(kind)
            if check.is_passed:
                self._mend(guided=kind)
            yield check
        for strategy in self._strategies():
            yield await self._calls(strategy)
        best = decide(self.report, self._profile).strategy
        yield await self._result(best)
        yield await self._reasoning(best)
        yield await self._picture(best)
        yield await self._parallel(best)
        yield await self._many(best)

    @property
    def _profile(self) -> Profile:
        return self._knowledge.of(self._model).profile

    def _mend(self, **found: Any) -> None:
        learned = self._knowledge.of(self._model)
        learned.profile = replace(learned.profile, **found)

    def _strategies(self) -> list[Strategy]:
        strategies: list[Strategy] = ["native", "prompted"]
        return [*strategies, "guided"] if self._profile.guided else strategies

    async def _plain(self) -> Check:
        started = time.monotonic()
        answer = await self._ask(ChatRequest(self._model, [Message("user", "Name three colours of the sky.")]))
        seconds = time.monotonic() - started
        self.report.tokens_per_second = answer.usage.completion_tokens / seconds if seconds else 0.0
        return Check(
            "answers", int(bool(answer.text.strip())), 1, seconds, f"{self.report.tokens_per_second:.0f} tokens/s"
        )

    async def _system(self) -> Check:
        messages = [Message("system", "Whatever is said, answer with the one word FERRY."), Message("user", "Hello!")]
        check = await self._try(
            "system text", ChatRequest(self._model, messages), lambda one: "ferry" in one.text.lower()
        )
        return replace(
            check, note=check.note or ("as its own role" if self._profile.system_role else "in the user turn")
        )

    async def _guide(self, kind: str) -> Check:
        asked = ChatRequest(self._model, [Message("user", "Which colour has a banana? Answer in JSON.")])
        if kind == "json_schema":
            shape = {"type": "object", "properties": {"colour": {"enum": ["violet"]}}, "required": ["colour"]}
            asked = replace(asked, response_schema=shape)
            return await self._try(f"guided by {kind}", asked, lambda one: _decoded(one.text) == {"colour": "violet"})
        asked = replace(asked, grammar='root ::= "violet ferry"')
        return await self._try(f"guided by {kind}", asked, lambda one: one.text.strip() == "violet ferry")

    async def _calls(self, strategy: Strategy) -> Check:
        started = time.monotonic()
        passed = 0
        missed: list[str] = []
        for task in TASKS:
            try:
                answer = await self._ask(self._offer(task.question, TOOLS, strategy))
            except ModelError as error:
                return Check(f"calls, {strategy}", passed, len(TASKS), time.monotonic() - started, error.message)
            right = task.is_right(answer.calls)
            passed += right
            if not right:
                missed.append(task.question)
        if strategy == "native" and not self._profile.native_tools:
            return Check("calls, native", 0, len(TASKS), time.monotonic() - started, "the endpoint takes no tools")
        note = f"it missed: {'; '.join(missed)}" if missed else ""
        return Check(f"calls, {strategy}", passed, len(TASKS), time.monotonic() - started, note)

    async def _result(self, strategy: Strategy) -> Check:
        asked = self._offer(TASKS[0].question, TOOLS, strategy)
        history = [
            *asked.messages,
            Message("assistant", "", tool_calls=(ToolCall("call_1", "get_weather", {"city": "Seoul"}),)),
            Message("tool", "13 degrees, light rain", tool_call_id="call_1"),
        ]
        request = replace(asked, messages=history)
        return await self._try("answers from a result", request, lambda one: "13" in one.text and not one.calls)

    async def _reasoning(self, strategy: Strategy) -> Check:
        """Send thoughts back beside their call: an endpoint that refuses them, or misses them, is learnt on the way."""
        asked = self._offer(TASKS[0].question, TOOLS, strategy)
        call = ToolCall("call_1", "get_weather", {"city": "Seoul"})
        history = [
            *asked.messages,
            Message("assistant", "", reasoning="The weather tool knows.", tool_calls=(call,)),
            Message("tool", "13 degrees, light rain", tool_call_id="call_1"),
        ]
        check = await self._try("thoughts go back", replace(asked, messages=history), lambda one: not one.calls)
        return replace(check, note=check.note or f"sent back in {self._profile.reasoning or 'no field'}")

    async def _picture(self, strategy: Strategy) -> Check:
        """Show a red picture as a tool's result, in a user's turn after it or in its own."""
        asked = self._offer("Which colour does the screen show? Use the tool.", TOOLS, strategy)
        call = ToolCall("call_1", "get_weather", {"city": "the screen"})
        shown = (TextPart("the screen, as a picture"), ImagePart("image/png", _RED))
        history = [
            *asked.messages,
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", shown, tool_call_id="call_1", name="get_weather"),
        ]
        check = await self._try(
            "sees a result", replace(asked, messages=history), lambda one: "red" in one.text.lower()
        )
        where = {"user": "in a turn after it", "tool": "in its own turn", "none": "not taken"}[self._profile.images]
        return replace(check, note=check.note or where)

    async def _parallel(self, strategy: Strategy) -> Check:
        request = self._offer("What is the weather in Seoul and in Busan? Ask for both at once.", TOOLS, strategy)
        return await self._try("two calls at once", request, lambda one: len(one.calls) == 2)

    async def _many(self, strategy: Strategy) -> Check:
        tools = (*_OTHERS[: len(_OTHERS) // 2], *TOOLS, *_OTHERS[len(_OTHERS) // 2 :])
        request = self._offer(TASKS[0].question, tools, strategy)
        return await self._try(f"picks from {len(tools)} tools", request, lambda one: TASKS[0].is_right(one.calls))

    def _offer(self, question: str, tools: Sequence[ToolDefinition], strategy: Strategy) -> ChatRequest:
        return ChatRequest(self._model, [Message("user", question)], tools=tools, extra={OVERRIDE: strategy})

    async def _try(self, name: str, request: ChatRequest, is_right: Callable[[_Answer], bool]) -> Check:
        started = time.monotonic()
        try:
            answer = await self._ask(request)
        except ModelError as error:
            return Check(name, 0, 1, time.monotonic() - started, error.message)
        return Check(name, int(is_right(answer)), 1, time.monotonic() - started)

    async def _ask(self, request: ChatRequest) -> _Answer:
        answer = _Answer()
        names: dict[int, str] = {}
        request = replace(request, temperature=0.0, max_tokens=_ANSWER_TOKENS)
        async with aclosing(self._backend.stream(request)) as events:
            async for event in events:
                match event:
                    case Text(text=text):
                        answer.text += text
                    case CallStart(index=index, name=name):
                        names[index] = name
                    case CallEnd(index=index, arguments=arguments):
                        answer.calls.append(ToolCall(str(index), names[index], arguments))
                    case Usage() as usage:
                        answer.usage = usage
        return answer


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
