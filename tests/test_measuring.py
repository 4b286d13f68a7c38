"""Issue 14, 9: a probe measures whole runs with and without the help for small models, and the better way is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from naru.measuring import QUESTIONS, WITH, WITHOUT, is_better, measure
from naru.messages import ToolDefinition
from naru.models.known.knowledge import Findings, Knowledge
from naru.models.probe import Check, Report
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from tests.models.fake_endpoint import Answering, Reply, serve
from tests.models.test_probe import able, called, said

CALLS = {
    "weather in Seoul right now": ("city_weather", {"city": "Seoul"}, "13 degrees"),
    "PK-20418": ("find_parcel", {"parcel": "PK-20418"}, "On December 19."),
    "부산": ("city_weather", {"city": "부산"}, "13도입니다."),
    "estante 7": ("shelf", {"number": 7}, "Quedan 34 piezas."),
}
OWN = [ToolDefinition(f"crm__thing_{number}", "Something of the firm's.", server="crm") for number in range(12)]


def practising(can_call: Callable[[Sequence[str]], bool], call: str = "") -> Answering:
    """A model that does the practice questions right when `can_call` says so of the tools that it is shown."""

    def answer(body: dict[str, Any]) -> Reply:
        text = json.dumps(body["messages"], ensure_ascii=False)
        offered = [tool["function"]["name"] for tool in body.get("tools", ())]
        found = next((one for words, one in CALLS.items() if words in text), None)
        if found is None or not any(name.endswith(("city_weather", "find_parcel", "shelf")) for name in offered):
            answered = found is not None and any(fact in text for fact in ("13 deg", "2026-12-19", "pieces"))
            return said(found[2]) if found and answered else able(body)
        if any(turn["role"] == "tool" for turn in body["messages"]):
            return said(found[2])
        if not can_call(offered):
            return said("I do not know.")
        wanted = call or found[0]
        return called((next(name for name in offered if name.endswith(wanted)), found[1]))

    return answer


async def report_of(answers: Answering, model: str = "m", own: Sequence[ToolDefinition] = ()) -> Report:
    async with serve(answers) as fake:
        knowledge = Knowledge(default_model=model)
        backend = OpenAIBackend(Endpoint.of(fake.base_url), knowledge, model=model)
        try:
            steps = [step async for step in measure(backend, knowledge, model, own)]
        finally:
            await backend.close()
    report = steps[-1]
    assert isinstance(report, Report)
    assert report.checks == steps[:-1]
    return report


def passed(report: Report) -> tuple[int | None, int | None]:
    without, helped = report.check(WITHOUT), report.check(WITH)
    return without.passed if without else None, helped.passed if helped else None


async def test_a_model_that_answers_by_itself_is_left_alone_whatever_its_name_says() -> None:
    report = await report_of(practising(lambda offered: True), "qwen2:0.5b")
    assert passed(report) == (len(QUESTIONS), None)
    assert not report.profile.small


async def test_a_model_that_chooses_from_few_tools_only_is_helped_among_the_persons_own() -> None:
    report = await report_of(practising(lambda offered: len(offered) < 5), "m", OWN)
    without, helped = passed(report)
    assert without is not None
    assert helped is not None
    assert helped > without
    assert report.profile.small
    check = report.check(WITHOUT)
    assert check is not None
    assert check.note.startswith("among 12 own tools, it missed: What is the weather in Seoul")


async def test_a_call_of_the_persons_own_tool_is_wrong_and_runs_nothing() -> None:
    report = await report_of(practising(lambda offered: True, call="crm__thing_3"), "m", OWN)
    assert passed(report)[0] == 1, "the talk alone"


@pytest.mark.parametrize(
    ("without", "helped", "known", "is_small"),
    [(3, 4, False, True), (4, 3, True, False), (3, 3, True, True), (3, 3, False, False), (5, None, True, False)],
)
def test_where_both_ways_do_alike_what_is_known_of_the_model_stands(
    without: int, helped: int | None, known: bool, is_small: bool
) -> None:
    found = [Check(name, one, 5, 0.0) for name, one in ((WITHOUT, without), (WITH, helped)) if one is not None]
    assert is_better(found, otherwise=known) is is_small


async def test_what_was_found_is_gone_by() -> None:
    findings = Findings()
    report = await report_of(practising(lambda offered: True), "qwen2:0.5b")
    findings.keep("here", "qwen2:0.5b", report.profile)
    assert not Knowledge(default_model="qwen2:0.5b", endpoint="here", findings=findings).of("").profile.small
