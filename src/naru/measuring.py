"""Measures a model and then, on whole runs, whether the help for small models serves it: the better way is kept.

The questions are about practice tools with answers that nobody can guess, asked among the person's own tools. Those are
shown, never run: a call of one is a wrong answer.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from naru.agent.events import RunFinished
from naru.agent.hooks import Hooks, Rank
from naru.agent.loop import run
from naru.errors import ModelError
from naru.messages import ChatRequest, JsonObject, Message, ToolDefinition, ToolResult
from naru.models.backend import Backend
from naru.models.known.knowledge import Knowledge
from naru.models.narrowed import Narrowed
from naru.models.probe import Check, Report, probe
from naru.tools.toolset import CallContext
from naru.weighing import Weighing

WITHOUT, WITH = "answers without help", "answers with help"


def _takes(name: str, description: str, parameter: str, schema: JsonObject) -> ToolDefinition:
    taken = {"type": "object", "properties": {parameter: schema}, "required": [parameter]}
    return ToolDefinition(f"practice__{name}", description, taken, {"readOnlyHint": True}, server="practice")


_TOOLS = {
    "13 degrees, light rain": _takes("city_weather", "Present weather of a city.", "city", {"type": "string"}),
    '{"sent": "2026-11-02", "arrives": "2026-12-19"}': _takes(
        "find_parcel", "When a parcel was sent and arrives.", "parcel", {"type": "string", "description": "PK-00000"}
    ),
    '{"capacity": 60, "pieces_left": 34}': _takes("shelf", "What is left on a shelf.", "number", {"type": "integer"}),
}
"""What each practice tool gives, whatever it is asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what its answer names; none for talk, for which no tool may run."""

    text: str
    fact: str = ""


QUESTIONS = (
    Question("What is the weather in Seoul right now?", "13"),
    Question("When will parcel PK-20418 arrive?", "19"),
    Question("부산 날씨 알려줘", "13"),
    Question("¿Cuántas piezas quedan en el estante 7?", "34"),
    Question("Thank you, that was all!"),
)


class _Practice:
    """The practice tools, with the person's own beside them."""

    def __init__(self, own: Sequence[ToolDefinition]) -> None:
        self._tools = (*_TOOLS.values(), *own)
        self._given = {tool.name: text for text, tool in _TOOLS.items()}

    async def open(self) -> None:
        """Do nothing."""

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return all of them."""
        return self._tools

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Return what a practice tool gives; the person's own do not run."""
        text = self._given.get(name)
        return ToolResult.of_text(text or f"{name} is not run while a model is measured.", is_error=text is None)

    async def close(self) -> None:
        """Do nothing."""


async def measure(
    backend: Backend, knowledge: Knowledge, model: str, own: Sequence[ToolDefinition] = (), rank: Rank | None = None
) -> AsyncGenerator[Check | Report]:
    """Yield each check when it is done, at the end the report with the better way in its profile.

    Raises:
        ModelError: the endpoint does not even answer a plain question.
    """
    report = Report(model)
    async with aclosing(probe(backend, knowledge, model)) as steps:
        async for step in steps:
            if isinstance(step, Check):
                yield step
            else:
                report = step
    knowledge.of(model).profile = report.profile
    found: list[Check] = []
    hooks = Hooks(rank=rank, weigh=Weighing().weigh)
    for is_helped in (False, True):
        if found and found[0].is_passed:  # Nothing is left to be won.
            break
        profile = replace(report.profile, small=is_helped)
        asked = Narrowed(backend, model, lambda profile=profile: profile)  # type: ignore[misc]  # bound to this turn
        found.append(await _asked(asked, WITH if is_helped else WITHOUT, own, hooks))
        report.checks.append(found[-1])
        yield found[-1]
    report.profile = replace(report.profile, small=is_better(found, otherwise=report.profile.small))
    yield report


def is_better(found: Sequence[Check], *, otherwise: bool) -> bool:
    """Tell whether help serves the model better; where both ways do alike, what is known of it stands."""
    without, *helped = [one.passed for one in found]
    if not helped:
        return False
    return helped[0] > without if helped[0] != without else otherwise


async def _asked(backend: Narrowed, name: str, own: Sequence[ToolDefinition], hooks: Hooks) -> Check:
    """Ask all questions one way."""
    started = time.monotonic()
    missed: list[str] = []
    for question in QUESTIONS:
        request = ChatRequest(backend.model, [Message("user", question.text)], temperature=0.0)
        try:
            async with aclosing(run(backend, _Practice(own), request, hooks=hooks)) as events:
                end = [event async for event in events][-1]
        except ModelError as error:
            return Check(name, 0, len(QUESTIONS), time.monotonic() - started, error.message)
        if not (isinstance(end, RunFinished) and _is_right(question, end)):
            missed.append(question.text)
    note, wrong = f"among {len(own)} own tools" if own else "", "; ".join(missed)
    if missed:
        note = f"among {len(own)} own tools, it missed: {wrong}" if own else f"it missed: {wrong}"
    return Check(name, len(QUESTIONS) - len(missed), len(QUESTIONS), time.monotonic() - started, note)


def _is_right(question: Question, end: RunFinished) -> bool:
    if not question.fact:
        return not end.calls and bool(end.answer.strip())
    is_practice = bool(end.calls) and all(name.startswith("practice__") for name in end.calls)
    return is_practice and question.fact in end.answer
