"""Issue 17 line 8: results share the room fairly, what is cut can be read on, what is left out is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from naru.agent.context import trimmed
from naru.agent.events import RunFinished
from naru.agent.execute import Executor
from naru.agent.limits import Budget, Limits
from naru.agent.loop import run
from naru.errors import InvalidArgumentsError, ModelError
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition, ToolResult
from naru.models.backend import Backend
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.toolset import CallContext


class Texts:
    """Gives a text of the length that is asked for."""

    async def open(self) -> None: ...

    async def tools(self) -> list[ToolDefinition]:
        schema = {"type": "object", "properties": {"size": {"type": "integer"}, "mark": {"type": "string"}}}
        return [ToolDefinition("t__text", "Give a text.", schema, server="t")]

    async def call(self, name: str, arguments: dict[str, Any], context: CallContext) -> ToolResult:
        if "size" not in arguments:
            raise InvalidArgumentsError("A size is needed.")
        mark = arguments.get("mark", "x")
        return ToolResult.of_text(f"<{mark}>" + mark * (arguments["size"] - 6) + f"</{mark}>"[-3:])

    async def close(self) -> None: ...


async def shares(sizes: list[int], room: int) -> list[int]:
    executor = Executor(Texts(), Budget(Limits(max_result_characters=room)), CallContext())
    calls = [ToolCall(str(place), "t__text", {"size": size, "mark": str(place)}) for place, size in enumerate(sizes)]
    return [len(one.shown) for one in await executor.run(calls)]


async def test_large_results_get_equal_shares_and_small_ones_stay_whole() -> None:
    four = await shares([21_000] * 4, 12_288)
    assert max(four) - min(four) <= 1
    assert min(four) > 1_900
    mixed = await shares([100, 21_000, 300, 21_000], 12_288)
    assert (mixed[0], mixed[2]) == (100, 300)
    assert abs(mixed[1] - mixed[3]) <= 1
    assert mixed[1] > 3_500


async def test_a_round_leaves_room_for_later_ones() -> None:
    executor = Executor(Texts(), Budget(Limits(max_result_characters=12_000)), CallContext())
    shown = []
    for number in range(3):
        (one,) = await executor.run([ToolCall(f"c{number}", "t__text", {"size": 21_000, "mark": str(number)})])
        shown.append(len(one.shown))
    assert shown[0] <= 8_000
    assert shown[1] > 2_000
    assert shown[2] > 800
    assert sum(shown) <= 12_000


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


async def outcome(backend: Backend, request: ChatRequest | None = None, **limits: Any) -> RunFinished:
    asked = request or ChatRequest("m", (Message("user", "go"),))
    events = [event async for event in run(backend, Texts(), asked, limits=Limits(**limits))]
    assert isinstance(events[-1], RunFinished)
    return events[-1]


async def test_what_was_cut_can_be_read_on() -> None:
    read = call("naru__read_result", result="r1", offset=20_990)
    backend = ScriptedBackend([call("t__text", size=21_000), read, "done"], profile=Profile(context_tokens=8192))
    assert (await outcome(backend)).answer == "done"
    first, second, third = backend.requests
    assert [tool.name for tool in first.tools] == ["t__text"]
    assert [tool.name for tool in second.tools] == ["t__text", "naru__read_result"]
    assert "Read on: naru__read_result with result 'r1'" in second.messages[-1].text
    assert third.messages[-1].text.endswith("/x>")


LONG = [Message("user" if turn % 2 == 0 else "assistant", f"turn {turn} " + "word " * 700) for turn in range(20)]


async def test_what_is_left_out_of_a_history_is_told() -> None:
    backend = ScriptedBackend(["done"], profile=Profile(context_tokens=8192))
    end = await outcome(backend, ChatRequest("m", (*LONG, Message("user", "go"))))
    assert len(backend.requests[0].messages) < 21
    assert "Earlier turns of the conversation were left out" in end.note
    assert "8192" in end.note


async def test_nothing_is_left_out_where_the_context_is_not_known() -> None:
    backend = ScriptedBackend(["done"], profile=Profile())
    end = await outcome(backend, ChatRequest("m", (*LONG, Message("user", "go"))))
    assert len(backend.requests[0].messages) == 21
    assert end.note == ""
    assert len(trimmed(LONG, 0)) == len(LONG)


async def test_a_models_failure_is_marked_or_an_error_by_choice() -> None:
    """r2-36, issue line 9."""
    script = [call("t__text", size=30), ModelError("The endpoint is on fire.")]
    end = await outcome(ScriptedBackend(script))
    assert end.reason == "model_failed"
    assert end.answer.startswith("(The model failed before it could answer: The endpoint is on fire.")
    with pytest.raises(ModelError, match="on fire"):
        await outcome(ScriptedBackend(script), fails_with_model=True)


async def test_a_models_failure_with_nothing_found_is_an_error() -> None:
    with pytest.raises(ModelError, match="on fire"):
        await outcome(ScriptedBackend([call("t__text", mark="no size"), ModelError("on fire")]))
