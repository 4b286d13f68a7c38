"""Toolsets round another: each changes one thing, and a call still reaches its tool once."""

from __future__ import annotations

import asyncio

import pytest
from tests.waiting import sleep_as_the_machine

from naru.errors import ConflictError, PolicyError, ToolTimeoutError, UnknownToolError
from naru.gateway.upstreams.own_tools import OwnTools
from naru.messages import ToolResult
from naru.tools.functions.function_tool import FunctionTool
from naru.tools.functions.registry import ToolRegistry, register_tool
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.supervised import SupervisedToolset
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import CallContext, Toolset, definition_of
from naru.tools.wrappers import (
    Approval,
    ApprovedToolset,
    DescribedToolset,
    FilteredToolset,
    LimitedToolset,
    PrefixedToolset,
    RenamedToolset,
)

CALL = CallContext()


def registered() -> list[FunctionTool]:
    registry = ToolRegistry()

    @register_tool(annotations={"readOnlyHint": True}, registry=registry)
    def get_one() -> str:
        return "one"

    @register_tool(registry=registry)
    def set_two(value: str = "가" * 100) -> str:
        """Set it."""
        return value

    @register_tool(registry=registry)
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "late"

    return registry.tools()


def toolset() -> FunctionToolset:
    return FunctionToolset(registered())


async def names(tools) -> list[str]:
    return [tool.name for tool in await tools.tools()]


async def test_a_prefix_is_part_of_the_name():
    prefixed = PrefixedToolset(toolset(), "hr_")
    assert await names(prefixed) == ["hr_get_one", "hr_set_two", "hr_slow"]
    assert (await prefixed.call("hr_get_one", {}, CALL)).text == "one"
    with pytest.raises(UnknownToolError):
        await prefixed.call("get_one", {}, CALL)


async def test_a_filtered_tool_is_neither_listed_nor_called():
    filtered = FilteredToolset.by_name(toolset(), allowed=["get_*", "slow"], denied=["slow"])
    assert await names(filtered) == ["get_one"]
    with pytest.raises(UnknownToolError):
        await filtered.call("set_two", {}, CALL)


async def test_a_renamed_tool_answers_to_its_new_name_alone():
    renamed = RenamedToolset(toolset(), {"get_one": "first", "set_two": "get_one"})
    assert await names(renamed) == ["first", "get_one", "slow"]
    assert (await renamed.call("first", {}, CALL)).text == "one"
    assert (await renamed.call("get_one", {"value": "x"}, CALL)).text == "x"
    with pytest.raises(UnknownToolError, match="called 'get_one' here"):
        await renamed.call("set_two", {}, CALL)
    with pytest.raises(ConflictError):
        RenamedToolset(toolset(), {"get_one": "x", "set_two": "x"})


async def test_a_description_is_replaced():
    described = DescribedToolset(toolset(), {"set_two": "값을 정한다"})
    assert [tool.description for tool in await described.tools()] == ["", "값을 정한다", ""]


async def test_a_limited_call_ends_in_time_and_its_text_is_cut_with_the_notice_counted():
    with pytest.raises(ToolTimeoutError, match=r"within 0\.05 s"):
        await LimitedToolset(toolset(), timeout_seconds=0.05).call("slow", {"seconds": 30}, CALL)
    limited = LimitedToolset(toolset(), timeout_seconds=60, max_characters=60)
    text = (await limited.call("set_two", {}, CALL)).text
    assert len(text.replace("\n[", "[")) <= 60
    assert "[cut: 100 characters, the limit is 60]" in text
    assert (await limited.call("get_one", {}, CALL)).text == "one"


async def test_a_call_is_not_ended_for_the_time_that_the_machine_slept(monkeypatch: pytest.MonkeyPatch):
    async def wakes() -> str:
        await sleep_as_the_machine(monkeypatch, 100)
        return "awake"

    async def approver(tool, arguments, context):
        await sleep_as_the_machine(monkeypatch, 100)
        return Approval(is_allowed=True)

    own = FunctionToolset([wakes])
    assert (await own.call("wakes", {}, CallContext(timeout_seconds=30))).text == "awake"
    assert (await LimitedToolset(own, timeout_seconds=30).call("wakes", {}, CALL)).text == "awake"
    assert (await ApprovedToolset(own, approver, wait_seconds=30).call("wakes", {}, CALL)).text == "awake"


