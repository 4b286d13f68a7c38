"""Area e of the public reports: what agent loops did to people, each by its id."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from naru.agent.events import RunFinished
from naru.agent.limits import Limits
from naru.agent.loop import run
from naru.messages import ChatRequest, ImagePart, Message, ToolResult
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.combined import CombinedToolset
from naru.tools.functions.toolset import FunctionToolset


def call(**arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': 'my__f', 'arguments': arguments})}\n</tool_call>"


async def outcome(
    function: Callable, script, *, question: str = "Go.", **options
) -> tuple[RunFinished, ScriptedBackend]:
    function.__name__ = "f"
    backend = ScriptedBackend(script, profile=options.pop("profile", None))
    tools = CombinedToolset({"my": FunctionToolset([function])})
    request = ChatRequest("scripted", (Message("user", question),))
    events = [event async for event in run(backend, tools, request, **options)]
    assert isinstance(events[-1], RunFinished)
    return events[-1], backend


def observation(backend: ScriptedBackend, turn: int) -> str:
    return backend.requests[turn].messages[-1].text


async def test_e07_a_huge_result_is_cut_and_the_loop_answers() -> None:
    def f() -> str:
        return "head" + "x" * 45_000 + "tail"

    end, backend = await outcome(f, [call(), "It is long."], profile=Profile(context_tokens=4000))
    shown = observation(backend, 1)
    assert end.answer == "It is long."
    assert len(shown) < 8000
    assert shown.startswith("head")
    assert shown.endswith("tail")
    assert "characters left out" in shown


async def test_e10_one_call_over_and_over_runs_at_most_three_times_whatever_its_spelling() -> None:
    ran = []

    def f(q: int, r: int = 0) -> str:
        ran.append(q)
        return "empty"

    spellings = iter([call(q=1, r=2), call(r=2, q=1), call(q=1, r=2), "It is empty.", "It is empty."])
    end, _ = await outcome(f, lambda request: next(spellings) if request.tools else "It is empty.")
    assert len(ran) <= 3
    assert (end.reason, end.answer) == ("repeated_call", "It is empty.")


async def test_e12_a_failing_call_is_not_repeated_for_ever_and_the_answer_tells_the_failure() -> None:
    ran = []

    def f(p: str) -> str:
        ran.append(p)
        raise ValueError("file too large")

    end, _ = await outcome(f, lambda request: call(p="big"))
    assert len(ran) <= 3
    assert "file too large" in end.answer


async def test_e14_at_the_round_limit_the_answer_uses_what_was_found() -> None:
    def f(n: int) -> str:
        return "Paris has 2.1M people"

    numbers = iter(range(9))
    end, _ = await outcome(f, lambda request: call(n=next(numbers)), limits=Limits(max_rounds=2))
    assert end.reason == "max_iterations"
    assert "2.1M" in end.answer


async def test_e17_bad_arguments_are_told_by_field_and_the_next_call_succeeds() -> None:
    ran = []

    def f(n: int) -> str:
        ran.append(n)
        return "three"

    end, backend = await outcome(f, [call(n="abc"), call(n=3), "Three."])
    assert ran == [3]
    assert "n" in observation(backend, 1)
    assert "int" in observation(backend, 1)
    assert end.answer == "Three."


async def test_e18_failed_results_are_observations_and_an_empty_one_gets_a_placeholder() -> None:
    results = iter([ToolResult.of_text("no such table", is_error=True), ToolResult(is_error=True)])

    def f(n: int) -> ToolResult:
        return next(results)

    _, backend = await outcome(f, [call(n=1), call(n=2), "Neither worked."])
    assert "no such table" in observation(backend, 1)
    assert "failed" in observation(backend, 2)


async def test_e20_an_image_is_named_with_its_kind_and_size() -> None:
    def f() -> ToolResult:
        return ToolResult((ImagePart("image/png", "iVBORw0KGgo="),))

    _, backend = await outcome(f, [call(), "A picture."])
    assert "1 image(s): image/png, 9 bytes" in observation(backend, 1)


async def test_e27_the_second_prompt_has_the_call_and_its_result() -> None:
    ran = []

    def f() -> str:
        ran.append(1)
        return "RESULT-7"

    def model(request: ChatRequest) -> str:
        known = any("RESULT-7" in turn.text for turn in request.messages)
        return "Seven." if known else call()

    end, backend = await outcome(f, model)
    assert (len(ran), len(backend.requests), end.answer) == (1, 2, "Seven.")
    assert [turn.role for turn in backend.requests[1].messages] == ["user", "assistant", "tool"]
    assert backend.requests[1].messages[1].tool_calls[0].name == "my__f"


class OneServerDown(CombinedToolset):
    """No tool, since the only server refused to list them."""

    def problems(self) -> list[str]:
        return ["only: 401 Unauthorized at tools/list"]


@pytest.mark.parametrize("profile", [Profile(), Profile(small=True)], ids=["large", "small"])
async def test_e19_tools_that_could_not_be_listed_are_told_to_model_and_caller(profile: Profile) -> None:
    backend = ScriptedBackend(["I cannot look that up now."], profile=profile, repeat_last=True)
    request = ChatRequest("scripted", (Message("user", "Use the tool X."),))
    events = [event async for event in run(backend, OneServerDown({}), request)]
    end = events[-1]
    assert isinstance(end, RunFinished)
    assert "401 Unauthorized" in end.note
    assert any("401 Unauthorized" in turn.text for turn in backend.requests[-1].messages)


async def test_e19_a_small_model_is_told_of_the_missing_server_beside_the_tools_of_others() -> None:
    class OneOfTwo(OneServerDown):
        pass

    def f(order: str) -> str:
        """Tell about an order."""
        return "paid"

    tools = OneOfTwo({"my": FunctionToolset([f])})
    backend = ScriptedBackend(["I cannot see the weather now."], profile=Profile(small=True), repeat_last=True)
    request = ChatRequest("scripted", (Message("user", "Will it rain in the order of things?"),))
    events = [event async for event in run(backend, tools, request)]
    assert isinstance(events[-1], RunFinished)
    assert "401" in events[-1].note
    assert "401" in backend.requests[-1].messages[0].text
