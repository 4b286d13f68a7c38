"""The probe against endpoints of known abilities: what it finds is what they can do (N4)."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.models.fake_endpoint import Answering, Reply, delta, json_reply, serve, sse

from naru.models.known.knowledge import Knowledge
from naru.models.probe import TASKS, Report, probe
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend

CALLS = {
    "weather in Seoul right": ("get_weather", {"city": "Seoul"}),
    "add 17 and 25": ("add_numbers", {"first": 17, "second": 25}),
    "부산": ("get_weather", {"city": "부산"}),
    "titled Ferry": ("save_note", {"title": "Ferry", "priority": "high"}),
}


def said(text: str) -> Reply:
    return Reply(sse(delta(content=text), delta("stop"), {"choices": [], "usage": {"completion_tokens": 9}}))


def called(*calls: tuple[str, dict[str, Any]]) -> Reply:
    pieces = [
        {"index": at, "id": f"c{at}", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    return Reply(sse(delta(tool_calls=pieces), delta("tool_calls")))


def able(body: dict[str, Any], *, native: bool = True, guided: bool = False, prompted: bool = True) -> Reply:
    """A model that does everything right, as far as its endpoint lets it."""
    text = " ".join(str(turn.get("content")) for turn in body["messages"])
    if "tools" in body and not native:
        return json_reply({"error": {"message": "this model does not support tools"}}, 400)
    if ("grammar" in body or "response_format" in body) and not guided:
        return json_reply({"error": {"message": "Unsupported parameter: 'response_format'"}}, 400)
    if "FERRY" in text:
        return said("FERRY")
    if "banana" in text:
        return said('{"colour": "violet"}' if "response_format" in body else "violet ferry")
    if "13 degrees" in text:
        return said("It is 13 degrees in Seoul.")
    if "Ask for both at once" in text and "tools" in body:
        return called(("get_weather", {"city": "Seoul"}), ("get_weather", {"city": "Busan"}))
    for words, (name, arguments) in CALLS.items():
        if words in text:
            if "tools" in body:
                return called((name, arguments))
            if not prompted:
                return said("I cannot do that.")
            return said(f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>")
    return said("Hello.")


async def report_of(answers: Answering) -> Report:
    async with serve(answers) as fake:
        knowledge = Knowledge(default_model="m")
        backend = OpenAIBackend(Endpoint.of(fake.base_url), knowledge, model="m")
        try:
            steps = [step async for step in probe(backend, knowledge, "m")]
        finally:
            await backend.close()
    report = steps[-1]
    assert isinstance(report, Report)
    assert report.checks == steps[:-1]
    return report


def passed(report: Report, name: str) -> int:
    check = report.check(name)
    assert check is not None, [one.name for one in report.checks]
    return check.passed


async def test_an_able_model_is_left_alone() -> None:
    report = await report_of(able)
    assert passed(report, "calls, native") == len(TASKS)
    assert report.profile.strategy == "native"
    assert (report.profile.small, report.profile.parallel_calls, report.profile.tool_budget) == (False, True, 0)
    assert report.profile.guided == ""


async def test_an_endpoint_without_tools_is_prompted() -> None:
    report = await report_of(lambda body: able(body, native=False))
    assert passed(report, "calls, native") == 0
    assert passed(report, "calls, prompted") == len(TASKS)
    assert report.profile.strategy == "prompted"
    assert not report.profile.native_tools


async def test_a_model_that_cannot_call_but_can_be_guided_is_guided() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "grammar" in body and re.search("weather in Seoul right|add 17|부산|titled", str(body["messages"])):
            return able({key: value for key, value in body.items() if key != "grammar"})
        return able(body, guided=True, prompted=False) if "tools" not in body else said("I cannot do that.")

    report = await report_of(answer)
    assert report.profile.guided == "grammar"
    assert report.profile.strategy == "guided"


async def test_a_model_that_repeats_its_call_after_the_result_gets_help() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "13 degrees" in str(body["messages"]):
            return called(("get_weather", {"city": "Seoul"}))
        return able(body)

    report = await report_of(answer)
    assert passed(report, "answers from a result") == 0
    assert report.profile.small


async def test_what_an_endpoint_does_with_thoughts_and_pictures_is_measured() -> None:  # issue 17, lines 1 and 2
    def answer(body: dict[str, Any]) -> Reply:
        turns = body["messages"]
        if any(turn.get("tool_calls") and "reasoning_content" not in turn for turn in turns):
            return json_reply({"error": {"message": "The reasoning_content must be passed back to the API."}}, 400)
        if any(isinstance(turn.get("content"), list) and turn["role"] == "user" for turn in turns):
            return json_reply({"error": {"message": "image_url is only supported in tool messages"}}, 400)
        if "image_url" in str(turns):
            return said("It is red.")
        return able(body)

    report = await report_of(answer)
    assert passed(report, "thoughts go back") == passed(report, "sees a result") == 1
    assert (report.profile.reasoning, report.profile.reasoning_needed) == ("reasoning_content", True)
    assert report.profile.images == "tool"


async def test_a_blind_model_is_found_out() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "image_url" in str(body["messages"]):
            return json_reply({"error": {"message": "This model does not support image input."}}, 400)
        return able(body)

    report = await report_of(answer)
    assert passed(report, "sees a result") == 0
    assert report.profile.images == "none"