async def test_what_an_output_schema_promises_stays_whole_beside_a_text_that_is_cut():
    """Issue 19, 9: MCP clients refuse a result without the structured content that its tool declares."""
    registry = ToolRegistry()

    @register_tool(registry=registry)
    def stock() -> dict[str, int]:
        return {f"item {number}": number for number in range(100)}

    limited = LimitedToolset(FunctionToolset(registry.tools()), max_characters=60)
    (declared,) = await limited.tools()
    result = await limited.call("stock", {}, CALL)
    assert declared.output_schema is not None
    assert "the limit is 60" in result.text
    assert result.structured == {f"item {number}": number for number in range(100)}


async def test_no_more_calls_run_at_once_than_allowed():
    running = peak = 0

    async def busy() -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.01)
        running -= 1

    limited = LimitedToolset(FunctionToolset([busy]), max_concurrent=2)
    await asyncio.gather(*(limited.call("busy", {}, CALL) for _ in range(10)))
    assert peak == 2


async def test_a_call_that_changes_something_waits_for_its_approval():
    asked: list = []

    async def approver(tool, arguments, context):
        asked.append((tool.name, arguments, context.caller))
        return Approval(arguments["value"] == "good", "only good ones")

    approved = ApprovedToolset(toolset(), approver)
    assert (await approved.call("get_one", {}, CALL)).text == "one"
    assert (await approved.call("set_two", {"value": "good"}, CallContext(caller="ada"))).text == "good"
    with pytest.raises(PolicyError, match="only good ones"):
        await approved.call("set_two", {"value": "bad"}, CALL)
    assert asked == [("set_two", {"value": "good"}, "ada"), ("set_two", {"value": "bad"}, "")]


async def test_without_an_answer_in_time_the_call_is_not_made():
    async def approver(tool, arguments, context):
        await asyncio.Event().wait()

    approved = ApprovedToolset(toolset(), approver, wait_seconds=0.02)
    with pytest.raises(PolicyError, match="nobody answered"):
        await approved.call("set_two", {}, CALL)


async def test_wrappers_compose_and_open_and_close_reach_the_inner_one():
    steps: list[str] = []

    class Inner(FunctionToolset):
        async def open(self) -> None:
            steps.append("open")

        async def close(self) -> None:
            steps.append("close")

        async def call(self, name, arguments, context) -> ToolResult:
            steps.append(name)
            return await super().call(name, arguments, context)

    def get_one() -> str:
        return "one"

    stack = PrefixedToolset(LimitedToolset(FilteredToolset.by_name(Inner([get_one]))), "a_")
    await stack.open()
    await stack.call("a_get_one", {}, CALL)
    await stack.close()
    assert steps == ["open", "get_one", "close"]


async def _yes(*_: object) -> Approval:
    return Approval(is_allowed=True)


async def test_a_call_looks_its_tool_up_by_name_and_lists_none():
    """With a thousand tools a call costs what it does with one, whatever it passes on its way."""
    listed = 0

    class Counting(FunctionToolset):
        async def tools(self):
            nonlocal listed
            listed += 1
            return await super().tools()

    inner: Toolset = Counting(registered())
    inner = SupervisedToolset(LimitedToolset(inner, max_characters=60), "own", Supervision())
    own = OwnTools("own", ApprovedToolset(FilteredToolset.by_name(inner, denied=["slow"]), _yes))
    told = await own.request("tools/call", {"name": "set_two", "arguments": {}})
    assert "the limit is 60" in told["content"][-1]["text"]
    assert listed == 0


async def test_a_tool_found_by_its_name_is_the_one_that_is_listed():
    inner = toolset()
    for wrapped in (
        inner,
        LimitedToolset(inner, max_characters=60),
        FilteredToolset.by_name(inner, denied=["slow"]),
        PrefixedToolset(inner, "hr_"),
        RenamedToolset(inner, {"get_one": "first"}),
        LimitedToolset(DescribedToolset(inner, {"set_two": "Other."})),
    ):
        listed = {tool.name: tool for tool in await wrapped.tools()}
        for name in ("get_one", "set_two", "slow", "first", "hr_slow", "nothing"):
            assert await definition_of(wrapped, name) == listed.get(name)
